"""Loss by position: what each further token of context is worth, and where that stops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from viz_core.figures import _axes, _words
from viz_core.figures.extrapolation import counted, spanned
from viz_core.figures.spec import Axis, Band, Chart, Dash, FigureCard, FigureSpec, Line, Values
from viz_core.words import mark, say, sentences


@dataclass(frozen=True)
class Series:
    """One model under one setting; arrays [bin], `loss` in nats per token.

    It reads `length` tokens at a time; a bin holds the tokens that have `first` .. `last` tokens
    before them.
    """

    name: str
    label: str
    accent: str
    trained_length: int
    length: int
    first: npt.NDArray[np.int64]
    last: npt.NDArray[np.int64]
    loss: Values
    low: Values
    high: Values
    tokens: npt.NDArray[np.int64]
    documents: npt.NDArray[np.int64]
    dash: Dash = "solid"
    shade: float | None = None


def build(
    series: Sequence[Series], text: str, perplexity: bool = False, title: str = ""
) -> FigureSpec:
    """All `series` on one pair of axes; each point stands in the geometric middle of its bin."""
    lines, seen = [], []
    form = "{:,.2f}" if perplexity else "{:.3f}"
    for s in series:
        y, low, high = (np.exp(v) if perplexity else v for v in (s.loss, s.low, s.high))
        notes = tuple(
            say("positions {first:,} to {last:,}", first=a, last=b)
            + ("\n" + _words.between(form.format(c), form.format(d)) if np.isfinite(c) else "")
            + "\n"
            + say("{tokens:,} tokens, {documents}", tokens=t, documents=counted(k))
            for a, b, c, d, t, k in zip(
                s.first, s.last, low, high, s.tokens, s.documents, strict=True
            )
        )
        x = np.sqrt(np.maximum(s.first, 1) * np.maximum(s.last, 1).astype(np.float64))
        lines.append(
            Line(
                *(s.name, x, y, s.accent, s.shade, s.dash),
                strong=True,
                band=Band(low, high, say("95 % interval")),
                markers=True,
                label=s.label,
                notes=notes,
            )
        )
        seen += [y, low, high]
    what = say("Perplexity") if perplexity else say("Loss")
    unit = say("perplexity (log scale)") if perplexity else say("loss (nats per token)")
    x_label = say("position (tokens before the predicted one, log scale)")
    x_axis = _axes.lengths([float(v) for line in lines for v in line.x], x_label)
    chart = Chart(
        title=say("{title} · by position", title=title or what),
        accent="ink",
        lines=tuple(lines),
        x=_wide(x_axis),
        y=_axes.values(seen, unit, perplexity),
        marks=tuple(_words.trained(n) for n in sorted({s.trained_length for s in series})),
        marks_on_top=True,
        read="{y:,.2f}" if perplexity else say("{y:.3f} nats"),
    )
    tokens = np.concatenate([s.tokens for s in series])
    documents = np.concatenate([s.documents for s in series])
    caption = say(
        "{what} by position on {text}, in inputs of {inputs}: means over {tokens} tokens of "
        "{documents} in each bin; points stand in the bins' geometric middles.",
        what=what,
        text=text,
        inputs=_inputs(series),
        tokens=spanned(tokens),
        documents=counted(documents),
    )
    if any(np.isfinite(s.low).any() for s in series):
        bands = say("Bands: 95 % bootstrap intervals over documents.")
        caption = sentences(caption, bands)
    names = _words.rowed(s.name for s in series)
    alt = say("{what} by position: {names}.", what=what, names=names)
    return FigureSpec((chart,), caption, sentences(alt, caption))


def _inputs(series: Sequence[Series]) -> str:
    """ "4,096 tokens", with those that can't read so many."""
    longest = max(s.length for s in series)
    less = _words.listed(f"{s.name}: {s.length:,}" for s in series if s.length < longest)
    if not less:
        return say("{length:,} tokens", length=longest)
    return say("{length:,} tokens ({less})", length=longest, less=less)


def _wide(axis: Axis) -> Axis:
    """The axis with every second power of two labelled: positions span many."""
    ticks = axis.ticks or ()
    return Axis(axis.label, axis.range, True, ticks[::2] if len(ticks) > 8 else ticks)


FIGURE = FigureCard("position-loss", mark("Loss by position"), "curves", build)
