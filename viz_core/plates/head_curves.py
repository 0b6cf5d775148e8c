"""Log-attention by distance, a panel per layer and head, several checkpoints in each."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from viz_core import decay
from viz_core.errors import UsageError
from viz_core.figures import head_curves, head_wall
from viz_core.figures.spec import Chart, FigureSpec
from viz_core.plates import _gathered, _portraits
from viz_core.plates._contract import Options, Plate, Plot
from viz_core.progress import Progress
from viz_core.signatures.portrait import Array, Portrait
from viz_core.words import mark, say

HOW = {
    "row-fixed-effects": mark(
        "row fixed effects (each row of the map is compared with itself alone)"
    ),
    "mean-logit": mark("the plain mean of logits at each distance"),
    "mean-probability": mark("the log of the plain mean of attention at each distance (biased)"),
}


def draw(options: Options, progress: Progress) -> Plot:
    """The heads of `layers` (None: all) of every checkpoint.

    Raises UsageError for layers or heads that one hasn't, and for first keys with an estimator
    that is measured without them.
    """
    estimator, sink = options["estimator"], options["sink"] == "in"
    if sink and estimator != "row-fixed-effects":
        raise UsageError(say("Expected --sink in with --estimator row-fixed-effects alone."))
    some = _portraits.sitters(options, progress)
    most = min(one.portrait.curve.shape[0] for one in some)
    layers = options["layers"] or list(range(1, most + 1))
    heads = options["heads"] or list(range(1, 1 + min(o.portrait.curve.shape[1] for o in some)))
    places = [_portraits.place(some, layer, head) for layer in layers for head in heads]
    first = some[0].portrait
    spec = head_curves.build(
        [drawable(one.portrait, one.name, one.accent, estimator, sink) for one in some],
        say(HOW[estimator]),
        say("the first {sink} keys in", sink=first.sink)
        if sink
        else say("the first {sink} keys left out", sink=first.sink),
        options["laws"] == "yes",
        options["x_scale"] == "log",
    )
    spec = _picked(spec, places, len(layers) > 1 and len(heads) > 1)
    facts = _gathered.facts(first, layers) | {
        "heads": heads,
        "estimator": HOW[estimator],
        "sink": f"the first {first.sink} keys are {options['sink']}",
    }
    return Plot(spec, _portraits.sources(some, options), facts)


def _picked(spec: FigureSpec, places: list[tuple[int, int]], table: bool) -> FigureSpec:
    """The panels of those places, their curves named; titles that form a table, where they do."""
    known = {panel.title: panel for panel in spec.panels if isinstance(panel, Chart)}
    panels = []
    for layer, head in places:
        panel = known[title := f"L{layer + 1} H{head + 1}"]
        title = head_wall.title(layer, head) if table else title
        lines = (replace(line, label=line.name * line.strong) for line in panel.lines)
        panels.append(replace(panel, title=title, lines=tuple(lines)))
    return replace(spec, panels=tuple(panels))


def drawable(
    portrait: Portrait, name: str, accent: str, estimator: str, sink: bool
) -> head_curves.Side:
    """The curves of `portrait` under `estimator`, one of `HOW`, as far as they are drawn.

    Distances with fewer pairs than `decay.by_distance` wants are left out. With `sink` the first
    keys are in, for row fixed effects alone.
    """
    pairs = portrait.pairs
    floor = min(decay.FLOOR, int(pairs[0]) // 4)
    end = max(2, int((pairs >= floor).sum()))
    curve, error = _curves(portrait, estimator, sink)
    return head_curves.Side(
        name,
        accent,
        curve[..., :end],
        None if error is None else error[..., :end],
        portrait.law[..., :end],
        pairs[:end],
        portrait.texts,
        portrait.length,
    )


def _curves(p: Portrait, estimator: str, sink: bool) -> tuple[Array, Array | None]:
    """(curve, error) [layer, head, distance]; no error where the estimator has none."""
    if estimator == "mean-logit":
        return p.logit, None
    if estimator == "mean-probability":
        some = p.probability > 0  # far keys of steep heads fall below what float32 holds
        return np.where(some, np.log(np.where(some, p.probability, 1)), np.nan), None
    return (p.with_sink, None) if sink else (p.curve, p.error)


PLATE = Plate(
    "head-curves",
    mark("Attention by distance, head by head"),
    {
        "checkpoints": ["alibi", "rope"],
        "layers": [3],
        "heads": None,
        "estimator": "row-fixed-effects",
        "sink": "out",
        "laws": "yes",
        "x_scale": "linear",
        **_portraits.COMMON,
    },
    draw,
)
