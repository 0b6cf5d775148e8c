"""What a figure of trainings shows, in sentences that its own numbers fill."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from viz_core.figures.emergence import Training, median
from viz_core.words import say, sentences

GROWN = 2.0  # times as large: from there on a size has grown rather than stayed


def said(trainings: Sequence[Training]) -> list[str]:
    """Sentences about what changes from the first step to the last; none about what isn't known."""
    found = [_until(trainings)]
    for one in trainings:
        found += [*_slopes(one), *_ripples(one)]
    return [*found, *_sinks(trainings)]


def _until(trainings: Sequence[Training]) -> str:
    """How far the trainings are followed, and what the loss says of it."""
    names = say(", ").join(one.name for one in trainings)
    tokens = max((float(np.nanmax(t.tokens)) for t in trainings if _any(t.tokens)), default=0.0)
    steps = max(int(one.step[-1]) for one in trainings)
    losses = [one.loss[np.isfinite(one.loss)] for one in trainings]
    if not all(len(loss) > 1 for loss in losses) or not tokens:
        return say("{names}, up to step {steps:,}.", names=names, steps=steps)
    return say(
        "{names}, up to step {steps:,} and {millions:.2f} million tokens: the loss falls from "
        "{first:.2f} to {last:.2f} nats.",
        names=names,
        steps=steps,
        millions=tokens / 1e6,
        first=max(float(loss[0]) for loss in losses),
        last=min(float(loss[-1]) for loss in losses),
    )


def _slopes(one: Training) -> list[str]:
    """Of an encoding that sets slopes."""
    share = one.values.get("slope")
    if share is None or not _any(share):
        return []
    middle, off = median(share), np.abs(share - 1)
    step, head = np.unravel_index(int(np.nanargmax(off)), off.shape)
    layer, number = one.heads[int(head)]
    return [
        say(
            "**{name}** sets its slopes: those of the median head are {first:.3f} of what is set "
            "at first and {last:.3f} at last. Farthest off, at step {step:,}, is head {head} of "
            "layer {layer} with {share:.2f}.",
            name=one.name,
            first=middle[0],
            last=middle[-1],
            step=int(one.step[step]),
            head=number,
            layer=layer,
            share=share[step, head],
        )
    ]


def _ripples(one: Training) -> list[str]:
    """Of an encoding whose median head ripples more than chance does."""
    names = ("ripple", "ripple_even", "swing", "swing_noise")
    if not all(name in one.values and _any(one.values[name]) for name in names):
        return []
    shape, chance, size, noise = (median(one.values[name]) for name in names)
    if not shape[-1] > 2 * chance[-1]:
        return []
    facts = {
        "name": one.name,
        "shape": 100 * shape[0],
        "later": 100 * shape[-1],
        "chance": 100 * chance[0],
        "small": size[0],
        "large": size[-1],
        "noise": noise[-1],
    }
    found = say(
        "**{name}** ripples: its frequencies explain {shape:.0f} % of the curve of the median head "
        "at first (chance: {chance:.0f} %) and {later:.0f} % at last, while the size of the "
        "ripples goes from {small:.2f} to {large:.2f} nats (differences between texts: "
        "{noise:.2f}).",
        **facts,
    )
    given = one.step[0] == 0 and shape[0] > 2 * chance[0]
    if given and size[-1] > GROWN * size[0]:
        found = sentences(
            found,
            say(
                "So the shape is there before anything is learned; what training adds is the size."
            ),
        )
    return [found]


def _sinks(trainings: Sequence[Training]) -> list[str]:
    """What the first keys get, in one sentence for all."""
    known = [t for t in trainings if "sink" in t.values and _any(t.values["sink"])]
    if not known:
        return []
    each = say("; ").join(
        say(
            "{name} {first:.1f} % and then {last:.1f} %",
            name=one.name,
            first=100 * median(one.values["sink"])[0],
            last=100 * median(one.values["sink"])[-1],
        )
        for one in known
    )
    even = 100 * float(np.nanmedian(known[0].values["sink_even"]))
    return [
        say(
            "The first keys get, of the median head's attention: {each} (uniform attention: "
            "{even:.1f} %).",
            each=each,
            even=even,
        )
    ]


def _any(values: np.ndarray) -> bool:
    return bool(np.isfinite(values).any())
