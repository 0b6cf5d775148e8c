"""The figure: time and peak memory against N, ours and the peers, on logarithmic axes."""

from __future__ import annotations

from pathlib import Path

import matplotlib
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from benchmarks.processes import Row
from benchmarks.report import WAYS

LOOKS = {  # Okabe and Ito's colours, and a marker each: told apart without colour too
    "ours": ("#0072B2", "o"),
    "weights": ("#D55E00", "s"),
    "reduced": ("#CC79A7", "^"),
    "patterns": ("#009E73", "D"),
}
STYLE = {"svg.fonttype": "none", "svg.hashsalt": "benchmarks", "font.size": 9}
PANELS = (("seconds", "seconds", 1.0), ("peak_bytes", "GB at the peak, the whole process", 1e9))


def draw(results: Row, path: Path) -> None:
    """Writes the figure to `path`, as SVG; the same results give the same file."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(7.5, 3.4), layout="constrained", facecolor="white")
        for axes, (key, label, unit) in zip(figure.subplots(1, 2), PANELS, strict=True):
            lengths = sorted({row["length"] for row in results["maps"]})
            for way, (colour, marker) in LOOKS.items():
                there = [r for r in results["maps"] if r["way"] == way and key in r]
                if not there:
                    continue
                axes.plot(
                    [r["length"] for r in there],
                    [r[key] / unit for r in there],
                    color=colour,
                    marker=marker,
                    markersize=4,
                    linewidth=1.4,
                    label=WAYS[way],
                )
            axes.set_xscale("log", base=2)
            axes.set_yscale("log")
            axes.set_xticks(lengths, [f"{n:,}" for n in lengths], rotation=45, ha="right")
            axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:g}"))
            axes.set_xlabel("tokens, N")
            axes.set_ylabel(label)
            axes.grid(which="major", color="#dddddd", linewidth=0.6)
            axes.spines[["top", "right"]].set_visible(False)
        figure.legend(*axes.get_legend_handles_labels(), loc="outside upper center", ncols=2)
        figure.savefig(path, format="svg", metadata={"Date": None})
