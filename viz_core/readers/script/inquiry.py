"""Settling what shapes leave open: from the file where it says so, from a person, or assumed."""

from __future__ import annotations

from collections.abc import Mapping

from viz_core.encodings import Parameter, Value
from viz_core.errors import DamagedCheckpoint, UnknownName, UsageError
from viz_core.readers.description import Finding, Verdict
from viz_core.readers.script import names
from viz_core.readers.script.sheet import Sheet
from viz_core.words import mark, say

_ABOUT = {  # what a question is about; by its own name where that isn't here
    "activation": mark("activation"),
    "attention": mark("attention"),
    "base": mark("base"),
    "bidirectional": mark("bidirectional"),
    "buckets": mark("buckets"),
    "divisor": mark("divisor"),
    "embedding_scale": mark("embedding scale"),
    "encoding": mark("encoding"),
    "epsilon": mark("epsilon"),
    "exponent": mark("exponent"),
    "factor": mark("factor"),
    "head": mark("head"),
    "heads": mark("heads"),
    "layout": mark("RoPE layout"),
    "length": mark("trained length"),
    "max_distance": mark("max distance"),
    "norm": mark("norm"),
    "norms": mark("norms"),
    "order": mark("order"),
    "residual": mark("residual"),
    "rotary": mark("rotary"),
    "scaling": mark("scaling"),
    "theta": mark("RoPE base"),
}


class Inquiry:
    """Questions in the order in which they are settled, and a finding of how each one was.

    What the file says is no question. What it doesn't say is one: its answer is taken, or else
    the likeliest value, and the finding says which.
    """

    def __init__(self, sheet: Sheet, answers: Mapping[str, object]) -> None:
        self._sheet, self._given = sheet, dict(answers)
        self.questions: list[Parameter] = []
        self.findings: list[Finding] = []
        self.answers: dict[str, Value] = {}

    def settle(self, parameter: Parameter, known: Value | None = None, why: str = "") -> Value:
        """The value of `parameter`: what is `known`, the config's, an answer, or its default.

        `why` it is known becomes a finding. Raises UsageError for an answer outside its range,
        DamagedCheckpoint for a config's.
        """
        name, said = parameter.name, self._said(parameter)
        if known is not None:
            self._agreed(parameter, known)
            if why:
                self.note(name, "note", say("{value}: {why}.", value=shown(known), why=why))
            if said is not None and said != known:
                words = say(
                    "The file's config says {said}, and its tensors {value}.",
                    said=shown(said),
                    value=shown(known),
                )
                self.note(name, "differs", words)
            return known
        if said is not None:
            self.note(name, "note", say("{said}: the file's config says so.", said=shown(said)))
            return said
        self.questions.append(parameter)
        if name in self._given:
            answer = self.answers[name] = parameter.check(self._given[name])
            self.note(name, "note", say("{value}: it was answered so.", value=shown(answer)))
            return answer
        words = say("The file doesn't say.")
        if parameter.default != 0:
            words = say("Assumed {value}; the file doesn't say.", value=shown(parameter.default))
        self.note(name, "unknown", words)
        return parameter.default

    def _agreed(self, parameter: Parameter, known: Value) -> None:
        """Takes an answer that says what is known. Raises UsageError for another one."""
        name = parameter.name
        if name in self._given:
            answer = self.answers[name] = parameter.check(self._given[name])
            if answer != known:
                raise UsageError(
                    say(
                        "Expected {name} to be {known}, as the file has it; the answer is "
                        "{answer}, so leave it out.",
                        name=name,
                        known=shown(known),
                        answer=shown(answer),
                    )
                )

    def choose(
        self,
        name: str,
        choices: tuple[str, ...],
        default: str,
        help: str,
        known: Value | None = None,
        why: str = "",
    ) -> str:
        """`settle` for one of several words."""
        return str(self.settle(Parameter(name, default, help, choices=choices), known, why))

    def note(self, name: str, verdict: Verdict, words: str) -> None:
        """A finding about what `name` asks for."""
        self.findings.append(Finding(_ABOUT.get(name, name.replace("_", " ")), verdict, words))

    def contradiction(self, words: str) -> UsageError | DamagedCheckpoint:
        """The error for values that don't go together: a person's fault if one answered."""
        if self.answers:
            return UsageError(words)
        return DamagedCheckpoint(
            say("{file} contradicts itself: {words}", file=self._sheet.called, words=words)
        )

    def close(self) -> None:
        """Raises UnknownName for an answer to a question that wasn't asked."""
        for name in self._given:
            if name not in self.answers:
                asked = [q.name for q in self.questions]
                raise UnknownName(mark("an answer to a question"), name, asked or [say("none")])

    def _said(self, parameter: Parameter) -> Value | None:
        value = self._sheet.said(*names.CONFIG.get(parameter.name, ()))
        value = value.lower() if isinstance(value, str) else value
        if isinstance(value, str | bool):
            value = names.SYNONYMS.get(parameter.name, {}).get(value, value)
        try:
            return None if value is None else parameter.check(value)
        except UsageError as error:
            raise DamagedCheckpoint(
                say(
                    "The config in {file} can't be followed: {why}",
                    file=self._sheet.called,
                    why=str(error)[:300],
                )
            ) from None


def shown(value: Value) -> str:
    """A value in a sentence."""
    if isinstance(value, str):
        return value
    return f"{value:,.6g}" if isinstance(value, float) else f"{value:,}"
