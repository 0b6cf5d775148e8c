"""What is fast, against whom, in one run: `python -m benchmarks [maps] [losses]`.

Each measurement is a process of its own. Exit status 1 where a ratio that is promised is missed.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

# Nothing heavy is imported here: a child's peak memory may begin at its parent's.

LENGTHS = (512, 1024, 2048, 4096)
REPEATS = 2
MOST_MEMORY, MOST_TIME = 1 / 5, 1.0  # of dense, at the largest length
LOSSES_LENGTH, LOSSES_BYTES = 8192, 10**9
LOSSES_TIME = {"nope": 1.5, "sinusoidal": 1.5, "rope": 1.5, "alibi": 2.5, "t5": 2.5}  # of plain


def measured(module: str, *arguments: object) -> dict[str, float]:
    """The fastest of some fresh processes."""
    command = [sys.executable, "-m", f"benchmarks.{module}", *(str(a) for a in arguments)]
    runs = []
    for _ in range(REPEATS):
        done = subprocess.run(
            command, cwd=Path(__file__).parents[1], stdout=subprocess.PIPE, check=True
        )
        runs.append(json.loads(done.stdout))
    return min(runs, key=lambda run: float(run["seconds"]))


def maps(quiet: bool) -> dict[str, Any]:
    """Maps and curves of all heads: our blocked core beside materialised attention."""
    rows = []
    if not quiet:
        print("512-pixel maps and decay curves of all layers and heads, shipped size, float32")
        print("tokens   ours s  dense s   ratio   ours MB  dense MB   ratio")
    for length in LENGTHS:
        a, b = measured("maps", "ours", length), measured("maps", "dense", length)
        row: dict[str, Any] = {"length": length, "ours": a, "dense": b}
        row["time_ratio"] = a["seconds"] / b["seconds"]
        row["memory_ratio"] = a["peak_bytes"] / b["peak_bytes"]
        rows.append(row)
        if not quiet:
            print(
                f"{length:6,} {a['seconds']:8.2f} {b['seconds']:8.2f} {row['time_ratio']:7.2f}"
                f" {a['peak_bytes'] / 1e6:9,.0f} {b['peak_bytes'] / 1e6:9,.0f}"
                f" {row['memory_ratio']:7.2f}",
                flush=True,
            )
    kept = rows[-1]["memory_ratio"] <= MOST_MEMORY and rows[-1]["time_ratio"] <= MOST_TIME
    if not quiet:
        print(
            f"At {LENGTHS[-1]:,} tokens at most {MOST_MEMORY:.2f} of dense's memory and "
            f"{MOST_TIME:.2f} of its time: {'kept' if kept else 'MISSED'}."
        )
    return {"rows": rows, "kept": kept}


def losses(quiet: bool) -> dict[str, Any]:
    """Losses of a long text: each encoding beside the same model without it."""
    rows = []
    if not quiet:
        print(f"losses of {LOSSES_LENGTH:,} tokens beside plain causal attention without a bias")
        print("encoding     ours s  plain s  ratio  at most  ours MB")
    for encoding, most in LOSSES_TIME.items():
        a, b = (measured("losses", way, encoding, LOSSES_LENGTH) for way in ("ours", "plain"))
        ratio = a["seconds"] / b["seconds"]
        kept = ratio <= most and a["peak_bytes"] < LOSSES_BYTES
        rows.append(
            {"encoding": encoding, "ours": a, "plain": b, "time_ratio": ratio, "kept": kept}
        )
        if not quiet:
            print(
                f"{encoding:10} {a['seconds']:8.2f} {b['seconds']:8.2f} {ratio:6.2f} {most:8.1f}"
                f" {a['peak_bytes'] / 1e6:8,.0f}{'' if kept else '  MISSED'}",
                flush=True,
            )
    return {"rows": rows, "kept": all(row["kept"] for row in rows)}


def main() -> int:
    """Prints the tables (or JSON); exit status 1 where a promised ratio is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON document instead of tables")
    every = {"maps": maps, "losses": losses}
    parser.add_argument("which", nargs="*", choices=[[], *every], help="default: all")
    asked = parser.parse_args()
    found = {name: act(asked.json) for name, act in every.items() if name in (asked.which or every)}
    if asked.json:
        print(json.dumps(found))
    return 0 if all(part["kept"] for part in found.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
