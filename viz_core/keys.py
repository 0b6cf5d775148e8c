"""Under which key each kind of result is kept: what a page computes, a sweep finds, and back."""

from __future__ import annotations

from collections.abc import Sequence

from viz_core.catalogue import Checkpoint
from viz_core.store import Option, RunKey
from viz_core.texts import Passage
from viz_core.types import Kind, Pooling, Range, Sample

DTYPE = "float32"  # what everything is computed in, on any device


def survey(
    checkpoint: Checkpoint,
    passages: Sequence[Passage],
    kind: Kind,
    pooling: Pooling = "mean",
    setting: str = "",
) -> RunKey:
    """Of `survey.survey`: all maps and curves of `checkpoint` under `setting` over the passages."""
    return _over(checkpoint, passages, "survey", setting, kind=kind, pooling=pooling)


def window(
    checkpoint: Checkpoint,
    passages: Sequence[Passage],
    kind: Kind,
    place: tuple[int, int],
    box: tuple[Range, Range],
    pooling: Pooling = "mean",
    setting: str = "",
) -> RunKey:
    """Of `survey.zoom`: the map of one (layer, head), from 0, on the queries and keys of `box`."""
    where: dict[str, Option] = {"layer": place[0], "head": place[1]}
    where |= {"rows": box[0], "columns": box[1]}
    return _over(checkpoint, passages, "window", setting, kind=kind, pooling=pooling, **where)


def portrait(checkpoint: Checkpoint, passages: Sequence[Passage], setting: str = "") -> RunKey:
    """Of `portraits.measure`."""
    return _over(checkpoint, passages, "portrait", setting)


def losses(
    checkpoint: Checkpoint,
    samples: Sequence[Sample],
    length: int,
    protocol: str,
    setting: str = "",
) -> RunKey:
    """Of `perplexity.measure` at one length, over all samples together."""
    shas = tuple(s.sha256 for s in samples)
    options = (("protocol", protocol),)
    return RunKey(checkpoint.sha256, setting, shas, length, DTYPE, "losses", options)


def _over(
    checkpoint: Checkpoint,
    passages: Sequence[Passage],
    what: str,
    setting: str,
    **options: Option,
) -> RunKey:
    shas, length = tuple(p.sha256 for p in passages), len(passages[0].ids)
    rest = tuple(options.items())
    return RunKey(checkpoint.sha256, setting, shas, length, DTYPE, what, rest)
