"""Attention of the families that don't go through transformers' AttentionInterface.

Each function computes what its family's module does, up to the dot products, and hands q, k and v
to the run, as `capture` does for the others. ALiBi is in the layer's encoding, rebuilt from slopes:
what the models pass along as a bias or a mask is left aside, but for Falcon's rounding of it. After
transformers 5.24, models/{bloom,mpt,falcon,gpt_neo}.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from types import MethodType
from typing import Any

import torch
from torch import Tensor, nn

from viz_core.readers.huggingface.capture import current
from viz_core.readers.huggingface.given import Sloped
from viz_core.readers.masks import Sight

Forward = Callable[..., tuple[Tensor, None]]


def adapt(model: nn.Module) -> None:
    """Gives every attention module of these families in `model` its forward from here."""
    module: Any
    for module in model.modules():
        forward = _FORWARDS.get(type(module).__name__)
        if forward is not None:
            module.forward = MethodType(forward, module)
        if type(module).__name__ == "MptModel":
            module.build_mpt_alibi_tensor = _no_bias  # as long as the text, or it refuses
        if type(module).__name__ == "GPTNeoSelfAttention":
            module.bias = module.bias.new_empty(0)  # a mask of the longest length squared


def _bloom(self: Any, hidden_states: Tensor, residual: Tensor, **_: Any) -> tuple[Tensor, None]:
    """BLOOM: q, k, v of a head side by side."""
    q, k, v = self._reshape(self.query_key_value(hidden_states))
    mixed = current().attend(q, k, v, Sight(), self.inv_norm_factor)
    return residual + self.dense(_merged(mixed)), None


def _mpt(self: Any, hidden_states: Tensor, **_: Any) -> tuple[Tensor, None]:
    """MPT: q, k, v of all heads one after the other, clipped if it says so."""
    mixed = self.Wqkv(hidden_states)
    if self.clip_qkv:
        mixed = mixed.clamp(min=-self.clip_qkv, max=self.clip_qkv)
    q, k, v = (
        part.unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for part in mixed.chunk(3, dim=2)
    )
    mixed = current().attend(q, k, v, Sight(), float(self.softmax_scale))
    return self.out_proj(_merged(mixed)), None


def _falcon(
    self: Any,
    hidden_states: Tensor,
    alibi: Tensor | None,
    position_embeddings: tuple[Tensor, Tensor] | None = None,
    **_: Any,
) -> tuple[Tensor, None]:
    """Falcon's three layouts: groups of queries with a key and a value each, one group, or none."""
    falcon: Any = importlib.import_module("transformers.models.falcon.modeling_falcon")
    groups = self.num_heads if not self.multi_query else 1
    if self.new_decoder_architecture:
        groups = self.num_kv_heads
    # [batch, position, group, queries of a group + key + value, channel]
    parts = self.query_key_value(hidden_states).unflatten(-1, (groups, -1, self.head_dim))
    q = parts[..., :-2, :].flatten(2, 3).transpose(1, 2)
    k, v = parts[..., -2, :].transpose(1, 2), parts[..., -1, :].transpose(1, 2)
    if alibi is None and position_embeddings is not None:
        q, k = falcon.apply_rotary_pos_emb(q, k, *position_embeddings)
    if alibi is not None:
        q, k = _rounded(q, k, alibi, self.inv_norm_factor)
    mixed = current().attend(q, k, v, Sight(), self.inv_norm_factor)
    return self.dense(_merged(mixed)), None


def _rounded(q: Tensor, k: Tensor, bias: Tensor, scale: float) -> tuple[Tensor, Tensor]:
    """q and k with channels whose product is what the layer's encoding lacks of `bias`.

    Falcon has slope x key position in bfloat16, whatever its weights are in: past some hundred
    tokens it takes steps of several tokens, which no bias by distance can have. One more channel
    for each query head of a key head: 1 in that query, what is lacking in the key.
    """
    heads, groups, count = q.shape[1], k.shape[1], k.shape[2]
    encoding = current().encodings[current().done]
    assert isinstance(encoding, Sloped)
    slope = encoding.slope.double().to(q.device)
    exact = slope[:, None] * torch.arange(count, dtype=torch.float64, device=q.device)
    lacking = bias.view(-1, heads, count)[0].double() - exact / scale  # [head, key]
    own = torch.eye(heads // groups).to(q).repeat(groups, 1)[None, :, None]
    key = lacking.to(k).view(groups, heads // groups, count).transpose(1, 2)[None]
    parts = (own.expand(*q.shape[:3], -1), key.expand(*k.shape[:3], -1))
    return torch.cat((q, parts[0]), dim=-1), torch.cat((k, parts[1]), dim=-1)


def _gpt_neo(self: Any, hidden_states: Tensor, **_: Any) -> tuple[Tensor, None]:
    """GPT-Neo: dot products unscaled; every other layer sees a window alone."""
    q, k, v = (
        self._split_heads(project(hidden_states), self.num_heads, self.head_dim)
        for project in (self.q_proj, self.k_proj, self.v_proj)
    )
    window = self.config.window_size if self.attention_type == "local" else None
    if window is not None and window >= q.shape[2]:
        window = None
    mixed = current().attend(q, k, v, Sight(window=window), 1.0)
    return self.out_proj(_merged(mixed)), None


def _merged(mixed: Tensor) -> Tensor:
    """[batch, head, position, channel] to [batch, position, width]."""
    return mixed.transpose(1, 2).flatten(2)


def _no_bias(num_heads: int, *_: Any, device: torch.device | None = None, **__: Any) -> Tensor:
    return torch.zeros(num_heads, 1, 1, device=device)


_FORWARDS: dict[str, Forward] = {
    "BloomAttention": _bloom,
    "FalconAttention": _falcon,
    "GPTNeoSelfAttention": _gpt_neo,
    "MptAttention": _mpt,
}
