"""What is measured of ours alone, in Markdown: limits, growth, windows, bytes sent, losses."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import linear_regression

from benchmarks import reach, work
from benchmarks.markdown import cell, duration, size, table
from benchmarks.processes import Row
from benchmarks.steps import LOSSES_BYTES

LONG = 4096  # tokens from which on growth is fitted: below, what doesn't grow counts too
SENT = {
    "frame_bytes": "WebSocket",
    "response_bytes": "other responses",
    "static_bytes": "Streamlit's own files",
}


def limits(results: Row) -> list[str]:
    """How far ours is from what the machine can do, and what eager attention moves instead."""
    rates, model, rows = results["limits"], results["model"], []
    for row in _ours(results):
        done = work.survey(model, row["length"])
        least = done.seconds(rates)
        counts = (done.exponentials, done.narrow + done.wide, done.summed)
        share = f"{least / row['seconds']:.0%}"
        times = (duration(least), duration(row["seconds"]), share)
        rows.append([f"{row['length']:,}", *(f"{n:.2e}" for n in counts), *times])
    eager = []
    if "seconds" in (row := reach.of(results, "weights", reach.LENGTH)):
        moved = work.eager_bytes(model, reach.LENGTH)
        eager = [
            f"Eager attention moves scores through memory instead: at N = {reach.LENGTH:,} about "
            f"{size(moved)}, which takes {duration(moved / rates['bytes_copied'])} at that rate; "
            f"it took {duration(row['seconds'])}.",
            "",
        ]
    return [
        "## How far from the machine's limit",
        "",
        f"Rates a second, measured in the same run (threads: {rates['threads']}): "
        f"{rates['exponentials']:.2e} exponentials, of a block in the cache; "
        f"{rates['narrow_products']:.2e} multiply-adds in products of [8192 x 32] with [32 x 64], "
        f"{rates['wide_products']:.2e} in those of [2048 x 256] with [256 x 768]; "
        f"{size(round(rates['bytes_summed']))} summed in the cache; "
        f"{size(round(rates['bytes_copied']))} copied in memory. The limit is the sum of what "
        "each kind of work takes at its rate (`benchmarks/work.py`). Not counted: adding bias and "
        "mask, transforms for the curves, copies, calls from Python.",
        "",
        *table(
            ("N", "exponentials", "multiply-adds", "bytes summed", "the limit", "ours", "share"),
            rows,
        ),
        *eager,
    ]


def growth(results: Row) -> list[str]:
    """Time and memory by length, and what they grow with."""
    rows, last = [], None
    for row in _ours(results):
        times = "-"
        if last is not None:
            square = (row["length"] / last["length"]) ** 2
            times = f"{row['seconds'] / last['seconds']:.2f} ({square:.0f})"
        rows.append([f"{row['length']:,}", cell(row, "seconds"), times, cell(row, "peak_bytes")])
        last = row
    return [
        "## How ours grows",
        "",
        *table(("N", "time", "times the row above (N^2 would be)", "peak memory"), rows),
        *_fitted([row for row in _ours(results) if row["length"] >= LONG]),
    ]


def windows(results: Row) -> list[str]:
    """One head's windows."""
    found = results["windows"]
    return [
        "## Windows",
        "",
        f"One head's window at N = {found['length']:,}, the trace in memory; the middle one of "
        "some, and the first:",
        "",
        *table(
            ("tokens to a side", "time", "the first"),
            (
                [f"{r['tokens']:,}", duration(r["seconds"]), duration(r["first_seconds"])]
                for r in found["rows"]
            ),
        ),
    ]


def home(results: Row) -> list[str]:
    """What the browser receives, by kind."""
    return [
        "## Bytes to the browser",
        "",
        "The home page in a fresh Chromium, two maps, two walls and their curves:",
        "",
        *table(
            ("address", *SENT.values()),
            ([f"`{row['path']}`", *(cell(row, key) for key in SENT)] for row in results["homes"]),
        ),
    ]


def losses(results: Row) -> list[str]:
    """Each encoding's losses beside the same model without it."""
    rows = results["losses"]
    return [
        "## Losses of a long text",
        "",
        f"{rows[0]['length']:,} tokens, beside the same model without its encoding; in at most "
        f"{size(LOSSES_BYTES)}:",
        "",
        *table(
            ("encoding", "time", "without", "ratio", "promised", "peak memory", ""),
            (
                [
                    r["encoding"],
                    duration(r["seconds"]),
                    duration(r["plain_seconds"]),
                    f"{r['seconds'] / r['plain_seconds']:.2f}",
                    f"{r['at_most']:g}",
                    size(r["peak_bytes"]),
                    "met" if r["met"] else "**not met**",
                ]
                for r in rows
            ),
        ),
    ]


def _ours(results: Row) -> list[Row]:
    return [r for r in results["maps"] if r["way"] == "ours" and "seconds" in r]


def _fitted(rows: Sequence[Row]) -> list[str]:
    """Least squares: the power of N that time grows with, and a line through the memory."""
    if len(rows) < 3:
        return []
    lengths, peaks = ([row[key] for row in rows] for key in ("length", "peak_bytes"))
    logs = [math.log(row["seconds"]) for row in rows]
    power = linear_regression([math.log(n) for n in lengths], logs).slope
    token, libraries = linear_regression(lengths, peaks)
    off = max(abs(libraries + token * n - p) / p for n, p in zip(lengths, peaks, strict=True))
    return [
        f"Fitted from N = {lengths[0]:,} on, time grows as N^{power:.2f}, and memory is "
        f"{size(round(libraries))} and {size(round(token))} a token, within {off:.0%}.",
        "",
    ]
