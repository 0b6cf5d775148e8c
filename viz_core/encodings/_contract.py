"""What every position encoding says about itself, and the three places where one can act.

A Transformer meets position in at most three places: the vectors that enter the first layer,
the queries and keys of each layer, and the attention logits. An encoding overrides those of
`embed`, `rotate` and `bias` that it uses; the model calls all three and knows nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from viz_core.errors import UnknownName, UsageError
from viz_core.words import say

Value = int | float | str


@dataclass(frozen=True)
class Parameter:
    """One knob of an encoding: its default, its range (or its choices), and what it does (marked).

    `aside`: a detail of how some models use the encoding, shown only where it isn't the default.
    """

    name: str
    default: Value
    help: str
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    aside: bool = False

    def check(self, value: object) -> Value:
        """`value` as this parameter's type; `UsageError` when it is outside range or choices."""
        if self.choices:
            if value not in self.choices:
                raise UnknownName(self.name, value, list(self.choices))
            return str(value)
        kind = type(self.default)
        try:
            number = kind(value)  # type: ignore[arg-type, call-overload]
            if isinstance(value, bool) or number != float(value):  # type: ignore[arg-type]
                number = None  # NaN, or a fraction where a whole number belongs
        except (TypeError, ValueError, OverflowError):
            number = None
        low = float("-inf") if self.low is None else self.low
        high = float("inf") if self.high is None else self.high
        if number is None or isinstance(number, str) or not low <= number <= high:
            facts = {"name": self.name, "low": low, "high": high, "value": value}
            if kind is int:
                raise UsageError(
                    say(
                        "Expected {name} a whole number between {low:g} and {high:g}; "
                        "got {value!r}.",
                        **facts,
                    )
                )
            raise UsageError(
                say("Expected {name} between {low:g} and {high:g}; got {value!r}.", **facts)
            )
        return number


@dataclass(frozen=True)
class Geometry:
    """The sizes of the model that an encoding serves. `length` is the trained length in tokens."""

    heads: int
    head_dim: int
    width: int
    length: int


@dataclass(frozen=True)
class Paper:
    """Where the formula comes from."""

    authors: str
    year: int
    title: str
    url: str


class PositionEncoding(nn.Module):
    """The maths of one encoding at one geometry; by itself it does nothing (that is NoPE)."""

    def __init__(self, geometry: Geometry) -> None:
        super().__init__()
        self.geometry = geometry

    @property
    def longest(self) -> int | None:
        """The largest number of positions that has a value; None when there is no end."""
        return None

    @property
    def limit(self) -> str:
        """What ends at `longest`, in words that follow "undefined past"."""
        return say("its {longest:,} trained positions", longest=self.longest)

    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        """Token vectors [..., position, width] with position added, for `positions` [position]."""
        return x

    def rotate(self, x: Tensor, positions: Tensor, seen: int) -> Tensor:
        """Queries [..., head, position, channel] as they enter the dot product.

        `seen` is the number of positions that exist in the sequence so far (dynamic NTK).
        """
        return x

    def rotate_key(self, x: Tensor, positions: Tensor, seen: int) -> Tensor:
        """Keys as they enter the dot product; as queries, unless an encoding says otherwise."""
        return self.rotate(x, positions, seen)

    def unrotate(self, x: Tensor, positions: Tensor, seen: int) -> Tensor:
        """What `rotate` was given, from what it returned."""
        return x

    def unrotate_key(self, x: Tensor, positions: Tensor, seen: int) -> Tensor:
        """What `rotate_key` was given, from what it returned."""
        return self.unrotate(x, positions, seen)

    def bias(self, distance: Tensor) -> Tensor | None:
        """What is added to the logits at `distance` = query - key (any shape, >= 0, tokens).

        Returns [head, *distance.shape] in nats, float32 or wider; None when nothing is added.
        """
        return None

    def law(self, distance: Tensor, query: Tensor, key: Tensor, scale: float) -> Tensor | None:
        """The encoding's own curve of log-attention by distance, up to a constant per head.

        `query`, `key` are a head's mean vectors before any rotation [head, channel], `scale` is
        what the model multiplies dot products by. Returns [head, distance] in nats; None where an
        encoding has no law of its own.
        """
        return self.bias(distance)


@dataclass(frozen=True)
class Encoding:
    """The card of one encoding: names, formula, paper, parameters, and how to build it.

    Its sentences are marked: `words.say` says them.
    """

    id: str
    name: str
    acts_on: str  # "nothing", "embeddings", "logits" or "queries and keys"
    paper: Paper
    latex: str
    summary: str
    beyond: str  # what happens past the trained length
    law: str  # what the dashed curve is, or why there is none
    build: Callable[..., PositionEncoding]
    parameters: tuple[Parameter, ...] = ()

    def settings(self, values: Mapping[str, object] | None = None) -> dict[str, Value]:
        """All parameters with `values` laid over the defaults; `UsageError` on a wrong one.

        Those aside are left out where they are at their default.
        """
        values = dict(values or {})
        known = {p.name: p for p in self.parameters}
        for name in values:
            if name not in known:
                what = say("a parameter of {encoding}", encoding=self.id)
                raise UnknownName(what, name, sorted(known) or [say("none")])
        every = {n: p.check(values.get(n, p.default)) for n, p in known.items()}
        return {n: v for n, v in every.items() if not known[n].aside or v != known[n].default}

    def make(
        self, geometry: Geometry, values: Mapping[str, object] | None = None
    ) -> PositionEncoding:
        """The encoding's module for `geometry`, with `values` over its default parameters."""
        return self.build(geometry, **self.settings(values))


def arange(start: int, count: int, like: Tensor) -> Tensor:
    """Positions start .. start + count - 1 on the device of `like`."""
    return torch.arange(start, start + count, device=like.device)
