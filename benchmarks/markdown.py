"""Tables and numbers in Markdown, each number in the unit that a person would say it in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from benchmarks.processes import Row


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Lines of a Markdown table, and an empty one."""
    lines = [head, ["---"] * len(head), *rows]
    return [f"| {' | '.join(line)} |" for line in lines] + [""]


def duration(seconds: float) -> str:
    """Seconds, or milliseconds below a tenth of one."""
    return f"{_digits(seconds)} s" if seconds >= 0.1 else f"{_digits(1000 * seconds)} ms"


def size(count: int) -> str:
    """Bytes in kB, MB or GB, of 1,000 each."""
    for unit, name in ((10**9, "GB"), (10**6, "MB")):
        if count >= unit:
            return f"{_digits(count / unit)} {name}"
    return f"{_digits(count / 1000)} kB"


def cell(row: Row, key: str) -> str:
    """What a row of results says of `key`, "seconds" or some bytes, or why it says nothing."""
    if key in row:
        return duration(row[key]) if key == "seconds" else size(row[key])
    if "needs_bytes" in row:
        return f"would hold {size(row['needs_bytes'])}"
    if "exceeded_bytes" in row:
        return f"more than {size(row['exceeded_bytes'])}"
    return str(row.get("note", "-"))


def _digits(value: float) -> str:
    """Three of them, or all those before the point."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
