"""The results in Markdown, from the JSON alone: `docs/benchmarks.md`."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks import reach, report_ours
from benchmarks.markdown import cell, size, table
from benchmarks.processes import Row
from benchmarks.steps import LARGEST

WAYS = {
    "ours": "ours: maps and curves",
    "weights": "transformers, eager: weights returned",
    "reduced": "transformers, eager: our maps and curves made of them",
    "patterns": "TransformerLens: patterns cached",
}
TOOLS = {
    "head_view": "BertViz `head_view`",
    "model_view": "BertViz `model_view`",
    "attention_heads": "CircuitsVis `attention_heads`",
}


def markdown(results: Row) -> str:
    """The whole page."""
    sections = (
        _opening,
        _reach,
        _peers,
        _pages,
        report_ours.limits,
        report_ours.growth,
        report_ours.windows,
        report_ours.home,
        report_ours.losses,
        _method,
    )
    return "\n".join(line for section in sections for line in section(results))


def reach_table(rows: Sequence[Row]) -> list[str]:
    """The promises, with what was measured."""
    words = {True: "met", False: "**not met**", None: "not measured"}
    return table(
        ("what", "promised", "measured", "", "what bounds it"),
        ([r["what"], r["target"], r["measured"], words[r["met"]], r["bound"]] for r in rows),
    )


def _opening(results: Row) -> list[str]:
    m, model = results["machine"], results["model"]
    pages = {r["tool"]: r["version"] for r in results["pages"] if "version" in r}
    versions = results["versions"] | {TOOLS[tool].split()[0]: v for tool, v in pages.items()}
    return [
        "# What is fast, against whom",
        "",
        f"Measured on {results['date']} by `{results['command']}` on {m['cores']} cores of "
        f"{m['processor']}, {m['memory_bytes'] / 2**30:.0f} GiB of memory, {m['system']}; "
        f"{', '.join(f'{name} {version}' for name, version in versions.items())}. Made from "
        "[benchmarks.json](benchmarks.json): don't edit.",
        "",
        f"The model is the shipped RoPE checkpoint ({model['layers']} layers, {model['heads']} "
        f"heads, width {model['width']}, float32), the text Python's manual; every way gets the "
        "same weights and the same tokens. *Maps and curves* are all layers' and heads' 512 x 512 "
        "maps of mean probability, and their decay curves with row fixed effects.",
        "",
        "![Time and peak memory against the number of tokens, ours and the peers](benchmarks.svg)",
        "",
    ]


def _reach(results: Row) -> list[str]:
    return ["## What is promised", "", *reach_table(results["reach"])]


def _peers(results: Row) -> list[str]:
    lengths = sorted({r["length"] for r in results["maps"] if r["way"] == "weights"})

    def measured(key: str) -> list[str]:
        rows = (
            [name, *(cell(reach.of(results, way, n), key) for n in lengths)]
            for way, name in WAYS.items()
        )
        return table(("N", *(f"{n:,}" for n in lengths)), rows)

    return [
        "## Against the peers",
        "",
        "Time:",
        "",
        *measured("seconds"),
        "Memory of the whole process at its peak:",
        "",
        *measured("peak_bytes"),
    ]


def _pages(results: Row) -> list[str]:
    lengths = sorted({r["length"] for r in results["pages"]})
    rows = {(r["tool"], r["length"]): r for r in results["pages"]}
    return [
        "## Pages of other tools",
        "",
        "All layers and heads in one page, without the scripts that it loads; a row ends with the "
        f"first page above {size(LARGEST)}.",
        "",
        *table(
            ("N", *(f"{n:,}" for n in lengths)),
            (
                [name, *(cell(rows.get((tool, n), {}), "page_bytes") for n in lengths)]
                for tool, name in TOOLS.items()
            ),
        ),
    ]


def _method(results: Row) -> list[str]:
    return [
        "## How it is measured",
        "",
        "Each number comes from a process of its own, after one on the same text (2,048 "
        "tokens of it at most) that warms up; ours and the peers take turns, and the fastest run "
        "counts. Memory is that of the whole process, "
        "libraries included. transformers gets our weights as a Llama whose attention equals ours "
        "within 1e-5 (`tests/test_benchmarks.py`), and computes no logits; TransformerLens opens "
        "that Llama by its own bridge. Both are compared with ours on 64 tokens before each "
        "measurement. A peer isn't started where the maps it must hold exceed the memory that is "
        "free: the table then says what they would take. Our maps and curves out of a peer's "
        "weights are made in blocks (`benchmarks/dense.py`), to measure it at its best.",
        "",
        "`make bench` makes this page; `make peers` brings TransformerLens, BertViz and "
        "CircuitsVis into it. `make bench ARGS=--quick` is a small version that writes nothing.",
        "",
    ]
