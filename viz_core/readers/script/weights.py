"""The weights of a state dict under the names of a `Stack`: one layer's q, k, v, out, ..."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from viz_core.errors import DamagedCheckpoint
from viz_core.readers.script.layouts import Layout
from viz_core.readers.script.parts import Roles
from viz_core.readers.script.plan import Plan
from viz_core.readers.script.sheet import Sheet
from viz_core.readers.script.tensors import listed
from viz_core.words import say

Read = Callable[[str], Tensor]


def read(sheet: Sheet, layout: Layout, plan: Plan) -> dict[str, Tensor]:
    """Every weight in float32, linear ones [out, in]: "layers.0.q.weight", "embedding.weight", ...

    A tied head is left out. Raises DamagedCheckpoint for NaN and infinity.
    """

    def tensor(name: str) -> Tensor:
        found = sheet.tensor(name).float()
        if not bool(found.isfinite().all()):
            raise DamagedCheckpoint(
                say(
                    "Expected finite weights in {file}; some of {name} are NaN or infinite, so "
                    "save or train the model again.",
                    file=sheet.called,
                    name=listed([name]),
                )
            )
        return found

    found = dict(_roles(tensor, layout.top, False))
    for number, roles in enumerate(layout.layers):
        for role, weight in _roles(tensor, roles, layout.transposed):
            for part, piece in _pieces(role, weight, plan):
                found[f"layers.{number}.{part}"] = piece
    return found


def _roles(tensor: Read, roles: Roles, transposed: bool) -> Iterator[tuple[str, Tensor]]:
    for role, names in roles.items():
        whole = torch.cat([tensor(name) for name in names])
        yield role, whole.T.contiguous() if transposed and whole.ndim == 2 else whole


def _pieces(role: str, weight: Tensor, plan: Plan) -> Iterator[tuple[str, Tensor]]:
    """A fused projection's rows as q, k and v; anything else as it is."""
    name, _, kind = role.partition(".")
    if name != "qkv":
        yield role, weight
        return
    if plan.order == "by-head":  # rows [head, q k v, channel]
        parts = weight.unflatten(0, (plan.sizes.heads, 3, -1)).unbind(1)
        parts = tuple(part.flatten(0, 1) for part in parts)
    else:
        keys = plan.sizes.kv_heads * plan.sizes.head_dim
        parts = weight.split((len(weight) - 2 * keys, keys, keys))
    for part, rows in zip("qkv", parts, strict=True):
        yield f"{part}.{kind}", rows.contiguous()
