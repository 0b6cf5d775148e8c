"""docs/reliability.md, made from what `benchmarks.load` measured."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from benchmarks.markdown import duration, size, table
from benchmarks.processes import Row

ACTS = {
    "first page": "First page of a visit, by its address",
    "head": "Another head",
    "zoom": "Into a window, or out",
    "length": "Another length",
    "own checkpoint": "First look at an uploaded checkpoint",
    "upload": "An upload of 6 MB: sent, checked, described",
}
USUAL = {"people": 25, "minutes": 10.0}
SETTLED = 180.0  # seconds, after which memory should be flat
FAULTS = (  # what is tested in tests/faults, and what the person is told
    (
        "The disk is full, or the store can't be written",
        "results are computed and shown, and computed again for the next visitor; `/health` and "
        "the log say so; an upload is refused with a sentence, and nothing of it stays",
    ),
    (
        "A store entry is cut off, altered, or arranged as another version does",
        "it counts as absent, is computed again and replaced",
    ),
    (
        "The process is killed at any moment",
        "no unreadable result, no half upload; what was finished before is found again",
    ),
    (
        "The device's memory runs out",
        "kept models and traces go, and it is tried once more; then one sentence",
    ),
    (
        "Two servers share a store",
        "both show the same numbers; what one has computed the other finds",
    ),
    (
        "The clock is moved, forth or back",
        "results stay; an upload under way is finished or refused with a sentence",
    ),
)


def markdown(results: Row) -> str:
    """The whole page."""
    m = results["machine"]
    return "\n".join(
        (
            "# What holds under load, and when something breaks",
            "",
            f"Measured on {results['date']} by `{_command(results)}` on {m['cores']} cores of "
            f"{m['processor']}, {m['memory_bytes'] / 2**30:.0f} GiB of memory, {m['system']}. The "
            f"crowd ran on the same cores{_beside(results)}. Made from "
            "[reliability.json](reliability.json): don't edit.",
            "",
            "## Many people on one server",
            "",
            *summary(results),
            "",
            "Seconds from an act to the whole of its page, the wait in line included:",
            "",
            *_times(results),
            "Memory of the server by minute:",
            "",
            *_memory(results),
            "## How it is measured",
            "",
            "A person is a session of Streamlit's own protocol over a WebSocket, without a browser "
            "(`benchmarks/load_wire.py`): it gets all that a browser would get, and draws nothing. "
            "Each thinks for 4 to 12 seconds between two acts. Results aren't there beforehand: "
            "the store is empty, and what one person's page computed, others find. Afterwards one "
            "person alone opens every address that somebody saw, on a fresh server with a store of "
            "its own; hashes of maps, walls, curves and sentences must be equal. An uploaded "
            "checkpoint is the shipped RoPE under another name, so its maps are known too; and its "
            "owner must be offered no other's.",
            "",
            "`make load` makes this page; `make load ARGS=--quick` is a small version that writes "
            "nothing.",
            "",
            "## When something breaks",
            "",
            "Each has a test in `tests/faults`:",
            "",
            *table(("what", "what happens"), FAULTS),
        )
    )


def _command(results: Row) -> str:
    """What makes this page again."""
    asked = {"people": results["people"], "minutes": results["minutes"]}
    other = [f"--{name} {n:g}" for name, n in asked.items() if n != USUAL[name]]
    return f'make load ARGS="{" ".join(other)}"' if other else "make load"


def _beside(results: Row) -> str:
    """How the server stood among the machine's other work."""
    words = f", on a machine with a load of {results['load']:.1f} before it began"
    if results["threads"]:
        words += f"; torch had OMP_NUM_THREADS={results['threads']}"
    if results["nice"]:
        words += f"; everything ran at nice {results['nice']}, behind other work"
    return words


def summary(results: Row) -> list[str]:
    """What came out, in a few lines."""
    acts, counted = len(results["seconds"]), results["counted"]
    done = _sum(counted, "computations", 'outcome="done"')
    kept = _sum(counted, "found")
    compared = results["pages"] + results["own_pages"]
    return [
        f"- {results['people']} people for {results['minutes']:g} minutes: {acts:,} pages, "
        f"{results['uploads']} uploads; {done:,} computations, {kept:,} results found in memory or "
        "in the store.",
        f"- Lost: {len(results['lost'])}. Not what was asked for: {len(results['strange'])}. "
        f"Connections that broke, and were taken up again: {results['reopened']}.",
        f"- {compared:,} different pages compared with those of one person alone: "
        f"{len(results['differing'])} differ.",
        f"- Memory of the server: {_growth(results)}.",
    ]


def _times(results: Row) -> list[str]:
    rows = []
    for act, name in ACTS.items():
        took = [seconds for what, _, seconds in results["seconds"] if what == act]
        if took:
            at = [duration(_quantile(took, q)) for q in (0.5, 0.95)]
            rows.append([name, f"{len(took):,}", *at, duration(max(took))])
    return table(("act", "times", "p50", "p95", "slowest"), rows)


def _memory(results: Row) -> list[str]:
    samples: list[tuple[float, int]] = results["memory_bytes"]
    minutes = range(1 + int(results["minutes"]))
    at = [min(samples, key=lambda s: abs(s[0] - 60 * minute))[1] for minute in minutes]
    return table(("minute", *map(str, minutes)), [["", *map(size, at)]])


def _growth(results: Row) -> str:
    samples = results["memory_bytes"]
    late = [held for when, held in samples if when >= SETTLED]
    if len(late) < 2:
        return f"{size(samples[-1][1])} at the end"
    third = max(1, len(late) // 3)
    first, last = (statistics.median(part) for part in (late[:third], late[-third:]))
    words = f"{size(first)} and {size(last)}, in the first and the last third after minute 3"
    return f"{words} ({100 * (last / first - 1):+.1f} %)"


def _quantile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def _sum(counted: dict[str, int], *words: str) -> int:
    return sum(n for name, n in counted.items() if all(word in name for word in words))
