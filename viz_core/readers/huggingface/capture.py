"""What a model's attention computes, taken where transformers lets anyone put a function.

One attention function and one mask function are registered under a name of ours. Who runs a model
does so within `running`, which keeps what is recorded in a context variable: two people who run
two models (or one) at once never mix. Signatures: transformers 5.24,
integrations/sdpa_attention.py and masking_utils.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from viz_core.encodings import PositionEncoding
from viz_core.kernels import Step, ignore
from viz_core.readers.masks import MaskFunction, Sight, learn
from viz_core.subject import LayerTrace, Scores, attend, scores

NAME = "attention_atlas"  # no "/", which would mean a kernel to download


@dataclass
class Run:
    """One forward pass: what its layers need, and what is left of them.

    `encodings` has one entry for each layer, in the order in which they are called (by module
    wouldn't do: ALBERT's layers are one module). Those in `aside`, which attend across to another
    stack, are computed and forgotten.
    """

    encodings: Sequence[PositionEncoding]
    step: Step = ignore
    keep: bool = False
    aside: frozenset[nn.Module] = frozenset()
    layers: list[tuple[LayerTrace, Scores]] = field(default_factory=list)
    sights: list[Sight] = field(default_factory=list)
    done: int = 0
    _made: dict[tuple[object, ...], Scores] = field(default_factory=dict)

    def attend(
        self,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        sight: Sight,
        scale: float,
        cap: float | None = None,
        sink: Tensor | None = None,
    ) -> Tensor:
        """The next layer's mixed values [batch, head, query, channel]; nothing of size N x N."""
        how = self._scores(self.encodings[self.done], q, sight, scale, cap)
        self.done += 1
        mixed = []
        for i in range(len(q)):
            one = slice(i, i + 1)
            out, lse = attend(q[one], k[one], v[one], how, self.step, sink)
            mixed.append(out)
            if self.keep:
                self.layers.append((LayerTrace(q[i].contiguous(), k[i].contiguous(), lse[0]), how))
        return torch.cat(mixed)

    def _scores(
        self, encoding: PositionEncoding, q: Tensor, sight: Sight, scale: float, cap: float | None
    ) -> Scores:
        """The layer's Scores; layers that are alike share them, for the strip's sake."""
        key = (id(encoding), q.shape[2], sight, scale, cap)
        if key not in self._made:
            self._made[key] = scores(
                encoding, scale, q.shape[2], q, sight.window, sight.causal, cap
            )
        return self._made[key]


class Enough(Exception):
    """A pass has shown what it was for."""


class Look(Run):
    """A pass for the sake of its masks, which are made before the first layer: it ends there."""

    def attend(self, *_: Any, **__: Any) -> Tensor:
        """Raises Enough."""
        raise Enough


_RUN: ContextVar[Run] = ContextVar("attention_atlas_run")


@contextmanager
def running(run: Run) -> Iterator[Run]:
    """`run` is what attention in this thread belongs to."""
    token = _RUN.set(run)
    try:
        yield run
    finally:
        _RUN.reset(token)


def current() -> Run:
    """The run that this thread is in."""
    return _RUN.get()


def register() -> str:
    """Makes both functions known to transformers, as often as one likes; returns their name."""
    from transformers import AttentionInterface, AttentionMaskInterface

    AttentionInterface.register(NAME, _attention)
    # without a mask of its own under this name, a model would attend to the future
    AttentionMaskInterface.register(NAME, _mask)
    return NAME


def _mask(
    batch_size: int,
    q_length: int,
    kv_length: int,
    q_offset: int = 0,
    kv_offset: int = 0,
    mask_function: MaskFunction | None = None,
    attention_mask: Tensor | None = None,
    dtype: torch.dtype = torch.float32,
    device: torch.device | str = "cpu",
    **_: Any,
) -> Tensor | None:
    """In place of a mask, the number under which the run keeps what it says: [1, 1, 1, 1].

    A model passes it from here to its attention, and may slice or cast it on the way. Texts are
    never padded, so `attention_mask` has nothing to say; cross-attention's needs none at all.
    """
    if mask_function is None or q_length != kv_length:
        return None
    run = current()
    run.sights.append(learn(mask_function, kv_length, device))
    return torch.full((1, 1, 1, 1), float(len(run.sights) - 1), dtype=dtype, device=device)


def _attention(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float | None = None,
    dropout: float = 0.0,
    softcap: float | None = None,
    s_aux: Tensor | None = None,
    is_causal: bool | None = None,
    **_: Any,
) -> tuple[Tensor, None]:
    """What transformers calls an attention function: mixed values [batch, query, head, channel].

    T5's `position_bias` and the `sliding_window` that some models pass are left aside: the bias is
    in the layer's encoding, and the window is in the mask.
    """
    run = current()
    scale = float(query.shape[-1] ** -0.5 if scaling is None else scaling)
    if module in run.aside:
        mixed = F.scaled_dot_product_attention(query, key, value, scale=scale)
    else:
        if attention_mask is not None:
            sight = run.sights[int(attention_mask.flatten()[0])]
        else:
            causal = getattr(module, "is_causal", True) if is_causal is None else is_causal
            sight = Sight(bool(causal))
        mixed = run.attend(query, key, value, sight, scale, softcap, s_aux)
    return mixed.transpose(1, 2).contiguous(), None
