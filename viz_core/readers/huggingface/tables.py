"""What must be undone in a model before a long text goes through it."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn


def unbound(model: nn.Module) -> None:
    """Replaces what would be N x N, or end before the text does, on the modules of `model`."""
    for module in model.modules():
        if hasattr(module, "relative_attention_num_buckets"):
            _spread(module)
        if isinstance(getattr(module, "embed_positions", None), Tensor):
            _turn(module)


def _spread(module: Any) -> None:
    """T5's attention without its bias as a table of N x N: our scores add it by distance."""

    def compute_bias(
        queries: int, keys: int, device: torch.device | None = None, *_: Any, **__: Any
    ) -> Tensor:
        return torch.zeros(1, 1, 1, 1, device=device).expand(1, module.n_heads, queries, keys)

    module.has_relative_attention_bias = True  # or it fills zeros of N x N by itself
    module.compute_bias = compute_bias


def _turn(module: Any) -> None:
    """GPT-J's and CodeGen's RoPE without its table of angles, which ends at the trained length."""
    width = module.embed_positions.shape[1]
    theta = 10000.0 ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)

    def forward(x: Tensor, position_ids: Tensor) -> tuple[Tensor, Tensor]:
        angle = position_ids.cpu().double()[..., None] * theta  # [batch, position, pair]
        return angle.sin().to(x), angle.cos().to(x)

    module.forward = forward
    module.embed_positions = module.embed_positions.new_empty(0, width)
