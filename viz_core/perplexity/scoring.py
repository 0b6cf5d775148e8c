"""Losses of tokens: nats each, in memory linear in the length."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from viz_core.model import Transformer

LOGITS = 1 << 22  # logits in flight, 16 MB in float32: of all tokens at once they'd be the largest


@torch.no_grad()
def token_losses(model: Transformer, sequences: Tensor, last: int | None = None) -> Tensor:
    """-log p of each sequence's `last` tokens (default: all but the first): [sequence, last], nats.

    `sequences` [sequence, input + 1] token ids: the model reads all but the last token of each, at
    once, and predicts all but the first. float32 or wider, on the model's device.
    """
    sequences = sequences.to(next(model.parameters()).device)
    count = sequences.shape[1] - 1 if last is None else last
    stream = model(sequences[:, :-1], head=False, keep=False).stream[:, -count:]
    targets = sequences[:, -count:]
    weight = model.embedding.weight
    losses: Tensor = stream.new_empty(
        targets.shape, dtype=torch.promote_types(stream.dtype, torch.float32)
    )
    step = max(1, LOGITS // (len(weight) * len(sequences)))
    for a in range(0, count, step):
        logits = stream[:, a : a + step] @ weight.T
        losses[:, a : a + step] = F.cross_entropy(
            logits.flatten(0, 1).to(losses),
            targets[:, a : a + step].flatten(),
            reduction="none",
        ).view(len(sequences), -1)
    return losses


def loss_by_position(model: Transformer, sequences: Tensor, batch: int = 8) -> Tensor:
    """Mean loss at each position, in nats per token, over `sequences` [sequence, position + 1].

    Returns [position], float64: entry p is the loss of token p + 1 given the p + 1 tokens before.
    """
    total = torch.zeros(sequences.shape[1] - 1, dtype=torch.float64)
    for part in sequences.split(batch):
        total += token_losses(model, part).cpu().double().sum(0)
    return total / len(sequences)
