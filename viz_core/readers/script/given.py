"""Encodings with the numbers that a file has, where these aren't those of the formula."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from viz_core.encodings import Geometry, PositionEncoding, get
from viz_core.encodings.alibi import ALiBi
from viz_core.encodings.learned import Learned
from viz_core.encodings.rope import RoPE
from viz_core.encodings.sinusoidal import Sinusoidal, sinusoid
from viz_core.encodings.t5 import T5
from viz_core.readers.description import ForeignSizes
from viz_core.readers.script import rotations
from viz_core.readers.script.evidence import Evidence
from viz_core.readers.script.positions import in_blocks


class GivenFrequencies(RoPE):
    """RoPE with frequencies of its own, float64 [pair], at every length."""

    def __init__(self, geometry: Geometry, turns: Tensor, gain: float, **settings: Any) -> None:
        super().__init__(geometry, **settings)
        self.given = turns, gain

    def frequencies(self, seen: int) -> tuple[Tensor, float]:
        """The file's own, and its factor on cos and sin."""
        return self.given


class GivenSlopes(ALiBi):
    """-m_h |d|, with slopes of its own, for keys before the query and after it."""

    def __init__(self, geometry: Geometry, slope: Tensor, **settings: Any) -> None:
        super().__init__(geometry, **settings)
        self.slope = slope.float()

    def bias(self, distance: Tensor) -> Tensor:
        """-m_h |d|: [head, *distance.shape]."""
        return super().bias(distance.abs())


class GivenBuckets(T5):
    """A table [bucket, head] of its own."""

    def __init__(self, geometry: Geometry, table: Tensor, **settings: Any) -> None:
        super().__init__(geometry, **settings)
        self.table.weight = nn.Parameter(table.float(), requires_grad=False)


class GivenTable(Learned):
    """A table [position, width] of its own, added as it is."""

    def __init__(self, geometry: Geometry, table: Tensor) -> None:
        super().__init__(geometry)
        unscaled = table / geometry.width**0.5  # `embed` multiplies by it
        self.table.weight = nn.Parameter(unscaled.float(), requires_grad=False)


class SinesFirst(Sinusoidal):
    """The sinusoid with all sines before all cosines, as tensor2tensor has it."""

    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        """x [..., position, width] plus the table's rows at `positions`."""
        return x + in_blocks(sinusoid(positions, self.geometry.width, self.base)).to(x)


def each(sizes: ForeignSizes, evidence: Evidence) -> list[PositionEncoding]:
    """The encoding of each layer; layers whose numbers are equal share one."""
    made: list[PositionEncoding] = []
    for layer in range(sizes.layers):
        given = evidence.of_layer(layer)
        before = evidence.of_layer(layer - 1) if layer else None
        differ = given is not None and before is not None and not given.equal(before)
        made.append(_one(sizes, evidence, given) if differ or not made else made[-1])
    return made


def _one(sizes: ForeignSizes, evidence: Evidence, given: Tensor | None) -> PositionEncoding:
    """By the formula where the file has no numbers, or the formula's."""
    geometry, settings = sizes.geometry, dict(sizes.parameters)
    match sizes.encoding:
        case "rope" if given is not None:
            if evidence.factor != 1 or rotations.deviation(given, settings) > rotations.CLOSE:
                return GivenFrequencies(geometry, given, evidence.factor, **settings)
        case "alibi":
            if given is None:
                made = ALiBi(geometry, **settings)  # type: ignore[arg-type]
                given = made.slope
            return GivenSlopes(geometry, given, **settings)
        case "t5" if given is not None:
            return GivenBuckets(geometry, given, **settings)
        case "learned" if given is not None:
            return GivenTable(geometry, given)
        case "sinusoidal" if evidence.blocks:
            return SinesFirst(geometry, **settings)  # type: ignore[arg-type]
    return get(sizes.encoding).make(geometry, settings)
