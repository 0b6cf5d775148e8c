"""What is promised, and what was measured beside it: the rows of the reach table.

A promise is met, not met, or (None) not measured, with the reason. Ratios and sizes decide whether
the run as a whole succeeds; plain seconds don't, for they say as much of the machine.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks import work
from benchmarks.markdown import duration, size
from benchmarks.processes import Row

LENGTH, SHORT, FAR = 8192, 2048, 65_536
FASTER, FASTER_SHORT, LEANER = 8.0, 3.0, 10.0  # times, against eager with weights returned
FAR_BYTES = 3 * 10**9
SLACK = 1.15  # on N^2 in time and on N in memory
WHOLE_SECONDS, PART_SECONDS, PART = 0.4, 0.1, 512
HOME_BYTES = 4 * 10**6
GPU_TIMES = 4.0
LIMIT, SKIPPED = " of the machine's limit", "not in a quick run"


@dataclass(frozen=True)
class Promise:
    """What, and how much of it; `decides` whether the run fails where it isn't kept."""

    what: str
    target: str
    decides: bool = True

    def found(self, met: bool, value: float, measured: str, bound: str = "") -> Row:
        """Its row with a measured `value`, in words too; `bound` says what stands in the way."""
        return self._row(met, value, measured, bound)

    def missing(self, reason: str) -> Row:
        """Its row where nothing was measured."""
        return self._row(None, None, "-", reason)

    def _row(self, met: bool | None, value: float | None, measured: str, bound: str) -> Row:
        return {
            "what": self.what,
            "target": self.target,
            "met": met,
            "value": value,
            "measured": measured,
            "bound": bound,
            "decides": self.decides,
        }


def rows(results: Row) -> list[Row]:
    """A row for each promise: what, target, met, value, measured, bound, decides."""
    return [
        _faster(results, LENGTH, FASTER),
        _leaner(results),
        _faster(results, SHORT, FASTER_SHORT),
        _far(results),
        _time_grows(results),
        _memory_grows(results),
        *_windows(results),
        _home(results),
        _gpu(results),
    ]


def kept(reach: list[Row]) -> bool:
    """Whether no promise that decides is broken."""
    return not any(row["met"] is False and row["decides"] for row in reach)


def of(results: Row, way: str, length: int) -> Row:
    """The row of `way` at `length`; {} where there is none."""
    rows: list[Row] = results["maps"]
    return next((r for r in rows if (r["way"], r["length"]) == (way, length)), {})


def share(results: Row, row: Row) -> str:
    """How near a row of ours comes to every operation at the machine's limit."""
    least = work.survey(results["model"], row["length"]).seconds(results["limits"])
    return f"{least / row['seconds']:.0%}"


def _faster(results: Row, length: int, least: float) -> Row:
    promise = Promise(
        f"all layers' and heads' maps and decay curves, N = {length:,}, against eager attention "
        "with weights returned",
        f"at least {least:g} times faster",
    )
    ours, eager, same = (of(results, way, length) for way in ("ours", "weights", "reduced"))
    if "seconds" not in ours or "seconds" not in eager:
        return promise.missing(_reason(results, ours, eager))
    times = eager["seconds"] / ours["seconds"]
    shown = f"{times:.1f} times"
    if "seconds" in same:
        shown += f" ({same['seconds'] / ours['seconds']:.1f} once it has made the same of them)"
    return promise.found(times >= least, times, shown, share(results, ours) + LIMIT)


def _leaner(results: Row) -> Row:
    promise = Promise(f"the same at N = {LENGTH:,}", "at most a tenth of the peak memory")
    ours, eager = (of(results, way, LENGTH) for way in ("ours", "weights"))
    if "peak_bytes" not in ours or "peak_bytes" not in eager:
        return promise.missing(_reason(results, ours, eager))
    times = eager["peak_bytes"] / ours["peak_bytes"]
    return promise.found(
        times >= LEANER,
        times,
        f"1/{times:.1f}: {size(ours['peak_bytes'])} against {size(eager['peak_bytes'])}",
        f"{size(ours['bytes_before'])} of ours are the libraries and the model",
    )


def _far(results: Row) -> Row:
    promise = Promise(
        f"the same at N = {FAR:,}", f"finishes, with progress, below {size(FAR_BYTES)}"
    )
    far = of(results, "ours", FAR)
    if "seconds" in far:
        peak = far["peak_bytes"]
        shown = f"{size(peak)}, in {duration(far['seconds'])}"
        return promise.found(peak < FAR_BYTES, peak, shown, share(results, far) + LIMIT)
    if results["quick"]:
        return promise.missing(SKIPPED)
    return promise.found(False, 0, "it did not finish", _reason(results, far))


def _time_grows(results: Row) -> Row:
    square = (FAR / LENGTH) ** 2
    promise = Promise(
        f"time from N = {LENGTH:,} to {FAR:,}", f"no worse than {square:g} times, and 15 %"
    )
    near, far = (of(results, "ours", n) for n in (LENGTH, FAR))
    if "seconds" not in near or "seconds" not in far:
        return promise.missing(_reason(results, near, far))
    times = far["seconds"] / near["seconds"]
    bound = f"{share(results, near)} and {share(results, far)}{LIMIT}"
    return promise.found(times <= SLACK * square, times, f"{times:.1f} times", bound)


def _memory_grows(results: Row) -> Row:
    """Each further token should cost the same, near and far: what the libraries hold drops out."""
    promise = Promise(
        f"memory of a token from {FAR // 2:,} to {FAR:,}, against one from {LENGTH:,} to "
        f"{2 * LENGTH:,}",
        "linear: no more than as much, and 15 %",
    )
    ours = [of(results, "ours", n) for n in (LENGTH, 2 * LENGTH, FAR // 2, FAR)]
    if not all("peak_bytes" in row for row in ours):
        return promise.missing(_reason(results, *ours))
    near, next_, before, far = (row["peak_bytes"] for row in ours)
    early, late = (next_ - near) / LENGTH, (far - before) / (FAR // 2)
    shown = f"{size(round(late))} against {size(round(early))}"
    return promise.found(late <= SLACK * early, late / early, shown)


def _windows(results: Row) -> Iterator[Row]:
    length = results["windows"]["length"]
    sides = {row["tokens"]: row["seconds"] for row in results["windows"]["rows"]}
    what = f"one head's window at N = {length:,}, the trace in memory: "
    whole = Promise(what + "the whole map", f"below {WHOLE_SECONDS:g} s", decides=False)
    part = Promise(what + f"{PART} tokens", f"below {PART_SECONDS:g} s", decides=False)
    if results["quick"]:
        yield from (promise.missing(SKIPPED) for promise in (whole, part))
        return
    seconds = sides[length]
    least = work.window(results["model"], length).seconds(results["limits"])
    bound = f"{least / seconds:.0%}{LIMIT}"
    yield whole.found(seconds < WHOLE_SECONDS, seconds, duration(seconds), bound)
    yield part.found(sides[PART] < PART_SECONDS, sides[PART], duration(sides[PART]))


def _home(results: Row) -> Row:
    promise = Promise(
        "bytes to the browser for the home page, two walls and two maps",
        f"below {size(HOME_BYTES)}",
    )
    home = results["homes"][0]
    if "note" in home:
        return promise.missing(home["note"])
    data, own = home["frame_bytes"] + home["response_bytes"], home["static_bytes"]
    where = "below" if data + own < HOME_BYTES else "above"
    bound = f"Streamlit's own scripts and fonts, {size(own)} once, left out; with them {where}"
    return promise.found(data < HOME_BYTES, data, f"{size(data)} of data", bound)


def _gpu(results: Row) -> Row:
    gpu = results["gpu"]
    promise = Promise(
        "with a GPU: all heads' maps of a layer, N = 131,072, against that layer's fused forward",
        f"within {GPU_TIMES:g} times",
    )
    if "maps_seconds" not in gpu or results["quick"]:
        return promise.missing(_reason(results, gpu))
    times, flash = (gpu["maps_seconds"] / gpu[f"{one}_seconds"] for one in ("forward", "flash"))
    bound = f"{gpu['device']}, float32; {flash:.1f} times the flash kernel in bfloat16"
    return promise.found(times <= GPU_TIMES, times, f"{times:.1f} times", bound)


def _reason(results: Row, *rows: Row) -> str:
    """Why a number is missing: what a row says itself, or what it lacked."""
    said = [str(row["note"]) for row in rows if "note" in row]
    if said or results["quick"]:
        return said[0] if said else SKIPPED
    return "it takes more memory than was free"
