"""What is asked on Attribution: one text, one number that a model gives, in ids and in words."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tokenizers import Tokenizer

from pages._shared import loaded
from pages.attribution.state import AttributionState
from viz_core import texts
from viz_core.attribution import Target
from viz_core.attribution.targets import named
from viz_core.catalogue import Checkpoint
from viz_core.errors import TextError, UsageError
from viz_core.texts import Passage
from viz_core.words import mark, say

# What is explained, by kind: of one query, of many queries and the token that follows each, and of
# many queries and one token.
ONE = {
    "log-probability": mark("the log-probability of “{token}” after query {last:,}, “{there}”"),
    "logit": mark("the logit of “{token}” after query {last:,}, “{there}”"),
    "difference": mark(
        "the logit of “{token}” less that of “{other}” after query {last:,}, “{there}”"
    ),
}
FOLLOWING = {
    "log-probability": mark(
        "the mean log-probability of the token that follows over queries {first:,} to {last:,}"
    ),
    "logit": mark("the mean logit of the token that follows over queries {first:,} to {last:,}"),
    "difference": mark(
        "the mean logit of the token that follows less that of “{other}” over queries {first:,} to "
        "{last:,}"
    ),
}
MANY = {
    "log-probability": mark(
        "the mean log-probability of “{token}” over queries {first:,} to {last:,}"
    ),
    "logit": mark("the mean logit of “{token}” over queries {first:,} to {last:,}"),
    "difference": mark(
        "the mean logit of “{token}” less that of “{other}” over queries {first:,} to {last:,}"
    ),
}
# The same of a text that is the visitor's own: none of its words.
OWN_ONE = {
    "log-probability": mark("the log-probability up to query {last:,} of a text of one's own"),
    "logit": mark("the logit up to query {last:,} of a text of one's own"),
    "difference": mark("the difference up to query {last:,} of a text of one's own"),
}
OWN_MANY = {
    "log-probability": mark("the mean log-probability up to query {last:,} of a text of one's own"),
    "logit": mark("the mean logit up to query {last:,} of a text of one's own"),
    "difference": mark("the mean difference up to query {last:,} of a text of one's own"),
}


@dataclass(frozen=True)
class Question:
    """A target in a passage, as `checkpoint` reads it; `chosen` is whether a person chose its
    token, instead of the one that follows."""

    checkpoint: Checkpoint
    passage: Passage
    target: Target
    chosen: bool = False

    @property
    def labels(self) -> list[str]:
        """The tokens of the passage, readable."""
        return texts.pieces(self.passage.ids, loaded.tokenizer(self.checkpoint))

    @property
    def public(self) -> str:
        """`words` for what leaves the page: none of someone's own."""
        if not self.passage.own:
            return self.words
        forms = OWN_MANY if len(self.target.queries) > 1 else OWN_ONE
        return say(forms[self.target.kind], last=self.last)

    @property
    def words(self) -> str:
        """The number that is asked for, tokens and all, in words that stand within a sentence."""
        target = self.target
        tokenizer = loaded.tokenizer(self.checkpoint)
        token, other, there = texts.pieces(
            [target.tokens[0], (target.others or target.tokens)[0], self.passage.ids[self.last]],
            tokenizer,
        )
        forms = ONE
        if len(target.queries) > 1:
            forms = MANY if self.chosen else FOLLOWING
        return say(
            forms[target.kind],
            token=token,
            other=other,
            there=there,
            first=target.queries[0],
            last=self.last,
        )

    @property
    def last(self) -> int:
        """The last query that is explained."""
        return max(self.target.queries)


def read(state: AttributionState, checkpoint: Checkpoint) -> Passage:
    """The text that `state` asks for. Raises TextError for one without a query to explain."""
    tokenizer = loaded.tokenizer(checkpoint)
    found = texts.tokens(state.text, state.length, tokenizer, pasted=state.paste)
    if len(found.ids) < 2:
        raise TextError(say("Expected a text of 2 tokens or more; it has 1. Add some words to it."))
    return found


def ask(state: AttributionState, checkpoint: Checkpoint, passage: Passage) -> Question:
    """The question of `state` about `passage`. Raises UsageError for tokens that are none."""
    ids, tokenizer = passage.ids, loaded.tokenizer(checkpoint)
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
                say(
                    "Expected another token for a difference; got none. Write one under “Less that "
                    "of”."
                )
            )
        other = _token(state.against, tokenizer)
        target = replace(target, kind="difference", others=(other,) * len(target.queries))
    elif state.kind == "logit":
        target = replace(target, kind="logit")
    return Question(checkpoint, passage, target, bool(state.token))


def _token(word: str, tokenizer: Tokenizer) -> int:
    """The token that a person means by `word`: most begin with the space that nobody types."""
    plain = word.replace("·", " ")
    if not plain.startswith(" "):
        try:
            return named(f" {plain}", tokenizer)
        except UsageError:
            return named(plain, tokenizer)
    return named(plain, tokenizer)
