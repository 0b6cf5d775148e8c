"""Emergence: how slopes, reach, ripples and sinks come about while models are trained."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from viz_core.figures import _axes, _steps, _words
from viz_core.figures._steps import Steps
from viz_core.figures.spec import Band, Chart, FigureCard, FigureSpec, Line
from viz_core.words import mark, say, sentences

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Measure:
    """One panel: a statistic by its name in `Training.values`, and what it is compared with.

    `level`: the name of its null where that is one number for all, and `said`, its words;
    `dotted`: of a null that each head has its own of; `dashed`: of what the encoding alone would
    give. `about` is its sentence in the caption, `read` how a value is written.
    """

    name: str
    title: str
    label: str
    about: str
    read: str
    log: bool = False
    level: str = ""
    said: str = ""
    dotted: str = ""
    dashed: str = ""


MEASURES = (
    Measure(
        "slope",
        mark("Slope"),
        mark("measured / set"),
        mark("Slope: the measured one over that which the encoding sets."),
        "{y:.3f}",
        level="slope_set",
        said=mark("as set"),
    ),
    Measure(
        "reach",
        mark("Reach"),
        mark("tokens (log scale)"),
        mark(
            "Reach: the distance within which a head spends 90 % of its attention; dashed: the "
            "median that the encoding's bias alone would give; dotted: uniform attention."
        ),
        "{y:,.1f}",
        log=True,
        level="reach_even",
        said=mark("uniform attention"),
        dashed="reach_nominal",
    ),
    Measure(
        "ripple",
        mark("Ripples, shape"),
        mark("share explained (R²)"),
        mark(
            "Shape of ripples: the share of the detrended curve that RoPE's frequencies explain; "
            "dotted: the median for random frequencies."
        ),
        "{y:.3f}",
        dotted="ripple_even",
    ),
    Measure(
        "swing",
        mark("Ripples, size"),
        mark("nats (log scale)"),
        mark(
            "Size of ripples: root mean square of the curve about its trend; dotted: the median "
            "that differences between texts alone would leave."
        ),
        "{y:.3g}",
        log=True,
        dotted="swing_noise",
    ),
    Measure(
        "sink",
        mark("Sink"),
        mark("share on the first keys"),
        mark("Sink: the share of attention on the first keys; dotted: uniform attention."),
        "{y:.4f}",
        level="sink_even",
        said=mark("uniform attention"),
    ),
)


@dataclass(frozen=True)
class Training:
    """One model at several steps of its training.

    step, tokens [check]: rising; tokens seen by then, NaN where a checkpoint doesn't say. heads:
    layer and head, both from 1, of each head of `values`, by name (see MEASURES) [check, head], NaN
    where there is none; over `texts` texts of `length` tokens. loss, low, high [check]: nats per
    token and its 95 % interval over `documents` documents, NaN where it was not measured.
    """

    name: str
    accent: str
    step: Array
    tokens: Array
    heads: Sequence[tuple[int, int]]
    values: Mapping[str, Array]
    texts: int
    length: int
    loss: Array
    low: Array
    high: Array
    documents: int


def build(trainings: Sequence[Training]) -> FigureSpec:
    """A panel for each statistic that some training has, all on one axis of tokens seen (of steps,
    where tokens aren't known)."""
    tokens = all(np.isfinite(t.tokens).all() for t in trainings)
    seen = [t.tokens / 1e6 if tokens else t.step for t in trainings]
    steps = _steps.over(seen, tokens)
    placed = [(t, steps.places(x)) for t, x in zip(trainings, seen, strict=True)]
    panels, about = list[Chart](), list[str]()
    for m in MEASURES:
        if some := [(t, x) for t, x in placed if _known(t.values.get(m.name))]:
            panels.append(_panel(m, some, steps))
            about.append(say(m.about))
    if about:
        over = _words.texts(trainings[0].texts, trainings[0].length)
        said = say(
            "Every head while a model is trained (faint) and the median over its heads (strong), "
            "over {over}.",
            over=over,
        )
        about.insert(0, said)
    if scored := [(t, x) for t, x in placed if _known(t.loss)]:
        panels.append(_losses(scored, steps))
        said = say(
            "Loss: on the same tokens of {documents} documents, with its 95 % interval.",
            documents=scored[0][0].documents,
        )
        about.append(said)
    if steps.zero is not None:
        said = say("The model as drawn by chance, at 0, stands before the dotted line.")
        about.append(said)
    caption = sentences(*about)
    alt = say("What emerges in training: {names}.", names=_words.rowed(t.name for t in trainings))
    return FigureSpec(tuple(panels), caption, sentences(alt, caption))


def median(values: Array) -> Array:
    """Over heads: [check]; NaN where no head has a value."""
    known = np.isfinite(values).any(axis=1)
    found = np.full(len(values), np.nan)
    found[known] = np.nanmedian(values[known], axis=1)
    return found


def _panel(m: Measure, placed: Sequence[tuple[Training, Array]], steps: Steps) -> Chart:
    lines = tuple(line for t, x in placed for line in _heads(m, t, x))
    every = [float(np.nanmedian(t.values[m.level])) for t, _ in placed] if m.level else []
    levels = list(dict.fromkeys(every))
    return Chart(
        title=say(m.title),
        accent="ink",
        lines=lines,
        x=steps.axis,
        y=_axes.values([line.y for line in lines], say(m.label), m.log, levels),
        marks=steps.marks,
        levels=tuple((level, say(m.said) if i == 0 else "") for i, level in enumerate(levels)),
        read=m.read,
    )


def _heads(m: Measure, training: Training, x: Array) -> Iterator[Line]:
    """Every head, then what the median is compared with, then the median on top of all."""
    name, accent, values = training.name, training.accent, training.values
    group = say("{name}, each head", name=name)
    for (layer, head), y in zip(training.heads, values[m.name].T, strict=True):
        words = say("{name}, layer {layer}, head {head}", name=name, layer=layer, head=head)
        yield Line(words, x, y, accent, group=group)
    notes = _notes(training)
    if m.dashed and _known(values.get(m.dashed)):
        words = say("{name}, the bias alone", name=name)
        yield Line(words, x, median(values[m.dashed]), accent, dash="dash", notes=notes)
    if m.dotted:
        words = say("{name}, its null", name=name)
        yield Line(words, x, median(values[m.dotted]), accent, dash="dot", notes=notes)
    y = median(values[m.name])
    yield Line(name, x, y, accent, strong=True, markers=True, label=name, notes=notes)


def _losses(placed: Sequence[tuple[Training, Array]], steps: Steps) -> Chart:
    lines = tuple(
        Line(
            *(t.name, x, t.loss, t.accent),
            strong=True,
            band=Band(t.low, t.high, say("95 % interval")),
            markers=True,
            label=t.name,
            notes=_notes(t),
        )
        for t, x in placed
    )
    seen = [values for t, _ in placed for values in (t.loss, t.low, t.high)]
    return Chart(
        title=say("Loss"),
        accent="ink",
        lines=lines,
        x=steps.axis,
        y=_axes.values(seen, say("nats per token"), False),
        marks=steps.marks,
        read="{y:.3f}",
    )


def _known(values: Array | None) -> bool:
    return values is not None and bool(np.isfinite(values).any())


def _notes(training: Training) -> tuple[str, ...]:
    return tuple(
        say("step {step:,.0f}", step=step)
        if np.isnan(tokens)
        else say("step {step:,.0f}, {tokens:,.0f} tokens seen", step=step, tokens=tokens)
        for step, tokens in zip(training.step, training.tokens, strict=True)
    )


FIGURE = FigureCard("emergence", mark("What emerges in training"), "curves", build)
