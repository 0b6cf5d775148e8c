"""A training recipe: every number that a run depends on, read from `checkpoints/recipe.toml`."""

from __future__ import annotations

import hashlib
import json
import math
import tomllib
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from viz_core.errors import UnknownName, UsageError
from viz_core.model import ModelConfig
from viz_core.training.mixture import Stage
from viz_core.words import mark

RECIPES = Path(__file__).parents[2] / "checkpoints" / "recipe.toml"


@dataclass(frozen=True)
class Recipe:
    """Sizes, data and optimiser of one run; comments on each stand in the file."""

    name: str
    layers: int
    heads: int
    width: int
    mlp: int
    vocabulary: int
    length: int
    passes: int
    batch: int
    rate: float
    warmup: int
    decay: float
    clip: float
    seed: int
    validate_every: int
    precision: str  # of products in training: float32, or bfloat16 by autocast
    optimiser: str = "adamw"  # of the matrices of linear layers; or "muon"
    other_rate: float | None = None  # AdamW's peak for all else; None: `rate`
    own_rate: float | None = None  # for what an encoding learns; None: as for all else
    cooldown: float | None = None  # share of steps over which the rate falls to 0; None: a cosine
    stages: tuple[Stage, ...] = ()  # in place of `passes` over plain text
    budget: float = 1.0  # the share of its stages' tokens that a run takes

    @property
    def values(self) -> dict[str, Any]:
        """All that is set, in JSON types: what was added later is left out where it isn't, so that
        older recipes keep their hash."""
        unset = {f.name for f in fields(self) if getattr(self, f.name) == f.default}
        found = {name: value for name, value in asdict(self).items() if name not in unset}
        plain: dict[str, Any] = json.loads(json.dumps(found))
        return plain

    @property
    def sha256(self) -> str:
        """A hash of all values: two runs with the same one differ in the encoding alone."""
        return hashlib.sha256(json.dumps(self.values, sort_keys=True).encode()).hexdigest()

    def with_values(self, pairs: Sequence[str]) -> Recipe:
        """This recipe with numbers of its own, each as "NAME=VALUE"; its hash is another then.

        Raises UsageError for what isn't a pair, a number, or a name of one.
        """
        numbers = {f.name: f.type for f in fields(self) if f.type in ("int", "float")}
        numbers |= {f.name: "float" for f in fields(self) if f.type == "float | None"}
        values: dict[str, Any] = {}
        for pair in pairs:
            name, _, value = pair.partition("=")
            try:
                values[name] = {"int": int, "float": float}[numbers[name]](value)
            except (KeyError, ValueError):
                raise UsageError(
                    f"Expected a number of the recipe as NAME=VALUE ({', '.join(numbers)}); "
                    f"got {pair!r}."
                ) from None
        return replace(self, **values)

    def model(self, encoding: str, parameters: dict[str, int | float | str]) -> ModelConfig:
        """The configuration of the model that this recipe trains."""
        return ModelConfig(
            encoding=encoding,
            layers=self.layers,
            heads=self.heads,
            width=self.width,
            mlp=self.mlp,
            vocabulary=self.vocabulary,
            length=self.length,
            parameters=parameters,
        )

    def learning_rate(self, step: int, steps: int) -> float:
        """The rate of `step` (from 0) of `steps`: linear warm-up, then a cosine to a tenth; with a
        `cooldown`, the peak until then and a line to 0."""
        if step < self.warmup:
            return self.rate * (step + 1) / self.warmup
        if self.cooldown is not None:
            return self.rate * min(1.0, (steps - step) / max(self.cooldown * steps, 1))
        done = (step - self.warmup) / max(steps - self.warmup, 1)
        return self.rate * (0.55 + 0.45 * math.cos(math.pi * done))


def load(name: str = "shipped", path: Path = RECIPES) -> Recipe:
    """The recipe called `name`; `UnknownName` with the known ones otherwise."""
    recipes = tomllib.loads(path.read_text(encoding="utf-8"))
    if name not in recipes:
        raise UnknownName(mark("a recipe"), name, list(recipes))
    values = dict(recipes[name])
    stages = values.pop("stages", [])
    parts = tuple(Stage(**{**s, "periods": tuple(s.get("periods", Stage.periods))}) for s in stages)
    return Recipe(name=name, stages=parts, **values)
