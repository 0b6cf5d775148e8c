"""Loss by length, by protocol: token-weighted, with intervals over documents, resumable.

Protocols after Press et al. 2022 (appendix B) and Kazemnejad et al. 2023 (appendix F.3).
"""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections.abc import Callable, Iterable, MutableMapping, Sequence
from dataclasses import asdict, dataclass, is_dataclass, replace
from typing import Any

import numpy as np
import torch

from viz_core import encodings, variants
from viz_core.errors import LengthError
from viz_core.perplexity import intervals, protocols
from viz_core.perplexity.protocols import FIXED, PROTOCOLS, Window
from viz_core.perplexity.scoring import loss_by_position, token_losses
from viz_core.subject import Sizes, Subject
from viz_core.types import Sample
from viz_core.words import say

__all__ = ["PROTOCOLS", "Row", "loss_by_position", "measure", "token_losses"]

VERSION = 1  # of the numbers: kept results of another version are computed again
BATCH = 4_096  # tokens in one pass of several windows
Kept = MutableMapping[str, dict[str, Any]]


@dataclass(frozen=True)
class Row:
    """One measured loss, in nats per token; None where there is no value, with `note` saying why.

    A row is data, so its note is in English, whoever asked: `encodings.retold` says it to others.

    `difference` is the loss less that of the model as trained, on the same targets, with the
    context cut to its trained length: what reading further gains (below 0) or costs.
    """

    setting: str
    protocol: str
    length: int
    first: int | None = None  # of a bin of positions, and its last
    last: int | None = None
    source: str = "all"
    loss: float | None = None
    loss_low: float | None = None
    loss_high: float | None = None
    perplexity: float | None = None
    difference: float | None = None
    difference_low: float | None = None
    difference_high: float | None = None
    tokens: int = 0
    documents: int = 0
    seconds: float = 0.0
    note: str = ""


@dataclass(frozen=True)
class _Scores:
    """Sums of losses and numbers of tokens: [document, bin]; seconds in all."""

    sums: intervals.Array
    counts: intervals.Array
    seconds: float


def measure(
    model: Subject,
    samples: Sequence[Sample],
    lengths: Iterable[int],
    protocol: str = FIXED,
    setting: str = "",
    by_source: bool = False,
    progress: Callable[[float], None] = lambda done: None,
    kept: Kept | None = None,
    identity: str = "",
) -> list[Row]:
    """Losses of `model` (as trained) under `setting` on `samples`, at each of `lengths`.

    `progress(done)` is called with 0 .. 1 between passes and may raise, to cancel. `kept` holds
    what was computed and is filled as it goes; its keys hold `identity`, the checkpoint's hash.
    Raises LengthError for a length that the samples don't have, UsageError for a wrong setting,
    UnknownName for a wrong protocol.
    """
    lengths = sorted(set(lengths))
    size = min(len(s.ids) for s in samples)
    for n in lengths:
        protocols.windows(protocol, size, n, "")  # all are possible, or nothing is begun
        variants.parameters(model.config.encoding, setting, n, model.config.length)
    trained, end = model.config.length, model.encoding.longest
    plan = [(n, setting) for n in lengths if end is None or n <= end]
    paired = protocol == FIXED and 0 < trained < size  # 0: unknown
    if paired and (trained, "") not in plan and plan:
        plan.append((trained, ""))
    work = [n * len(protocols.windows(protocol, size, n, "")) for n, _ in plan]
    results: dict[tuple[int, str], _Scores] = {}
    for i, (n, which) in enumerate(plan):

        def report(done: float, i: int = i) -> None:
            progress((sum(work[:i]) + done * work[i]) / sum(work))

        results[n, which] = _scores(model, samples, n, protocol, which, report, kept, identity)
    progress(1.0)
    groups = {"all": list(range(len(samples)))}
    if by_source:
        for i, s in enumerate(samples):
            groups.setdefault(s.source, []).append(i)
    base = results.get((trained, "")) if paired else None
    rows = []
    for n in lengths:
        for source, members in groups.items():
            if (n, setting) in results:
                found = results[n, setting]
                rows += _rows(Row(setting, protocol, n, source=source), found, base, members)
            else:
                note = encodings.ending(model.encoding)
                rows.append(
                    Row(setting, protocol, n, source=source, documents=len(members), note=note)
                )
    return rows


def _rows(blank: Row, found: _Scores, base: _Scores | None, members: list[int]) -> list[Row]:
    """`blank` filled in from the sums of the documents `members`: one row per bin."""
    rows = []
    edges = protocols.bins(blank.protocol, blank.length)
    for b, edge in enumerate(edges):
        sums, counts = found.sums[members, b], found.counts[members, b]
        mean = intervals.mean(sums, counts)
        row = replace(
            blank,
            loss=mean.value,
            loss_low=mean.low,
            loss_high=mean.high,
            perplexity=math.exp(mean.value),
            tokens=int(counts.sum()),
            documents=len(members),
            seconds=round(found.seconds, 3),
        )
        if len(edges) > 1:
            row = replace(row, first=edge.first, last=edge.last)
        if base is not None:
            gap = intervals.difference(sums, base.sums[members, 0], counts)
            row = replace(
                row, difference=gap.value, difference_low=gap.low, difference_high=gap.high
            )
        rows.append(row)
    return rows


def _scores(
    model: Subject,
    samples: Sequence[Sample],
    length: int,
    protocol: str,
    setting: str,
    progress: Callable[[float], None],
    kept: Kept | None,
    identity: str,
) -> _Scores:
    """The sums of each sample, from `kept` where they are there."""
    varied = variants.vary(model, setting, length)
    config = varied.config
    edges = protocols.bins(protocol, length)
    sums = np.zeros((len(samples), len(edges)))
    counts = np.zeros_like(sums)
    seconds = 0.0
    for d, sample in enumerate(samples):
        progress(d / len(samples))
        wanted = protocols.windows(protocol, len(sample.ids), length, sample.sha256)
        about = [VERSION, identity, _words(config), protocol, wanted, sample.sha256]
        key = hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()
        found = kept.get(key) if kept is not None else None
        if found is None:
            began = time.monotonic()

            def between(d: int = d) -> None:
                progress(d / len(samples))

            total, tokens = _sample(varied, sample, wanted, edges, between)
            seconds_taken = time.monotonic() - began
            found = {"sums": total.tolist(), "counts": tokens.tolist(), "seconds": seconds_taken}
            if kept is not None:
                kept[key] = found
        sums[d], counts[d] = found["sums"], found["counts"]
        seconds += found["seconds"]
    return _Scores(sums, counts, seconds)


def _words(config: Sizes) -> dict[str, Any]:
    """All that is known of the sizes of a model, as JSON has it."""
    assert is_dataclass(config) and not isinstance(config, type)
    return asdict(config)


def _sample(
    model: Subject,
    sample: Sample,
    wanted: list[Window],
    edges: tuple[protocols.Bin, ...],
    between: Callable[[], None],
) -> tuple[intervals.Array, intervals.Array]:
    """(sums of losses, numbers of tokens) [bin] of one sample's windows."""
    sums, counts = np.zeros(len(edges)), np.zeros(len(edges))
    ids = torch.tensor(sample.ids)
    length, last = wanted[0].length, wanted[0].last
    step = max(1, BATCH // length)
    for a in range(0, len(wanted), step):
        between()
        part = wanted[a : a + step]
        rows = torch.stack([ids[w.start : w.start + length + 1] for w in part])
        rows[:, : len(sample.before)] = torch.tensor(sample.before, dtype=rows.dtype)
        losses = token_losses(model, rows, last).double().cpu().numpy()  # [window, last]
        given = max(0, len(sample.before) - 1 - (length - last))  # targets that are no text
        if not np.isfinite(losses).all():
            raise LengthError(
                say("The model's losses at {length:,} tokens are not finite.", length=length)
            )
        by_position, n = losses.sum(axis=0)[given:], len(part)
        if len(edges) == 1:
            sums[0], counts[0] = sums[0] + by_position.sum(), counts[0] + n * len(by_position)
            continue
        for i, edge in enumerate(edges):  # a target at index p has p + 1 tokens before it
            inside = by_position[max(0, edge.first - 1 - given) : max(0, edge.last - given)]
            sums[i], counts[i] = sums[i] + inside.sum(), counts[i] + n * len(inside)
    return sums, counts
