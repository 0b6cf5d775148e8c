"""Perplexity by length: what a longer text does to each model past its trained length."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from viz_core.figures import _axes, _words
from viz_core.figures.spec import Band, Chart, Dash, FigureCard, FigureSpec, Line, Values
from viz_core.words import mark, say, sentences

Measure = Literal["perplexity", "loss", "difference"]
TITLES = {  # of a chart, of the alt text and of the caption, by measure
    "perplexity": (
        mark("Perplexity · {protocol}"),
        mark("Perplexity by length: {names}."),
        mark("Perplexity on {text}, {protocol}: {how}."),
    ),
    "loss": (
        mark("Loss · {protocol}"),
        mark("Loss by length: {names}."),
        mark("Loss on {text}, {protocol}: {how}."),
    ),
    "difference": (
        mark("Loss less that with the context cut to the trained length · {protocol}"),
        mark("Loss less that with the context cut to the trained length, by length: {names}."),
        mark(
            "Loss less that with the context cut to the trained length, on {text}, {protocol}: "
            "{how}."
        ),
    ),
}
LABELS = {
    "perplexity": mark("perplexity (log scale)"),
    "loss": mark("loss (nats per token)"),
    "difference": mark("loss less that at L (nats per token)"),
}
READ = {
    "perplexity": mark("N = {x:,.0f}\n{y:,.2f}"),
    "loss": mark("N = {x:,.0f}\n{y:.3f} nats"),
    "difference": mark("N = {x:,.0f}\n{y:+.3f} nats"),
}


@dataclass(frozen=True)
class Series:
    """One model under one setting, by length; all arrays [length].

    `loss` in nats per token with its 95 % interval `low`, `high`; NaN where it is undefined, and
    `note` says why. `difference` and its interval: loss less that of the model as trained on the
    same tokens with its context cut to `trained_length`; NaN where the protocol has none. With
    `cut` that model's level is drawn as well.
    """

    name: str
    label: str
    accent: str
    trained_length: int
    length: npt.NDArray[np.int64]
    loss: Values
    low: Values
    high: Values
    difference: Values
    difference_low: Values
    difference_high: Values
    tokens: npt.NDArray[np.int64]
    documents: npt.NDArray[np.int64]
    note: str = ""
    cut: bool = True
    dash: Dash = "solid"
    shade: float | None = None


def build(
    series: Sequence[Series],
    protocol: str,
    description: str,
    text: str,
    measure: Measure = "perplexity",
    title: str = "",
) -> FigureSpec:
    """All `series` on one pair of axes, measured under one `protocol`, which the figure names.

    The levels of models with their context cut to the trained length are thin and dashed.
    """
    lines, seen = [], []
    for s in series:
        y, low, high = _shown(s, measure)
        lines.append(
            Line(
                s.name,
                s.length.astype(np.float64),
                y,
                s.accent,
                s.shade,
                s.dash,
                strong=True,
                band=Band(low, high, say("95 % interval")),
                markers=True,
                label=s.label,
                notes=_notes(s, low, high, measure),
            )
        )
        seen += [y, low, high]
        past = np.isfinite(s.difference) & (s.length >= s.trained_length)
        if s.cut and measure != "difference" and past.any():
            flat = s.loss - s.difference
            flat = np.where(past, np.exp(flat) if measure == "perplexity" else flat, np.nan)
            name = say("{name}, context cut to {length:,}", name=s.name, length=s.trained_length)
            lines.insert(0, Line(name, s.length.astype(np.float64), flat, s.accent, dash="dash"))
            seen.append(flat)
    lengths = [float(n) for s in series for n in s.length]
    y_axis = _axes.values(seen, say(LABELS[measure]), measure == "perplexity", _zero(measure))
    heading, by_length, _ = TITLES[measure]
    chart = Chart(
        title=say("{title} · {protocol}", title=title, protocol=protocol.lower())
        if title
        else say(heading, protocol=protocol.lower()),
        accent="ink",
        lines=tuple(lines),
        x=_axes.lengths(lengths, say("context length N (tokens, log scale)")),
        y=y_axis,
        marks=tuple(
            _words.trained(n)
            for n in sorted({s.trained_length for s in series} - {0})  # 0: unknown
        ),
        levels=((0.0, ""),) if measure == "difference" else (),
        marks_on_top=True,
        read=say(READ[measure]),
    )
    caption = _caption(series, protocol, description, text, measure, len(lines) > len(series))
    alt = say(by_length, names=_words.rowed(s.name for s in series))
    return FigureSpec((chart,), caption, sentences(alt, caption))


def _shown(s: Series, measure: Measure) -> tuple[Values, Values, Values]:
    if measure == "difference":
        return s.difference, s.difference_low, s.difference_high
    if measure == "loss":
        return s.loss, s.low, s.high
    return np.exp(s.loss), np.exp(s.low), np.exp(s.high)


def _zero(measure: Measure) -> tuple[float, ...]:
    return (0.0,) if measure == "difference" else ()


def _notes(s: Series, low: Values, high: Values, measure: Measure) -> tuple[str, ...]:
    form = "{:,.2f}" if measure == "perplexity" else "{:.3f}"
    return tuple(
        (_words.between(form.format(a), form.format(b)) + "\n" if np.isfinite(a) else "")
        + say("{tokens:,} tokens, {documents}", tokens=t, documents=counted(d))
        for a, b, t, d in zip(low, high, s.tokens, s.documents, strict=True)
    )


def _caption(
    series: Sequence[Series],
    protocol: str,
    description: str,
    text: str,
    measure: Measure,
    cut: bool,
) -> str:
    tokens = np.concatenate([s.tokens for s in series])
    documents = np.concatenate([s.documents for s in series])
    notes = {s.name: s.note for s in series if s.note}
    return sentences(
        say(
            TITLES[measure][2], text=text, protocol=protocol.lower(), how=description.rstrip(".。")
        ),
        say(
            "Means over {tokens} tokens of {documents} at each length.",
            tokens=spanned(tokens),
            documents=counted(documents),
        ),
        say("Bands: 95 % bootstrap intervals over documents.")
        if any(np.isfinite(s.low).any() for s in series)
        else "",
        say("Thin dashed lines: the model as trained, its context cut to its trained length.")
        if cut
        else "",
        *(say("{name}: {note}.", name=name, note=note) for name, note in notes.items()),
    )


def spanned(counts: npt.ArrayLike) -> str:
    """ "8,400", or "4,096 to 8,400" where counts differ; those of 0 left out."""
    known = np.asarray(counts)
    known = known[known > 0]
    if not len(known):
        return say("no")
    low, high = int(known.min()), int(known.max())
    return f"{low:,}" if low == high else say("{low:,} to {high:,}", low=low, high=high)


def counted(documents: npt.ArrayLike) -> str:
    """ "42 documents" or "1 document"."""
    count = spanned(documents)
    return say("1 document") if count == "1" else say("{count} documents", count=count)


FIGURE = FigureCard("extrapolation", mark("Perplexity by length"), "curves", build)
