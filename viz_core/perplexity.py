"""Loss by position: what each further token of context is worth to a model."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from viz_core.model import Transformer


@torch.no_grad()
def loss_by_position(model: Transformer, sequences: Tensor, batch: int = 8) -> Tensor:
    """Mean loss at each position, in nats per token, over `sequences` [sequence, position + 1].

    Returns [position], float64: entry p is the loss of token p + 1 given the p + 1 tokens before.
    """
    total = torch.zeros(sequences.shape[1] - 1, dtype=torch.float64)
    for part in sequences.split(batch):
        part = part.to(next(model.parameters()).device)
        logits = model(part[:, :-1]).logits.float()
        loss = F.cross_entropy(logits.flatten(0, 1), part[:, 1:].flatten(), reduction="none")
        total += loss.view(part.shape[0], -1).double().sum(0).cpu()
    return total / len(sequences)
