"""What a reader finds out about a checkpoint before it reads a weight."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from viz_core.encodings import Geometry, Parameter, Value
from viz_core.subject import Sizes

Verdict = Literal["agrees", "differs", "note", "unknown"]


@dataclass(frozen=True)
class Finding:
    """One line of the audit: what was looked at, what came of it, and a sentence.

    `about` is marked, to be said where it is shown; `words` are in the language in which it was
    found.
    """

    about: str
    verdict: Verdict
    words: str


@dataclass(frozen=True)
class ForeignSizes:
    """The `Sizes` of a model that isn't ours."""

    encoding: str
    layers: int
    heads: int
    kv_heads: int
    head_dim: int
    width: int
    vocabulary: int
    length: int
    causal: bool = True
    parameters: Mapping[str, Value] = field(default_factory=dict)

    @property
    def geometry(self) -> Geometry:
        """What an encoding needs to know of these sizes."""
        return Geometry(self.heads, self.head_dim, self.width, self.length)


@dataclass(frozen=True)
class Description:
    """A checkpoint as its headers and JSON describe it.

    `path` is its file or folder; `format` "native", "state-dict", "huggingface" or "gguf";
    `weights` the number of parameters; `facts` anything else that it says, in JSON types.
    `questions` are what could not be inferred, with the likeliest value as default and a marked
    help; `answers` what a person said to them.
    """

    path: Path
    format: str
    family: str
    config: Sizes
    weights: int
    findings: tuple[Finding, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    tokenizer: Path | None = None
    questions: tuple[Parameter, ...] = ()
    answers: Mapping[str, Value] = field(default_factory=dict)

    @property
    def assumed(self) -> dict[str, Value]:
        """What a script's state dict doesn't say and nobody answered, by the question's name."""
        if self.format != "state-dict":  # elsewhere a question is a choice of what to look at
            return {}
        asked = {q.name: q.default for q in self.questions if q.name not in self.answers}
        if self.config.parameters.get("scaling") == "none":
            asked.pop("factor", None)  # by which nothing is scaled
        return {name: value for name, value in asked.items() if value != 0}
