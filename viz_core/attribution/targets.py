"""What is explained: one number that a model gives, at one query or as the mean over many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import torch
from tokenizers import Tokenizer
from torch import Tensor

from viz_core import texts
from viz_core.errors import LengthError, UnknownName, UsageError
from viz_core.model import Transformer
from viz_core.words import mark, say

Kind = Literal["log-probability", "logit", "difference"]
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True)
class Target:
    """The mean over `queries` of what the model says there of the token that follows.

    `queries`: positions, counted from 0 as in a map. `tokens`: for each, the id that is asked
    about. `kind`: its log-probability (nats), its logit, or the difference of its logit from that
    of the id in `others` (nats: of log-probabilities it is the same). A log-probability also moves
    when other tokens become more likely; a difference says which of two, and nothing else. Raises
    UsageError where these don't fit together.
    """

    queries: tuple[int, ...]
    tokens: tuple[int, ...]
    kind: Kind = "log-probability"
    others: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise UnknownName(mark("a kind of target"), self.kind, list(KINDS))
        wanted = len(self.queries) if self.kind == "difference" else 0
        sizes = len(self.queries), len(self.tokens), len(self.others)
        if not self.queries or sizes[1:] != (sizes[0], wanted):
            raise UsageError(
                say(
                    "Expected a token for each of one or more queries, and another one for each "
                    "where the kind is difference; got {queries} queries, {tokens} and {others} "
                    "tokens with the kind {kind}.",
                    queries=sizes[0],
                    tokens=sizes[1],
                    others=sizes[2],
                    kind=self.kind,
                )
            )

    @classmethod
    def following(
        cls, ids: Sequence[int], queries: Sequence[int], kind: Kind = "log-probability"
    ) -> Target:
        """The token that follows each query in the text `ids`. LengthError where none does."""
        for i in queries:
            if not 0 <= i < len(ids) - 1:
                raise LengthError(
                    say(
                        "Expected a query from 0 to {last:,}, which a token of the text follows; "
                        "got {query:,}.",
                        last=len(ids) - 2,
                        query=i,
                    )
                )
        return cls(tuple(queries), tuple(ids[i + 1] for i in queries), kind)

    @property
    def reads(self) -> int:
        """How many tokens matter: attention is causal, so later ones can't."""
        return max(self.queries) + 1

    def check(self, length: int, vocabulary: int) -> None:
        """Raises UsageError where a text of `length` or a `vocabulary` doesn't have all of this."""
        for what, numbers, end in (
            (mark("queries"), self.queries, length),
            (mark("token ids"), (*self.tokens, *self.others), vocabulary),
        ):
            if min(numbers) < 0 or max(numbers) >= end:
                wrong = next(n for n in numbers if not 0 <= n < end)
                raise UsageError(
                    say(
                        "Expected {what} from 0 to {last:,}; got {wrong:,}.",
                        what=say(what),
                        last=end - 1,
                        wrong=wrong,
                    )
                )

    def value(self, model: Transformer, stream: Tensor) -> Tensor:
        """The number, [b], of the normalised stream [b, n, w] at the model's end."""
        rows = stream[:, list(self.queries)]  # [b, query, w]
        weight = model.embedding.weight
        own = (rows * weight[list(self.tokens)]).sum(-1)
        if self.kind == "difference":
            own = own - (rows * weight[list(self.others)]).sum(-1)
        elif self.kind == "log-probability":
            own = own - (rows @ weight.T).logsumexp(-1)
        return own.mean(-1)


@torch.no_grad()
def likeliest(model: Transformer, ids: Sequence[int]) -> int:
    """The id that `model` finds likeliest to follow the text `ids`."""
    stream = model.stream(torch.tensor([list(ids)], device=model.device))
    return int(model.logits(stream[0, -1]).argmax())


def named(word: str, tokenizer: Tokenizer) -> int:
    """The id of the one token that `word` is. Raises UsageError where it is none, or several."""
    found = tokenizer.encode(word, add_special_tokens=False).ids
    if len(found) != 1:
        parts = " ".join(texts.pieces(found, tokenizer)) or say("nothing")
        raise UsageError(
            say(
                "Expected a word that is one token, often with a space before it; got {word!r}, "
                "which is {parts}.",
                word=word,
                parts=parts,
            )
        )
    return int(found[0])
