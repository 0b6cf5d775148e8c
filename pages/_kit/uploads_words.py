"""Words for uploads: what a server takes, how long it keeps it, and what a checkpoint is."""

from __future__ import annotations

import re
from datetime import datetime

from pages._kit import reading
from viz_core import encodings
from viz_core.catalogue import Checkpoint
from viz_core.encodings import Value
from viz_core.readers.description import Verdict
from viz_core.readers.intake import Limits
from viz_core.readers.intake.words import size

FORMATS = {
    "native": "this project's own format",
    "state-dict": "state dict of a script",
    "huggingface": "Hugging Face folder",
    "gguf": "GGUF",
}
VERDICTS: dict[Verdict, tuple[str, str]] = {  # a sign and a word
    "agrees": ("✓", "agrees"),
    "differs": ("≠", "differs"),
    "note": ("·", "note"),
    "unknown": ("?", "unknown"),
}
_MARKS = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~$:&^=])")  # all that Markdown gives a meaning


def plain(text: str) -> str:
    """`text` as Markdown that shows it and nothing else, on one line."""
    return _MARKS.sub(r"\\\1", " ".join(text.split()))


def limits(limits: Limits, largest: int) -> str:
    """What an upload may be; `largest` MiB is what the browser may send as one file."""
    return (
        f"Up to {size(min(largest << 20, limits.largest_upload))} a file, "
        f"{size(limits.largest_upload)} and {limits.files} files an upload, {size(limits.quota)} a "
        f"person. Kept for {limits.hours} hours at most, seen in this browser tab alone: reloading "
        "the page, or closing it, gives an upload up. Nothing that a file names is run."
    )


def until(created: float, hours: int) -> str:
    """When an upload of that time (seconds since 1970) goes, on the server's clock."""
    end = datetime.fromtimestamp(created + 3_600 * hours).astimezone()
    return f"{end:%H:%M} on {end.day} {end:%B} ({end:%Z})"


def facts(one: Checkpoint) -> list[tuple[str, str]]:
    """Sizes and encoding of a checkpoint in words: (what, value), nothing of it formatted."""
    c, d = one.config, one.description
    shared = "" if c.kv_heads == c.heads else f" ({c.kv_heads:,} of keys)"
    sees = "the keys before it" if c.causal else "all keys, on both sides"
    values = ", ".join(f"{_word(n)} {_number(v)}" for n, v in _parameters(one).items())
    pieces = "its own" if d.tokenizer else "this project's"
    if reading.numbered(one):
        pieces = "none: it reads random tokens, or token numbers"
    return [
        ("Encoding", encodings.get(c.encoding).name + f" ({values})" * bool(values)),
        ("Layers", f"{c.layers:,} of {c.heads:,} heads{shared}"),
        ("Channels", f"{c.head_dim:,} a head, {c.width:,} in all"),
        ("A query sees", sees),
        ("Trained length", f"{c.length:,} tokens" if c.length else "unknown"),
        ("Parameters", f"{d.weights:,}"),
        ("Vocabulary", f"{c.vocabulary:,} tokens" if c.vocabulary else "none: no embedding"),
        ("Tokenizer", pieces),
    ]


def _parameters(one: Checkpoint) -> dict[str, Value]:
    """The encoding's parameters; those aside only where they aren't as usual."""
    given, known = one.config.parameters, encodings.get(one.config.encoding).parameters
    values = {p.name: given.get(p.name, p.default) for p in known}
    return {p.name: values[p.name] for p in known if not p.aside or values[p.name] != p.default}


def _word(name: str) -> str:
    return name.replace("_", " ")


def _number(value: Value) -> str:
    return value if isinstance(value, str) else f"{value:,.6g}"
