"""What an encoding does by position alone: arrays from its own module, without weights or text.

What training would fill in has a stand-in, or there is nothing to show: a random start is no
result. RoPE and its kin turn constant queries and keys, T5's table falls evenly by bucket,
KERPLE's two numbers are the reader's, and sinusoidal vectors meet each other directly.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from viz_core import attention, encodings
from viz_core.alone import words
from viz_core.alone.words import STAND_INS, knobs
from viz_core.encodings import Encoding, Geometry, PositionEncoding, Value
from viz_core.encodings.kerple import KERPLE
from viz_core.encodings.rope import RoPE, envelope, to_interleaved
from viz_core.encodings.sinusoidal import Sinusoidal
from viz_core.encodings.t5 import T5
from viz_core.errors import UsageError
from viz_core.subject import LayerTrace
from viz_core.trace import Trace
from viz_core.types import Range, Window
from viz_core.words import say

__all__ = ["PIXELS", "Alone", "bound", "knobs", "make", "trained", "vectors", "window"]

PIXELS = 512  # on a side of a map, at most
BLOCK = 1024  # position vectors at a time: wide models have large ones

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Alone:
    """One encoding at one geometry, on `length` positions and nothing else.

    `values` are all its knobs; `module` has what stands for training put in.
    """

    card: Encoding
    module: PositionEncoding
    values: dict[str, Value]
    length: int

    @cached_property
    def law(self) -> Array | None:
        """The logit by distance, [head, distance] in nats; one row where all heads are alike.

        None where the encoding has no value before training.
        """
        found = _law(self.card, self.module, self.values, self.length)
        if found is None:
            return None
        law: Array = found.detach().double().numpy()
        return law[:1] if (law == law[:1]).all() else law

    @property
    def title(self) -> str:
        """The name, with whatever is not at its default."""
        return words.title(self.card, self.values)

    @property
    def standing(self) -> str:
        """What the logits are made of."""
        return words.standing(self.card, self.values)

    def of(self, head: int) -> str:
        """The title with the head (from 0) that is meant."""
        alike = self.law is None or len(self.law) == 1
        if alike:
            return say("{title} · every head", title=self.title)
        return say("{title} · head {head}", title=self.title, head=head + 1)

    def curve(self, head: int) -> Array:
        """The law of one head, [distance]."""
        assert self.law is not None
        law: Array = self.law[min(head, len(self.law) - 1)]
        return law

    def window(self, head: int, box: tuple[Range, Range] | None = None) -> Window:
        """The attention map of one head, whole or in part: the softmax of its law over the keys."""
        return window(self.curve(head), box)


def make(encoding: str, given: Mapping[str, Value], geometry: Geometry, length: int) -> Alone:
    """The encoding called `encoding` with those of its knobs that are `given`, on `length` tokens.

    Raises UnknownName for an encoding that isn't there, UsageError for values or sizes that it
    can't have.
    """
    card = encodings.get(encoding)
    extra = {p.name: p for p in STAND_INS.get(card.id, ())}
    values = card.settings({n: v for n, v in given.items() if n not in extra})
    with torch.device("meta"):  # sizes alone: a table of untrained numbers may be of any size
        module = card.make(geometry, values)
    if extra or not trained(module):
        module = card.make(geometry, values)
    values |= {n: p.check(given.get(n, p.default)) for n, p in extra.items()}
    if isinstance(module, T5):
        even = -float(values["fall"]) * torch.arange(module.buckets)
        module.table.weight.data.copy_(even[:, None])
    if isinstance(module, KERPLE):
        module.r1.data.fill_(float(values["r1"]))
        module.r2.data.fill_(float(values["r2"]))
    if isinstance(module, Sinusoidal) and geometry.width % 2:
        raise UsageError(
            say(
                "Expected an even model width for sinusoidal positions, which come as pairs of "
                "sine and cosine; got {heads} x {head_dim} = {width}, so choose an even head "
                "width.",
                heads=geometry.heads,
                head_dim=geometry.head_dim,
                width=geometry.width,
            )
        )
    return Alone(card, module, values, length)


def trained(module: PositionEncoding) -> int:
    """How many numbers of an encoding only training can set."""
    return sum(p.numel() for p in module.parameters())


def vectors(module: PositionEncoding, positions: range) -> Array:
    """What the encoding adds to the token vectors at `positions`: [position, width]."""
    nothing = torch.zeros(len(positions), module.geometry.width, dtype=torch.float64)
    return np.asarray(module.embed(nothing, torch.tensor(positions)).detach().numpy())


def bound(a: Alone) -> Array | None:
    """Su's factor mean |S_j| by distance, [distance]; None but for RoPE at its own frequencies."""
    if type(a.module) is not RoPE or a.values["scaling"] != "none":  # kin shrink or stand still
        return None
    distance = torch.arange(a.length)
    return np.asarray(envelope(distance, a.module.geometry.head_dim, a.module.theta).numpy())


def window(law: Array, box: tuple[Range, Range] | None = None) -> Window:
    """The map A[i, j] = softmax over j <= i of law[i - j], for `law` [distance] in nats.

    One head of the core's own window: the mean of A over each cell, exact token by token where
    they are few.
    """
    row = torch.from_numpy(np.ascontiguousarray(law))[None]
    still = row.new_zeros(1, len(law), 1)
    layer = LayerTrace(still, still, row.logcumsumexp(-1))
    rows, columns = box or (None, None)
    alike = Trace.alike((layer,), _Given(row), 1.0)
    return attention.window(alike, 0, rows, columns, PIXELS)


class _Given(PositionEncoding):
    """No encoding but a given curve, so that the core's windows can be had of any."""

    def __init__(self, row: Tensor) -> None:
        super().__init__(Geometry(1, 1, 1, row.shape[-1]))
        self.row = row

    def bias(self, distance: Tensor) -> Tensor:
        """[1, *distance.shape]."""
        return self.row[:, distance]


def _law(
    card: Encoding, module: PositionEncoding, values: Mapping[str, Value], length: int
) -> Tensor | None:
    g = module.geometry
    distance = torch.arange(length)
    if isinstance(module, Sinusoidal):  # a product of two vectors knows their distance alone
        first = vectors(module, range(1))[0]
        blocks = (range(a, min(a + BLOCK, length)) for a in range(0, length, BLOCK))
        gram = np.concatenate([vectors(module, block) @ first for block in blocks])
        return torch.from_numpy(gram * g.width**-0.5)[None]
    if card.id not in STAND_INS and trained(module):
        return None
    turning = module.rotary if isinstance(module, RoPE) else 0  # channels
    turned = torch.zeros(g.heads, g.head_dim)  # each pair at angle 0, of length 1
    turned[:, : turning // 2] = 1
    turned[:, turning : (turning + g.head_dim) // 2] = 1
    if values.get("layout") == "interleaved":
        turned = to_interleaved(turned)
    return module.law(distance, turned, turned, g.head_dim**-0.5)
