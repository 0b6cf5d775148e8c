"""A transformers model as the atlas's `Subject`."""

from __future__ import annotations

import inspect
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from typing import Any

import torch
from torch import Tensor, nn

from viz_core.encodings import PositionEncoding, arange
from viz_core.errors import UsageError
from viz_core.kernels import Step, ignore
from viz_core.readers.description import ForeignSizes
from viz_core.readers.huggingface.capture import Enough, Look, Run, running
from viz_core.readers.masks import Sight
from viz_core.subject import LayerTrace, Scores
from viz_core.words import say


class Foreign(nn.Module):
    """`base` from tokens to hidden states, `head` (None: it has none) from those to logits.

    `encodings` [layer]. `before`: positions start at this row of the model's table.
    """

    def __init__(
        self,
        base: Any,
        head: nn.Module | None,
        config: ForeignSizes,
        settings: Any,
        encodings: tuple[PositionEncoding, ...],
        before: int = 0,
    ) -> None:
        super().__init__()
        self.base, self.head = base, head
        self.config, self.settings, self.before = config, settings, before
        self.encodings = encodings
        self._placed = "position_ids" in inspect.signature(base.forward).parameters
        # RoPE's dynamic kinds keep the longest length seen in the module: one pass at a time
        self._lock = threading.Lock() if _changing(base) else None

    @property
    def encoding(self) -> PositionEncoding:
        """The encoding that most layers have."""
        return Counter(self.encodings).most_common(1)[0][0]

    @property
    def device(self) -> torch.device:
        """Where its weights lie."""
        device: torch.device = next(self.base.parameters()).device
        return device

    @property
    def bytes_per_token(self) -> int:
        """An upper estimate of what tracing one more token costs at the peak, bytes (float32).

        Kept q, k and lse of each layer, a layer's own vectors, its copies of keys and values for
        each query head, and the widest hidden vectors with what stands beside them.
        """
        c = self.config
        kept = c.layers * ((c.heads + c.kv_heads) * c.head_dim + c.heads)
        tables = {id(m.weight) for m in self.base.modules() if isinstance(m, nn.Embedding)}
        wide: int = max(max(w.shape) for w in self.base.parameters() if id(w) not in tables)
        return 4 * (kept + 10 * c.width + 6 * c.heads * c.head_dim + 4 * wide)

    def passes(
        self, ids: Tensor, step: Step, offset: int = 0
    ) -> Iterator[tuple[LayerTrace, Scores]]:
        """What each layer computes of `ids` [position]: all of it is done before the first yield.

        The first token stands at position `offset`; where positions are relative, that is nothing.
        """
        run = Run(self.encodings, step, keep=True)
        with torch.no_grad():
            self.hidden(ids[None].to(self.device), run, offset)
        yield from run.layers

    def stream(self, tokens: Tensor) -> Tensor:
        """tokens [sequence, position] to what logits are made of [sequence, position, width].

        UsageError for a model that predicts no next token.
        """
        self._predicts()
        return self.hidden(tokens, Run(self.encodings, ignore), 0)

    def logits(self, stream: Tensor) -> Tensor:
        """stream [..., width] to the logits of the next token [..., vocabulary]."""
        logits: Tensor = self._predicts()(stream)
        c = self.settings
        if c.model_type in ("cohere", "cohere2"):
            logits = logits * c.logit_scale
        if c.model_type == "granite":
            logits = logits / c.logits_scaling
        cap = getattr(c, "final_logit_softcapping", None)  # Gemma 2
        return logits if cap is None else cap * (logits / cap).tanh()

    def hidden(self, tokens: Tensor, run: Run, offset: int) -> Tensor:
        """tokens [sequence, position] to hidden states [sequence, position, width]."""
        inputs: dict[str, Any] = {"input_ids": tokens, "use_cache": False}
        if self._placed:
            positions = arange(offset + self.before, tokens.shape[1], tokens)
            inputs["position_ids"] = positions.expand_as(tokens)
        with self._lock or nullcontext(), running(run):
            if self._lock is not None:
                _reset(self.base)
            found: Tensor = self.base(**inputs)[0]
        return found

    def sights(self, count: int) -> list[Sight]:
        """What the masks that the model makes for `count` tokens let a query see; one or more.

        No layer is computed. Empty where its attention makes its own.
        """
        look = Look(self.encodings)
        with torch.no_grad(), suppress(Enough, UsageError):
            self.hidden(torch.zeros(1, count, dtype=torch.long, device=self.device), look, 0)
        return look.sights

    def _predicts(self) -> nn.Module:
        """The head; UsageError where there is none."""
        if self.head is not None:
            return self.head
        kind = self.settings.model_type
        if not self.config.causal:
            raise UsageError(
                say(
                    "Expected a model that predicts the next token; {kind} sees the whole text at "
                    "once and predicts masked tokens, so it has no loss by length.",
                    kind=kind,
                )
            )
        raise UsageError(
            say(
                "Expected a model with a language-model head; this {kind} checkpoint holds none, "
                "so its attention can be shown, and its loss can't be measured.",
                kind=kind,
            )
        )


class Decoder(Foreign):
    """A decoder that reads another stack's text: here the encoder reads the same one.

    Only the decoder's attention to itself is recorded.
    """

    def __init__(
        self,
        encoder: Any,
        decoder: Any,
        config: ForeignSizes,
        settings: Any,
        encodings: tuple[tuple[PositionEncoding, ...], tuple[PositionEncoding, ...]],
    ) -> None:
        super().__init__(decoder, None, config, settings, encodings[1])
        self.encoder, self.before_it = encoder, encodings[0]
        self._across = frozenset(b.layer[1].EncDecAttention for b in decoder.block)

    def hidden(self, tokens: Tensor, run: Run, offset: int) -> Tensor:
        """tokens [sequence, position] to the decoder's [sequence, position, width]."""
        with running(Run(self.before_it, lambda _: run.step(0))):  # heard of, not counted
            read = self.encoder(input_ids=tokens)[0]
        run.aside = self._across
        with running(run):
            found: Tensor = self.base(
                input_ids=tokens, encoder_hidden_states=read, use_cache=False
            )[0]
        return found


def _changing(base: nn.Module) -> bool:
    """Whether RoPE's frequencies depend on the lengths that the model has seen."""
    kinds: list[str] = []
    for module in base.modules():
        kind = getattr(module, "rope_type", "")
        kinds += kind.values() if isinstance(kind, dict) else [kind]
    return any("dynamic" in kind or kind == "longrope" for kind in kinds)


def _reset(base: nn.Module) -> None:
    """Frequencies as for a first text.

    transformers' dynamic NTK keeps those of the longest text so far, and goes back only after one
    that is shorter than the trained length.
    """
    for module in base.modules():
        for name, buffer in list(module.named_buffers(recurse=False)):
            if name.endswith("original_inv_freq"):
                prefix = name.removesuffix("original_inv_freq")
                setattr(module, f"{prefix}inv_freq", buffer.clone())
                setattr(module, f"{prefix}max_seq_len_cached", module.original_max_seq_len)
