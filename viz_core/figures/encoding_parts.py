"""What an encoding is made of: slopes and reach, buckets, wavelengths, or vectors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from viz_core.figures import _axes
from viz_core.figures.spec import Axis, Chart, FigureCard, FigureSpec, Heatmap, Line, Scale

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
    notes = tuple(f"head {h + 1}, slope {m:.4g}" for h, m in enumerate(part.slope) for _ in (0, 1))
    names = [f"{100 * share:.0f} %" for share in part.shares]
    lines = [
        Line(
            *(f"{name} of the mass", x, np.repeat(reach, 2), "alibi"),
            strong=name == names[0],
            label=name,
            notes=notes,
        )
        for name, reach in zip(names, part.reach.T, strict=True)
    ]
    chart = Chart(
        title="Reach by head: the stairs",
        accent="alibi",
        lines=tuple(lines),
        x=Axis("head", (0.5, heads + 0.5), ticks=_counted(1, heads)),
        y=_axes.values([part.reach.ravel()], "reach (tokens, log scale)", True, (level,)),
        levels=((level, f"trained length {part.trained_length:,}"),),
        read="within {y:,.1f} tokens",
    )
    caption = (
        f"How many of its nearest keys hold {', '.join(names)} of a query's attention, for the "
        "bias alone and keys without end; no texts read. The first is the half-life, ln 2 / m. "
        "Equal steps are equal factors from head to head."
    )
    if len(between := np.flatnonzero(np.diff(part.slope) > 0)):
        caption += (
            f" {heads} is no power of two, so from head {between[0] + 2} on slopes come from "
            "between those of the others."
        )
    return FigureSpec((chart,), caption, f"{chart.title}. {caption}")


def _buckets(part: Buckets) -> FigureSpec:
    longest = len(part.bucket)
    # distance 0 has no place on a logarithmic axis
    spans = [(n, max(a, 1), b) for n, a, b in part.spans if b > 0]
    x = np.array([end for _, a, b in spans for end in (a, b + 1)], dtype=np.float64)
    y = np.array([n for n, _, _ in spans for _ in (0, 1)], dtype=np.float64)
    notes = tuple(f"distances {_span(a, b)}" for _, a, b in spans for _ in (0, 1))
    chart = Chart(
        title="Buckets by distance: the stairs",
        accent="t5",
        lines=(Line("bucket", x, y, "t5", strong=True, notes=notes),),
        x=Axis(
            "distance between query and key (tokens, log scale)",
            (1.0, float(longest)),
            True,
            _axes.labelled(_axes.round_numbers(1, longest)),
        ),
        y=Axis("bucket", (-0.5, part.buckets + 0.5)),
        marks=((float(part.trained_length), ""),),
        read="bucket {y:.0f}",
    )
    last, first, _ = spans[-1]
    end = f"at distance {first:,} and has no end" if last == part.buckets - 1 else "past these"
    caption = (
        f"The bucket of each distance from 1 on; no texts read. The first {part.buckets // 2} hold "
        "one distance each, later ones share a scalar among more and more of them. The last, "
        f"{part.buckets - 1}, begins {end}.{_dotted(part.trained_length, longest)}"
    )
    return FigureSpec((chart,), caption, f"{chart.title}. {caption}")


def _waves(part: Waves) -> FigureSpec:
    pairs = np.arange(len(part.theta), dtype=np.float64)
    accent, name = part.encoding, part.name
    waves = [(part.plain, accent, "unscaled", "before scaling")] if part.scaling else []
    waves.append((part.theta, part.kind or accent, part.scaling, part.scaling or name))
    lines = tuple(
        Line(
            *(said, pairs, 2 * np.pi / theta, colour),
            strong=True,
            markers=True,
            label=label,
            notes=tuple(
                f"{r:,.3g} turns within L" for r in part.trained_length * theta / 2 / np.pi
            ),
        )
        for theta, colour, label, said in waves
    )
    level = float(part.trained_length)
    chart = Chart(
        title="Wavelengths by pair of channels",
        accent=accent,
        lines=lines,
        x=Axis("pair k", (-0.5, len(pairs) - 0.5), ticks=_counted(0, len(pairs) - 1)),
        y=_axes.values([x.y for x in lines], "wavelength (tokens, log scale)", True, (level,)),
        levels=((level, f"trained length {part.trained_length:,}"),),
        read="pair {x:.0f}\n{y:,.1f} tokens",
    )
    never, before = (
        int((part.trained_length * theta < 2 * np.pi).sum()) for theta in (part.theta, part.plain)
    )
    caption = (
        "How many tokens each pair of channels takes for one turn; no texts read. "
        f"{never} of {len(pairs)} pairs{f' ({before} before scaling)' * bool(part.scaling)} never "
        "complete a turn within the trained length, and past it show angles that training didn't."
    )
    return FigureSpec((chart,), caption, f"{chart.title}. {caption}")


def _vectors(part: Vectors) -> FigureSpec:
    positions, channels = len(part.value), int(part.channel[-1]) + 1
    few = f", {len(part.channel):,} of them" * (len(part.channel) < channels)
    scale = Scale("balance", -1.0, 1.0, "value", tuple((v, f"{v:+g}") for v in (-1.0, 0.0, 1.0)))
    image = Heatmap(
        title="Position vectors",
        accent="sinusoidal",
        value=part.value,
        count=np.ones(part.value.shape, dtype=np.int64),
        rows=(0, positions),
        columns=(0, channels),
        cell=1,
        unit="value",
        scale=scale,
        where=f"positions 0–{positions - 1} down, channels 0–{channels - 1:,} across{few}",
    )
    distance = np.arange(len(part.similarity), dtype=np.float64)
    chart = Chart(
        title="Similarity by distance",
        accent="sinusoidal",
        lines=(Line("similarity", distance, part.similarity, "sinusoidal", strong=True),),
        x=Axis("distance between two positions (tokens)", (0.0, float(len(distance)))),
        y=Axis("cosine of their angle", (min(-0.25, float(part.similarity.min())) - 0.05, 1.05)),
        marks=((float(part.trained_length), ""),),
        levels=((0.0, ""),),
        read="distance {x:,.0f}\ncosine {y:.3f}",
    )
    caption = (
        f"The vectors of the first positions ({image.where}), sine and cosine in turn, fast ones "
        "left and slow ones right, and the cosine between two vectors by distance; no texts read. "
        "It is the same wherever the two stand, until W_q and W_k come in between."
        f"{_dotted(part.trained_length, len(part.similarity))}"
    )
    return FigureSpec((image, chart), caption, f"{image.title}. {caption}")


def _dotted(trained: int, longest: int) -> str:
    """The end of a caption, where the trained length is marked within `longest` distances."""
    return f" Dotted: the trained length, {trained:,} tokens." if trained < longest else ""


def _span(first: int, last: int) -> str:
    return f"{first:,}" if first == last else f"{first:,}–{last:,}"


def _counted(first: int, last: int) -> tuple[tuple[float, str], ...]:
    """Ticks at whole numbers, all of them or evenly spaced ones."""
    step = -(-(last - first + 1) // MOST_TICKS)
    return _axes.labelled([float(n) for n in range(first, last + 1, step)])


FIGURE = FigureCard("encoding-parts", "What an encoding is made of", "curves", build)
