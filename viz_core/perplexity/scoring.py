"""Losses of tokens: nats each, in memory linear in the length."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from viz_core.subject import Subject

LOGITS = 1 << 22  # logits in flight, 16 MB in float32: of all tokens at once they'd be the largest


@torch.no_grad()
def token_losses(model: Subject, sequences: Tensor, last: int | None = None) -> Tensor:
    """-log p of each sequence's `last` tokens (default: all but the first): [sequence, last], nats.

    `sequences` [sequence, input + 1] token ids: the model reads all but the last token of each, at
    once, and predicts all but the first. float32 or wider, on the model's device.
    """
    sequences = sequences.to(model.device)
    count = sequences.shape[1] - 1 if last is None else last
    stream = model.stream(sequences[:, :-1])[:, -count:]
    targets = sequences[:, -count:]
    losses: Tensor = stream.new_empty(
        targets.shape, dtype=torch.promote_types(stream.dtype, torch.float32)
    )
    step = max(1, LOGITS // (max(1, model.config.vocabulary) * len(sequences)))
    for a in range(0, count, step):
        logits = model.logits(stream[:, a : a + step])
        losses[:, a : a + step] = F.cross_entropy(
            logits.flatten(0, 1).to(losses),
            targets[:, a : a + step].flatten(),
            reduction="none",
        ).view(len(sequences), -1)
    return losses


def loss_by_position(model: Subject, sequences: Tensor, batch: int = 8) -> Tensor:
    """Mean loss at each position, in nats per token, over `sequences` [sequence, position + 1].

    Returns [position], float64: entry p is the loss of token p + 1 given the p + 1 tokens before.
    """
    total = torch.zeros(sequences.shape[1] - 1, dtype=torch.float64)
    for part in sequences.split(batch):
        total += token_losses(model, part).cpu().double().sum(0)
    return total / len(sequences)
