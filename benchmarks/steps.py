"""The steps of a run: which measurements, in which order. Each says on standard error what it does.

Ours and the peers take turns, so that a machine's drift hits all alike; the fastest round counts.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.processes import Row, measured

WAYS = ("ours", "weights", "reduced", "patterns")  # `maps` says what they are
TOOLS = ("head_view", "model_view", "attention_heads")
LARGEST = 100_000_000  # bytes of a page after which a tool's next, four times as large, is left out
LOSSES_TIME = {"nope": 1.5, "sinusoidal": 1.5, "rope": 1.5, "alibi": 2.5, "t5": 2.5}  # of plain
LOSSES_BYTES = 10**9

Measure = Callable[..., Row]


@dataclass(frozen=True)
class Plan:
    """Lengths in tokens. `far` are for ours alone; up to `often` there are two rounds."""

    lengths: tuple[int, ...]
    far: tuple[int, ...]
    often: int
    pages: tuple[int, ...]
    window: int
    homes: tuple[str, ...]
    gpu: int
    losses: int
    encodings: tuple[str, ...]


FULL = Plan(
    lengths=(512, 1024, 2048, 4096, 8192, 16_384),
    far=(32_768, 65_536),
    often=8192,
    pages=(64, 128, 256, 512, 1024),
    window=16_384,
    homes=("/", "/?length=2048"),
    gpu=131_072,
    losses=8192,
    encodings=tuple(LOSSES_TIME),
)
QUICK = Plan(
    lengths=(512, 1024),
    far=(),
    often=0,
    pages=(64,),
    window=1024,
    homes=("/",),
    gpu=1024,
    losses=512,
    encodings=("rope",),
)


def maps(plan: Plan, act: Measure = measured) -> list[Row]:
    """Rows of each way at each length: seconds and bytes, or why there are none."""
    rows = []
    for length in (*plan.lengths, *plan.far):
        ways = WAYS if length in plan.lengths else WAYS[:1]
        rounds = 2 if length <= plan.often else 1
        runs: dict[str, list[Row]] = {way: [] for way in ways}
        for _ in range(rounds):
            for way in ways:
                row = act("maps", way, length, peers=way == "patterns")
                runs[way].append(row)
                _say(f"maps and curves, {length:,} tokens, {way}", row)
        for way in ways:
            best = min(runs[way], key=lambda row: float(row.get("seconds", math.inf)))
            rows.append({"way": way, "length": length, **best})
    return rows


def pages(plan: Plan, act: Measure = measured) -> list[Row]:
    """Rows of each tool: bytes of its page at each length, up to the first that is too large."""
    rows = []
    for tool in TOOLS:
        row: Row = {}
        for length in plan.pages:
            if row.get("page_bytes", 0) > LARGEST or "exceeded_bytes" in row:
                break
            row = act("pages", tool, length, peers=True)
            _say(f"page of {tool}, {length:,} tokens", row)
            rows.append({"tool": tool, "length": length, **row})
    return rows


def windows(plan: Plan, act: Measure = measured) -> Row:
    """One head's windows at one length."""
    row = act("windows", plan.window)
    _say(f"windows of one head, {plan.window:,} tokens", row)
    return row


def homes(plan: Plan, act: Measure = measured) -> list[Row]:
    """What a browser receives for the home page, at each of its addresses."""
    rows = []
    for path in plan.homes:
        rows.append({"path": path, **act("browser", path)})
        _say(f"bytes to the browser, {path}", rows[-1])
    return rows


def gpu(plan: Plan, act: Measure = measured) -> Row:
    """One layer's maps beside its forward, where there is a GPU."""
    row = act("gpu", plan.gpu)
    _say(f"one layer's maps on a GPU, {plan.gpu:,} tokens", row)
    return row


def losses(plan: Plan, act: Measure = measured) -> list[Row]:
    """Losses of a long text: each encoding beside the same model without it."""
    rows = []
    for encoding in plan.encodings:
        ours, plain = (act("losses", way, encoding, plan.losses) for way in ("ours", "plain"))
        ratio, most = ours["seconds"] / plain["seconds"], LOSSES_TIME[encoding]
        row = {
            "encoding": encoding,
            "length": plan.losses,
            "seconds": ours["seconds"],
            "plain_seconds": plain["seconds"],
            "peak_bytes": ours["peak_bytes"],
            "at_most": most,
            "met": ratio <= most and ours["peak_bytes"] < LOSSES_BYTES,
        }
        rows.append(row)
        _say(f"losses of {plan.losses:,} tokens, {encoding}", row)
    return rows


def limits(act: Measure = measured) -> Row:
    """What the machine can do at most."""
    row = act("limits")
    _say("the machine's limits", row)
    return row


def _say(what: str, row: Row) -> None:
    if "seconds" in row:
        found = f"{row['seconds']:.3g} s, {row['peak_bytes'] / 1e6:,.0f} MB at the peak"
    else:
        found = ", ".join(f"{name} {_plain(value)}" for name, value in row.items())
    print(f"{what}: {found}", file=sys.stderr, flush=True)


def _plain(value: object) -> str:
    return f"{value:,.4g}" if isinstance(value, float) else str(value)
