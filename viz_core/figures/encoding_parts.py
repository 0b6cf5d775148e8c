"""What an encoding is made of: slopes and reach, buckets, wavelengths, or vectors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from viz_core.figures import _axes, _words
from viz_core.figures.spec import Axis, Chart, FigureCard, FigureSpec, Heatmap, Line, Scale
from viz_core.words import mark, say, sentences

MOST_TICKS = 16  # of heads or pairs along an axis

Array = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Stairs:
    """ALiBi: slopes [head], nats per token, and the distances [head, share] that hold `shares` of
    a query's attention when there is no content and no end to the keys, tokens."""

    slope: Array
    reach: Array
    shares: tuple[float, ...]
    trained_length: int


@dataclass(frozen=True)
class Buckets:
    """T5: the bucket of each distance, [distance], and how many buckets there are in all."""

    bucket: Integers
    buckets: int
    trained_length: int

    @property
    def spans(self) -> list[tuple[int, int, int]]:
        """(bucket, first distance, last distance) as far as the distances go."""
        edges = np.flatnonzero(np.diff(self.bucket, prepend=-1))
        ends = [*(edges[1:] - 1), len(self.bucket) - 1]
        return [(int(self.bucket[a]), int(a), int(b)) for a, b in zip(edges, ends, strict=True)]


@dataclass(frozen=True)
class Waves:
    """RoPE and its kin: angles per token [pair], and what they were before `scaling`, if any.

    `kind` is the scaling's name in the palette, `scaling` its words; `encoding` and `name` are the
    encoding's. Pairs that don't turn are left out.
    """

    theta: Array
    plain: Array
    trained_length: int
    kind: str = ""
    scaling: str = ""
    encoding: str = "rope"
    name: str = "RoPE"


@dataclass(frozen=True)
class Vectors:
    """Sinusoidal: vectors [position, column] of the first positions, the channel of each column,
    and the cosine of the angle between two vectors by distance, [distance]."""

    value: Array
    channel: Integers
    similarity: Array
    trained_length: int


Part = Stairs | Buckets | Waves | Vectors


def build(part: Part) -> FigureSpec:
    """The figure that belongs to the kind of `part`."""
    match part:
        case Stairs():
            return _stairs(part)
        case Buckets():
            return _buckets(part)
        case Waves():
            return _waves(part)
        case Vectors():
            return _vectors(part)


def _stairs(part: Stairs) -> FigureSpec:
    heads, level = len(part.slope), float(part.trained_length)
    x = np.repeat(np.arange(heads) + 0.5, 2) + np.tile([0.0, 1.0], heads)  # a step per head
    notes = tuple(
        say("head {head}, slope {slope:.4g}", head=h + 1, slope=m)
        for h, m in enumerate(part.slope)
        for _ in (0, 1)
    )
    names = [say("{percent:.0f} %", percent=100 * share) for share in part.shares]
    lines = [
        Line(
            *(say("{share} of the mass", share=name), x, np.repeat(reach, 2), "alibi"),
            strong=name == names[0],
            label=name,
            notes=notes,
        )
        for name, reach in zip(names, part.reach.T, strict=True)
    ]
    chart = Chart(
        title=say("Reach by head: the stairs"),
        accent="alibi",
        lines=tuple(lines),
        x=Axis(say("head"), (0.5, heads + 0.5), ticks=_counted(1, heads)),
        y=_axes.values([part.reach.ravel()], say("reach (tokens, log scale)"), True, (level,)),
        levels=(_words.trained(part.trained_length),),
        read=say("within {y:,.1f} tokens"),
    )
    caption = say(
        "How many of its nearest keys hold {shares} of a query's attention, for the bias alone and "
        "keys without end; no texts read. The first is the half-life, ln 2 / m. Equal steps are "
        "equal factors from head to head.",
        shares=_words.listed(names),
    )
    if len(between := np.flatnonzero(np.diff(part.slope) > 0)):
        broken = say(
            "{heads} is no power of two, so from head {head} on slopes come from between those of "
            "the others.",
            heads=heads,
            head=between[0] + 2,
        )
        caption = sentences(caption, broken)
    return FigureSpec((chart,), caption, _titled(chart.title, caption))


def _buckets(part: Buckets) -> FigureSpec:
    longest = len(part.bucket)
    # distance 0 has no place on a logarithmic axis
    spans = [(n, max(a, 1), b) for n, a, b in part.spans if b > 0]
    x = np.array([end for _, a, b in spans for end in (a, b + 1)], dtype=np.float64)
    y = np.array([n for n, _, _ in spans for _ in (0, 1)], dtype=np.float64)
    notes = tuple(say("distances {span}", span=_span(a, b)) for _, a, b in spans for _ in (0, 1))
    chart = Chart(
        title=say("Buckets by distance: the stairs"),
        accent="t5",
        lines=(Line(say("bucket"), x, y, "t5", strong=True, notes=notes),),
        x=Axis(
            say("distance between query and key (tokens, log scale)"),
            (1.0, float(longest)),
            True,
            _axes.labelled(_axes.round_numbers(1, longest)),
        ),
        y=Axis(say("bucket"), (-0.5, part.buckets + 0.5)),
        marks=((float(part.trained_length), ""),),
        read=say("bucket {y:.0f}"),
    )
    last, first, _ = spans[-1]
    end = part.buckets - 1
    caption = sentences(
        say(
            "The bucket of each distance from 1 on; no texts read. The first {half} hold one "
            "distance each, later ones share a scalar among more and more of them.",
            half=part.buckets // 2,
        ),
        say(
            "The last, {bucket}, begins at distance {first:,} and has no end.",
            bucket=end,
            first=first,
        )
        if last == end
        else say("The last, {bucket}, begins past these.", bucket=end),
        _words.dotted(part.trained_length, longest),
    )
    return FigureSpec((chart,), caption, _titled(chart.title, caption))


def _waves(part: Waves) -> FigureSpec:
    pairs = np.arange(len(part.theta), dtype=np.float64)
    accent, name = part.encoding, part.name
    before_it = (part.plain, accent, say("unscaled"), say("before scaling"))
    waves = [before_it] if part.scaling else []
    waves.append((part.theta, part.kind or accent, part.scaling, part.scaling or name))
    lines = tuple(
        Line(
            *(said, pairs, 2 * np.pi / theta, colour),
            strong=True,
            markers=True,
            label=label,
            notes=tuple(
                say("{turns:,.3g} turns within L", turns=r)
                for r in part.trained_length * theta / 2 / np.pi
            ),
        )
        for theta, colour, label, said in waves
    )
    level = float(part.trained_length)
    chart = Chart(
        title=say("Wavelengths by pair of channels"),
        accent=accent,
        lines=lines,
        x=Axis(say("pair k"), (-0.5, len(pairs) - 0.5), ticks=_counted(0, len(pairs) - 1)),
        y=_axes.values([x.y for x in lines], say("wavelength (tokens, log scale)"), True, (level,)),
        levels=(_words.trained(part.trained_length),),
        read=say("pair {x:.0f}\n{y:,.1f} tokens"),
    )
    never, before = (
        int((part.trained_length * theta < 2 * np.pi).sum()) for theta in (part.theta, part.plain)
    )
    slow = {"never": never, "pairs": len(pairs)}
    caption = (
        say(
            "How many tokens each pair of channels takes for one turn; no texts read. {never} of "
            "{pairs} pairs ({before} before scaling) never complete a turn within the trained "
            "length, and past it show angles that training didn't.",
            **slow,
            before=before,
        )
        if part.scaling
        else say(
            "How many tokens each pair of channels takes for one turn; no texts read. {never} of "
            "{pairs} pairs never complete a turn within the trained length, and past it show "
            "angles that training didn't.",
            **slow,
        )
    )
    return FigureSpec((chart,), caption, _titled(chart.title, caption))


def _vectors(part: Vectors) -> FigureSpec:
    positions, channels = len(part.value), int(part.channel[-1]) + 1
    about = {"position": positions - 1, "channel": channels - 1}
    where = (
        say(
            "positions 0–{position} down, channels 0–{channel:,} across, {shown:,} of them",
            **about,
            shown=len(part.channel),
        )
        if len(part.channel) < channels
        else say("positions 0–{position} down, channels 0–{channel:,} across", **about)
    )
    ticks = tuple((v, f"{v:+g}") for v in (-1.0, 0.0, 1.0))
    image = Heatmap(
        title=say("Position vectors"),
        accent="sinusoidal",
        value=part.value,
        count=np.ones(part.value.shape, dtype=np.int64),
        rows=(0, positions),
        columns=(0, channels),
        cell=1,
        unit="value",
        scale=Scale("balance", -1.0, 1.0, say("value"), ticks),
        where=where,
    )
    distance = np.arange(len(part.similarity), dtype=np.float64)
    chart = Chart(
        title=say("Similarity by distance"),
        accent="sinusoidal",
        lines=(Line(say("similarity"), distance, part.similarity, "sinusoidal", strong=True),),
        x=Axis(say("distance between two positions (tokens)"), (0.0, float(len(distance)))),
        y=Axis(
            say("cosine of their angle"), (min(-0.25, float(part.similarity.min())) - 0.05, 1.05)
        ),
        marks=((float(part.trained_length), ""),),
        levels=((0.0, ""),),
        read=say("distance {x:,.0f}\ncosine {y:.3f}"),
    )
    caption = sentences(
        say(
            "The vectors of the first positions ({where}), sine and cosine in turn, fast ones left "
            "and slow ones right, and the cosine between two vectors by distance; no texts read. "
            "It is the same wherever the two stand, until W_q and W_k come in between.",
            where=where,
        ),
        _words.dotted(part.trained_length, len(part.similarity)),
    )
    return FigureSpec((image, chart), caption, _titled(image.title, caption))


def _titled(title: str, caption: str) -> str:
    """Alt text: what a caption says, after the title that people see above it."""
    return sentences(say("{title}.", title=title), caption)


def _span(first: int, last: int) -> str:
    return f"{first:,}" if first == last else f"{first:,}–{last:,}"


def _counted(first: int, last: int) -> tuple[tuple[float, str], ...]:
    """Ticks at whole numbers, all of them or evenly spaced ones."""
    step = -(-(last - first + 1) // MOST_TICKS)
    return _axes.labelled([float(n) for n in range(first, last + 1, step)])


FIGURE = FigureCard("encoding-parts", mark("What an encoding is made of"), "curves", build)
