"""Measuring a checkpoint's portrait: one pass per text, and everything that statistics need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

import numpy as np
import numpy.typing as npt
import torch
from tokenizers import Tokenizer
from torch import Tensor

from viz_core import decay, encodings, kernels, mechanism, probes
from viz_core.encodings import t5
from viz_core.encodings.alibi import ALiBi
from viz_core.encodings.rope import RoPE, to_half
from viz_core.errors import LengthError
from viz_core.model import Block, Transformer
from viz_core.progress import Progress, ignore, within
from viz_core.signatures.portrait import Portrait
from viz_core.signatures.split import Split, split
from viz_core.subject import LayerTrace, Scores, Subject
from viz_core.trace import Trace, trace
from viz_core.types import SINK
from viz_core.words import say

NEAR = 128  # distances over which position and content are split: farther ones hardly count
SHIFT = 100  # tokens
SHIFTED = 256  # tokens of the text that is moved: learned positions must still have a value
SHARES = (0.6, 0.9)  # of the time: done after the forward pass, after the profile of each text

Array = npt.NDArray[np.float64]


@dataclass
class _Layer:
    """One layer's measurements, text by text."""

    parts: list[decay.Part] = field(default_factory=list)
    open: list[decay.Part] = field(default_factory=list)
    near: list[decay.Near] = field(default_factory=list)
    probability: Array | float = 0.0
    sink_mass: Array | float = 0.0
    entropy: Array | float = 0.0
    query_norm: Array | float = 0.0
    key_norm: Array | float = 0.0


def measure(
    model: Subject,
    texts: Sequence[Sequence[int]],
    tokenizer: Tokenizer,
    setting: str = "",
    progress: Progress = ignore,
) -> Portrait:
    """The portrait of `model` over `texts` (token ids, of one length).

    `tokenizer` draws the sequences of the induction score; `setting` is only written down.
    `progress` may raise, to cancel. Raises LengthError where texts differ in length or are too
    short for curves, and as `trace.trace` does.
    """
    lengths = sorted({len(ids) for ids in texts})
    if len(lengths) != 1 or lengths[0] < 4 * SINK:
        raise LengthError(
            say(
                "Expected texts of one length of at least {least} tokens; got {lengths}.",
                least=4 * SINK,
                lengths=lengths,
            )
        )
    config, n = model.config, lengths[0]
    layers = [_Layer() for _ in range(config.layers)]
    for t, ids in enumerate(texts):
        here = within(progress, t / len(texts), (t + 1) / len(texts))
        one = trace(model, ids, within(here, 0.0, SHARES[0]))
        for i, layer in enumerate(layers):
            first, last = (SHARES[0] + (1 - SHARES[0]) * (i + j) / len(layers) for j in (0, 1))
            _add(layer, one, i, len(texts), within(here, first, last))
        hows = one.scores
        spread = mechanism.measure(one).entropy_share
        for layer, share in zip(layers, spread, strict=True):
            layer.entropy += share / len(texts)
    # as far as all layers see: under a window, no farther than the shortest one
    size = min(layer.parts[0].fit.shape[1] for layer in layers)
    curves = [decay.by_distance(layer.parts, floor=0) for layer in layers]
    induction = _induction(model, tokenizer)
    splits = [_split(layer.near) for layer in layers]
    encoding = model.encoding
    rope = encoding.frequencies(n)[0].numpy() if isinstance(encoding, RoPE) else np.empty(0)
    laws = [_law(model, layer, hows[i], i, texts) for i, layer in enumerate(layers)]
    parts = [layer.parts for layer in layers]
    return Portrait(
        encoding=config.encoding,
        setting=setting,
        trained=config.length,
        length=n,
        texts=len(texts),
        sink=SINK,
        near=min(NEAR, size),
        curve=np.stack([c.value[:, :size] for c in curves]),
        error=np.stack([c.error[:, :size] for c in curves]),
        with_sink=np.stack([decay.by_distance(x.open, floor=0).value[:, :size] for x in layers]),
        logit=np.stack([np.mean([p.logit[:, :size] for p in some], axis=0) for some in parts]),
        probability=np.stack([np.asarray(layer.probability)[:, :size] for layer in layers]),
        law=np.stack(
            [np.full((config.heads, size), np.nan) if w is None else w[:, :size] for w in laws]
        ),
        pairs=curves[0].pairs[:size].astype(np.int64),
        slope=np.stack([[p.pull / p.weight for p in some] for some in parts], axis=1),
        nominal=-encoding.slope.double().numpy()
        if isinstance(encoding, ALiBi)
        else np.zeros(config.heads),
        sink_mass=np.stack([layer.sink_mass for layer in layers]),
        sink_even=float((SINK / np.arange(SINK + 1, n + 1)).mean()),
        induction=induction.value,
        induction_even=induction.baseline,
        entropy_share=np.stack([layer.entropy for layer in layers]),
        explained=np.stack([s.explained for s in splits]),
        held_out=np.stack([s.held_out for s in splits]),
        chance=np.stack([s.p for s in splits]),
        edges=_edges(encoding, n),
        theta=rope,
        query_norm=_norms([layer.query_norm for layer in layers], len(rope)),
        key_norm=_norms([layer.key_norm for layer in layers], len(rope)),
        shift=shift(model, texts[0]),
    )


def shift(model: Subject, ids: Sequence[int], by: int = SHIFT) -> Array:
    """How much attention changes when all positions move by `by` tokens: [layer, head].

    The total variation between the two distributions of each query, 0 .. 1, as a mean over the
    first SHIFTED queries. 0 but for rounding wherever position acts through distance alone. NaN
    where the encoding has no values that far.
    """
    ids = list(ids)[:SHIFTED]
    try:
        still, moved = trace(model, ids), trace(model, ids, offset=by)
    except LengthError:
        return np.full((model.config.layers, model.config.heads), np.nan)
    whole = (0, len(ids))
    found = []
    for layer in range(model.config.layers):
        a, b = (t.log_attention(layer, whole, whole, slice(None)).exp() for t in (still, moved))
        found.append((0.5 * (a - b).abs().sum(-1).mean(-1)).cpu().double().numpy())
    return np.stack(found)


def _add(layer: _Layer, one: Trace, index: int, texts: int, progress: Progress) -> None:
    layer.parts.append(decay.part(one, index))
    layer.open.append(decay.part(one, index, sink=0))
    layer.near.append(decay.near(one, index, NEAR))
    layer.probability += decay.mean_probability(one, index, progress, SINK) / texts
    first = one.log_attention(index, (SINK, one.length), (0, SINK), slice(None)).exp()
    layer.sink_mass += first.sum(-1).mean(-1).cpu().double().numpy() / texts
    encoding = one.scores[index].encoding
    if isinstance(encoding, RoPE):
        q, k, _ = one.take(index)
        at = torch.arange(one.length, device=q.device)
        # before the encoding: xPos changes the norms too
        layer.query_norm += _norm(encoding.unrotate(q, at, one.length), encoding) / texts
        layer.key_norm += _norm(encoding.unrotate_key(k, at, one.length), encoding) / texts


def _norm(x: Tensor, encoding: RoPE) -> Array:
    """Mean norm of each turned pair of channels of x [head, position, channel]: [head, pair]."""
    x = x[..., : 2 * len(encoding.frequencies(x.shape[1])[0])]
    x = to_half(x) if encoding.layout == "interleaved" else x
    a, b = x.double().cpu().chunk(2, dim=-1)
    return np.asarray(torch.hypot(a, b).mean(dim=1))


def _norms(layers: Sequence[Array | float], pairs: int) -> Array:
    """[layer, head, pair]; NaN in a layer without rotation, empty where no layer has any."""
    some = next((x for x in layers if isinstance(x, np.ndarray)), None)
    if not pairs or some is None:
        return np.empty(0)
    return np.stack([np.full_like(some, np.nan) if isinstance(x, float) else x for x in layers])


def _split(some: Sequence[decay.Near]) -> Split:
    return split(
        np.stack([n.diagonal for n in some]),
        np.stack([n.row for n in some]),
        np.stack([n.squares for n in some]),
    )


def _induction(model: Subject, tokenizer: Tokenizer) -> probes.Score:
    try:
        return probes.induction(model, tokenizer)
    except LengthError:  # the encoding ends before
        shape = model.config.layers, model.config.heads
        return probes.Score(np.full(shape, np.nan), float("nan"))


def _edges(encoding: encodings.PositionEncoding, length: int) -> npt.NDArray[np.int64]:
    """The first distance of each T5 bucket: this encoding's, else those of 32 buckets to 128."""
    sizes = (encoding.buckets, encoding.max_distance) if isinstance(encoding, t5.T5) else (32, 128)
    number = t5.bucket(torch.arange(length), *sizes).numpy()
    return np.flatnonzero(np.diff(number, prepend=-1)).astype(np.int64)


def _law(
    model: Subject, layer: _Layer, how: Scores, index: int, texts: Sequence[Sequence[int]]
) -> Array | None:
    law = decay.law(layer.parts, how, layer.parts[0].fit.shape[1])
    if law is None and index == 0 and isinstance(model, Transformer):
        return _absolute_law(model, texts)
    return law


@torch.no_grad()
def _absolute_law(model: Transformer, texts: Sequence[Sequence[int]]) -> Array:
    """The curve of position alone in the first layer, for vectors that are added at the bottom.

    The Gram matrix of the position vectors through each head's own projections, each normalised
    as its sums with the texts' tokens are on average; of it the same fit as of log-attention.
    Higher layers have no such law: position has been through a layer and its content by then.
    """
    device = next(model.parameters()).device
    tokens = torch.tensor([list(ids) for ids in texts], device=device)
    positions = torch.arange(tokens.shape[1], device=device)
    words = model.embedding(tokens) * model.config.width**0.5  # [text, position, width]
    both = model.encoding.embed(words, positions)
    alone = model.encoding.embed(torch.zeros_like(words[0]), positions)
    block = cast(Block, model.blocks[0])
    size = both.square().mean(dim=-1).rsqrt().mean(dim=0)[:, None]
    qkv = block.qkv(alone * size * block.norm1.weight).unflatten(-1, (3, model.config.heads, -1))
    q, k, _ = (t.transpose(0, 1).contiguous() for t in qkv.unbind(1))
    bare = kernels.band(encodings.get("nope").make(model.config.geometry), len(positions), q)
    _, lse = kernels.blocked(q, k, k, bare, model.config.scale)
    gram = Trace.alike([LayerTrace(q, k, lse)], model.encoding, model.config.scale)
    return decay.part(gram, 0).fit
