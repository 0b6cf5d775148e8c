"""The encoding of each layer of a loaded model.

RoPE is our formula at the model's settings where that gives the model's own frequencies, and the
model's own frequencies elsewhere; T5's tables are the model's weights.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from torch import nn

from viz_core.encodings import Geometry, PositionEncoding, get
from viz_core.encodings.alibi import slopes
from viz_core.encodings.nope import NoPE
from viz_core.encodings.rope import RoPE
from viz_core.encodings.t5 import T5
from viz_core.errors import UsageError
from viz_core.readers.description import ForeignSizes
from viz_core.readers.huggingface import sizes
from viz_core.readers.huggingface.families import FAMILIES
from viz_core.readers.huggingface.given import Absolute, GivenRoPE, Sloped, difference

CLOSE = 1e-5  # relative: frequencies in float32 against ours in float64


def encodings(model: nn.Module, config: Any, said: ForeignSizes) -> tuple[PositionEncoding, ...]:
    """One encoding per layer of `model` (a stack of layers); layers that are alike share theirs."""
    if said.encoding == "rope":
        made: dict[tuple[str, bool], PositionEncoding] = {}
        keys = [(sizes.turning(config, i), sizes.bare(config, i)) for i in range(said.layers)]
        for kind, without in keys:
            if (kind, without) not in made:
                none = NoPE(said.geometry)
                made[kind, without] = none if without else _rope(model, config, said, kind)
        return tuple(made[key] for key in keys)
    if said.encoding == "t5":
        return _tables(model, said)
    if said.encoding == "alibi":
        return (_alibi(config, said),) * said.layers
    end = config.max_position_embeddings - sizes.before(config)
    return (Absolute(said.geometry, int(end)),) * said.layers


def theirs(model: nn.Module, kind: str) -> tuple[torch.Tensor, float] | None:
    """(frequencies [pair], factor on cos and sin) of a model's own RoPE; None if it shows none."""
    for module in model.modules():
        if "RotaryEmbedding" in type(module).__name__:
            for prefix in (f"{kind}_", ""):
                found = getattr(module, f"{prefix}original_inv_freq", None)
                if found is not None:
                    factor = getattr(module, f"{prefix}attention_scaling", 1.0)
                    return found, float(factor)
    return None


def turn(model: nn.Module, theta: torch.Tensor, factor: float) -> None:
    """Gives every RoPE of `model` the frequencies `theta` [pair] and `factor` on cos and sin."""
    for module in model.modules():
        if "RotaryEmbedding" in type(module).__name__:
            for name in ("inv_freq", "original_inv_freq"):
                buffer = getattr(module, name)
                buffer.copy_(theta.to(buffer))
            module.attention_scaling = factor  # type: ignore[assignment]


def _rope(model: nn.Module, config: Any, size: ForeignSizes, kind: str) -> PositionEncoding:
    said = sizes.rope_parameters(config, kind)
    family = FAMILIES[config.model_type]
    values = sizes.rope(config, family, said)
    original = said.get("original_max_position_embeddings") or config.max_position_embeddings
    geometry = Geometry(size.heads, size.head_dim, size.width, int(original))
    found = theirs(model, kind)
    if found is not None and said["rope_type"] == "longrope":
        return _long(said, found, geometry, family.layout)
    try:
        ours = get("rope").make(geometry, values)
    except UsageError:  # settings that no paper has
        ours = None
    if isinstance(ours, RoPE):
        ours.scaling = replace(
            ours.scaling,
            fast=said.get("beta_fast") or 32.0,
            slow=said.get("beta_slow") or 1.0,
            high=said.get("high_freq_factor") or 4.0,
            low=said.get("low_freq_factor") or 1.0,
            truncate=said.get("truncate", True),
        )
        theta, factor = ours.frequencies(1)
        if found is None:
            return ours
        if difference(theta, found[0]) < CLOSE:
            if abs(factor - found[1]) > CLOSE * factor:  # attention_factor, or mscale
                ours.temperature = found[1]
            return ours
    assert found is not None  # without a table of frequencies, settings are fixed in the code
    return GivenRoPE(geometry, *found, float(said["rope_theta"]), family.layout)


def _long(
    said: dict[str, Any], found: tuple[torch.Tensor, float], geometry: Geometry, layout: str
) -> GivenRoPE:
    """LongRoPE: the file's factors for texts up to the original length, others for longer ones."""
    short, factor = found
    ratio = torch.tensor(said["short_factor"]).double() / torch.tensor(said["long_factor"])
    late = short.double().cpu() * ratio
    theta = float(said["rope_theta"])
    return GivenRoPE(geometry, short, factor, theta, layout, late, geometry.length)


def _alibi(config: Any, size: ForeignSizes) -> PositionEncoding:
    if config.model_type == "falcon":  # adds its bias before it divides by sqrt(D)
        return Sloped(size.geometry, slopes(size.heads).bfloat16().double() / size.head_dim**0.5)
    return get("alibi").make(size.geometry, size.parameters)


def _tables(model: nn.Module, size: ForeignSizes) -> tuple[PositionEncoding, ...]:
    """One encoding per table: T5's first layer has one for all, each layer of UMT5 its own."""
    found = (getattr(module, "relative_attention_bias", None) for module in model.modules())
    tables = [table.weight for table in found if isinstance(table, nn.Embedding)]
    made: list[PositionEncoding] = []
    for table in tables:
        encoding = get("t5").make(size.geometry, size.parameters)
        assert isinstance(encoding, T5)
        encoding.table.weight = nn.Parameter(table.detach(), requires_grad=False)
        made.append(encoding)
    return tuple(made) if len(made) == size.layers else (made[0],) * size.layers
