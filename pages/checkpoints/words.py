"""Words for uploads: what a server takes, how long it keeps it, and what a checkpoint is."""

from __future__ import annotations

import re
from datetime import datetime

from babel.dates import format_date

from viz_core import encodings
from viz_core.catalogue import Checkpoint
from viz_core.encodings import Value
from viz_core.readers.description import Verdict
from viz_core.readers.intake import Limits
from viz_core.readers.intake.words import size
from viz_core.words import language, mark, say

FORMATS = {
    "native": mark("this project's own format"),
    "state-dict": mark("state dict of a script"),
    "huggingface": mark("Hugging Face folder"),
    "gguf": "GGUF",
}
VERDICTS: dict[Verdict, tuple[str, str]] = {  # a sign and a word
    "agrees": ("✓", mark("agrees")),
    "differs": ("≠", mark("differs")),
    "note": ("·", mark("note")),
    "unknown": ("?", mark("unknown")),
}
# What is asked about a file, and the parameters of encodings; others are called as they are.
NAMES = {
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
    "first": mark("first"),
    "head": mark("head"),
    "heads": mark("heads"),
    "kernel": mark("kernel"),
    "layout": mark("layout"),
    "length": mark("length"),
    "max_distance": mark("max distance"),
    "norm": mark("norm"),
    "norms": mark("norms"),
    "order": mark("order"),
    "residual": mark("residual"),
    "special_tokens": mark("special tokens"),
    "rotary": mark("rotary"),
    "scaling": mark("scaling"),
    "share": mark("share"),
    "span": mark("span"),
    "stack": mark("stack"),
    "theta": mark("theta"),
    "waves": mark("waves"),
}
_MARKS = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~$:&^=])")  # all that Markdown gives a meaning


def plain(text: str) -> str:
    """`text` as Markdown that shows it and nothing else, on one line."""
    return _MARKS.sub(r"\\\1", " ".join(text.split()))


def limits(limits: Limits, largest: int) -> str:
    """What an upload may be; `largest` MiB is what the browser may send as one file."""
    return say(
        "Up to {file} a file, {upload} and {files} files an upload, {person} a person. Kept for "
        "{hours} hours at most, seen in this browser tab alone: reloading the page, or closing it, "
        "gives an upload up. Nothing that a file names is run.",
        file=size(min(largest << 20, limits.largest_upload)),
        upload=size(limits.largest_upload),
        files=limits.files,
        person=size(limits.quota),
        hours=limits.hours,
    )


def until(created: float, hours: int) -> str:
    """When an upload of that time (seconds since 1970) goes, on the server's clock."""
    end = datetime.fromtimestamp(created + 3_600 * hours).astimezone()
    day = format_date(end, say("d MMMM"), locale=language())  # a pattern of Unicode's for dates
    return say(
        "{time} on {day} ({zone})", time=end.strftime("%H:%M"), day=day, zone=end.strftime("%Z")
    )


def facts(one: Checkpoint) -> list[tuple[str, str]]:
    """Sizes and encoding of a checkpoint in words: (what, value), nothing of it formatted."""
    c, d = one.config, one.description
    heads = say("{layers:,} of {heads:,} heads", layers=c.layers, heads=c.heads)
    if c.kv_heads != c.heads:
        heads = say(
            "{layers:,} of {heads:,} heads ({keys:,} of keys)",
            layers=c.layers,
            heads=c.heads,
            keys=c.kv_heads,
        )
    sees = say("the keys before it") if c.causal else say("all keys, on both sides")
    values = ", ".join(f"{_word(n)} {_number(v)}" for n, v in _parameters(one).items())
    pieces = say("its own") if d.tokenizer else say("this project's")
    if one.numbered:
        pieces = say("none: it reads random tokens, or token numbers")
    unknown, tokens = say("unknown"), mark("{n:,} tokens")
    return [
        (say("Encoding"), encodings.get(c.encoding).name + f" ({values})" * bool(values)),
        (say("Layers"), heads),
        (
            say("Channels"),
            say("{width:,} a head, {all:,} in all", width=c.head_dim, all=c.width),
        ),
        (say("A query sees"), sees),
        (say("Trained length"), say(tokens, n=c.length) if c.length else unknown),
        (say("Parameters"), f"{d.weights:,}"),
        (
            say("Vocabulary"),
            say(tokens, n=c.vocabulary) if c.vocabulary else say("none: no embedding"),
        ),
        (say("Tokenizer"), pieces),
    ]


def label(name: str) -> str:
    """The parameter `name` as a widget is called."""
    word = _word(name)
    return word[:1].upper() + word[1:]


def _parameters(one: Checkpoint) -> dict[str, Value]:
    """The encoding's parameters; those aside only where they aren't as usual."""
    given, known = one.config.parameters, encodings.get(one.config.encoding).parameters
    values = {p.name: given.get(p.name, p.default) for p in known}
    return {p.name: values[p.name] for p in known if not p.aside or values[p.name] != p.default}


def _word(name: str) -> str:
    return say(NAMES.get(name, name.replace("_", " ")))


def _number(value: Value) -> str:
    return value if isinstance(value, str) else f"{value:,.6g}"
