"""What is fast, against whom, on this machine, in one run: `python -m benchmarks`.

Writes benchmarks.json, .md and .svg into docs/ (or --out), and prints the table of what is
promised. Exit status 1 where a ratio or a size that is promised is missed.
"""

from __future__ import annotations

import argparse
import datetime
import json
import sys
import tomllib
from pathlib import Path

from benchmarks import machine, reach, report, steps
from benchmarks.processes import ROOT, Row

# Nothing heavy is imported before the last measurement: see `processes`.


def main() -> int:
    """Runs every step; with --quick a small version, which decides and (without --out) writes
    nothing."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="up to 1,024 tokens, once each")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="where the three files go")
    parser.add_argument("--json", action="store_true", help="print the JSON in place of the table")
    asked = parser.parse_args()
    out = asked.out or (None if asked.quick else ROOT / "docs")
    if out is not None and not out.is_dir():
        parser.error(f"expected --out to name a folder that exists; got {out}")
    results = run(asked.quick)
    if out is not None:
        write(results, out)
    print(json.dumps(results) if asked.json else "\n".join(report.reach_table(results["reach"])))
    return 0 if asked.quick or succeeded(results) else 1


def run(quick: bool) -> Row:
    """All that is measured, as one JSON document."""
    plan = steps.QUICK if quick else steps.FULL
    results: Row = {
        "command": "make bench" + " ARGS=--quick" * quick,
        "date": datetime.date.today().isoformat(),
        "quick": quick,
        "machine": machine.describe(),
        "versions": machine.versions(),
        "model": _model(),
        "limits": steps.limits(),
        "maps": steps.maps(plan),
        "windows": steps.windows(plan),
        "pages": steps.pages(plan),
        "homes": steps.homes(plan),
        "gpu": steps.gpu(plan),
        "losses": steps.losses(plan),
    }
    return results | {"reach": reach.rows(results)}


def succeeded(results: Row) -> bool:
    """Whether every ratio and size that was measured is as promised."""
    return reach.kept(results["reach"]) and all(row["met"] for row in results["losses"])


def write(results: Row, folder: Path) -> None:
    """benchmarks.json, and the page and the figure that are made from it."""
    from benchmarks import figure

    text = json.dumps(results, indent=1) + "\n"
    (folder / "benchmarks.json").write_text(text, encoding="utf-8")
    (folder / "benchmarks.md").write_text(report.markdown(results), encoding="utf-8")
    figure.draw(results, folder / "benchmarks.svg")


def _model() -> Row:
    """The sizes of the shipped checkpoints, read without torch."""
    recipe = tomllib.loads((ROOT / "checkpoints/recipe.toml").read_text("utf-8"))["shipped"]
    return {name: recipe[name] for name in ("layers", "heads", "width", "mlp")}


if __name__ == "__main__":
    sys.exit(main())
