"""What is asked on Attribution: one text, one number that a model gives, in ids and in words."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tokenizers import Tokenizer

from pages._kit import cached
from pages._kit.attrib_state import AttributionState
from viz_core import texts
from viz_core.attribution import Target
from viz_core.attribution.targets import named
from viz_core.catalogue import Checkpoint
from viz_core.errors import TextError, UsageError
from viz_core.texts import Passage


@dataclass(frozen=True)
class Question:
    """A target in a passage, as `checkpoint` reads it; `words` name the number, tokens and all."""

    checkpoint: Checkpoint
    passage: Passage
    target: Target
    words: str

    @property
    def labels(self) -> list[str]:
        """The tokens of the passage, readable."""
        return texts.pieces(self.passage.ids, cached.tokenizer(self.checkpoint))

    @property
    def public(self) -> str:
        """`words` for what leaves the page: none of someone's own."""
        if not self.passage.own:
            return self.words
        mean = "the mean " if len(self.target.queries) > 1 else "the "
        return f"{mean}{self.target.kind} up to query {self.last:,} of a text of one's own"

    @property
    def last(self) -> int:
        """The last query that is explained."""
        return max(self.target.queries)


def read(state: AttributionState, checkpoint: Checkpoint) -> Passage:
    """The text that `state` asks for. Raises TextError for one without a query to explain."""
    tokenizer = cached.tokenizer(checkpoint)
    found = texts.tokens(state.text, state.length, tokenizer, pasted=state.paste)
    if len(found.ids) < 2:
        raise TextError("Expected a text of 2 tokens or more; it has 1. Add some words to it.")
    return found


def ask(state: AttributionState, checkpoint: Checkpoint, passage: Passage) -> Question:
    """The question of `state` about `passage`. Raises UsageError for tokens that are none."""
    ids, tokenizer = passage.ids, cached.tokenizer(checkpoint)
    end = len(ids) - 2
    last = end if state.last is None else min(state.last, end)
    half = (end + 1) // 2 if state.first is None else state.first
    first = min(half, last) if state.many else last
    target = Target.following(ids, range(first, last + 1))
    if state.token:
        target = replace(target, tokens=(_token(state.token, tokenizer),) * len(target.queries))
    if state.kind == "difference":
        if not state.against:
            raise UsageError(
                "Expected another token for a difference; got none. Write one under “Less that of”."
            )
        other = _token(state.against, tokenizer)
        target = replace(target, kind="difference", others=(other,) * len(target.queries))
    elif state.kind == "logit":
        target = replace(target, kind="logit")
    return Question(checkpoint, passage, target, _words(target, ids, tokenizer, bool(state.token)))


def _token(word: str, tokenizer: Tokenizer) -> int:
    """The token that a person means by `word`: most begin with the space that nobody types."""
    plain = word.replace("·", " ")
    if not plain.startswith(" "):
        try:
            return named(f" {plain}", tokenizer)
        except UsageError:
            return named(plain, tokenizer)
    return named(plain, tokenizer)


def _words(target: Target, ids: list[int], tokenizer: Tokenizer, chosen: bool) -> str:
    first, last = target.queries[0], target.queries[-1]
    own = texts.pieces(target.tokens[:1], tokenizer)[0]
    asked = f"“{own}”"
    where = f"after query {last:,}, “{texts.pieces([ids[last]], tokenizer)[0]}”"
    if len(target.queries) > 1:
        asked = asked if chosen else "the token that follows"
        where = f"over queries {first:,} to {last:,}"
    kind = "logit" if target.kind == "difference" else target.kind
    words = f"{'the mean' if len(target.queries) > 1 else 'the'} {kind} of {asked}"
    if target.others:
        words += f" less that of “{texts.pieces(target.others[:1], tokenizer)[0]}”"
    return f"{words} {where}"
