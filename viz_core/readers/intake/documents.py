"""JSON and word lists from strangers: bounded before they are read, and freed of all that is code.

Python's own reader takes what JSON doesn't have (NaN, a name twice, endless numbers) and any depth
up to its recursion limit. A configuration may also name code, kernels or files that a library
would fetch, run or open; those names are taken out, whatever flags that library is called with.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from viz_core.readers.intake.limits import Limits
from viz_core.readers.intake.words import damaged, shown, size
from viz_core.words import say

# The files whose names are taken out; a vocabulary may hold any word as a name.
CONFIGURATIONS = (
    "config.json",
    "params.json",
    "generation_config.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
)
_LONGEST_NUMBER = 40  # characters; a number in double precision has at most 25
# transformers 5: what leads to code from elsewhere; where kernels are chosen, from the hub if there
# is a "/" in the name; paths on the machine of whoever saved it, which a tokenizer would open on
# this one; and a template that is a program.
_CODE = re.compile(
    r"auto_map|custom_(code|generate|pipelines?)|trust_remote_code|use_kernels|kernel_config"
    r"|code_revision"
)
_KERNELS = re.compile(r"_?(attn|experts)_implementation\w*")
_PLACES = re.compile(r"_?name_or_path|\w*_file")
_TEMPLATE = "chat_template"


class _Wrong(ValueError):
    """What is wrong with a text, as the middle of a sentence."""


def read_json(path: Path, limits: Limits) -> Any:
    """The value in the JSON file `path`. Raises DamagedCheckpoint, also for one beyond `limits`."""
    return parse(read_bytes(path, limits), path.name, limits)


def read_bytes(path: Path, limits: Limits) -> bytes:
    """The content of a document of at most `limits.document` bytes. Raises DamagedCheckpoint."""
    try:
        with path.open("rb") as file:
            data = file.read(limits.document + 1)
    except OSError as error:
        raise damaged(
            path, say("a text"), say("it can't be read ({why})", why=error.strerror)
        ) from None
    if len(data) > limits.document:
        raise damaged(
            path,
            say("at most {most}", most=size(limits.document)),
            say("it holds more"),
            say("raise the limit 'document' if it is right"),
        )
    return data


def parse(data: bytes, name: str, limits: Limits) -> Any:
    """The value in the JSON text `data`, which came in the file `name`.

    Raises DamagedCheckpoint for what isn't JSON in UTF-8, and for more values, or deeper ones, than
    `limits` allow.
    """
    # Each value but the first follows one of these; those inside texts are counted along.
    if sum(data.count(sign) for sign in (b"[", b"{", b",")) > limits.values:
        raise damaged(
            name,
            say("at most {most:,} values", most=limits.values),
            say("it holds more"),
            say("raise the limit 'values' if it is right"),
        )
    try:
        value = json.loads(
            data.decode(),
            object_pairs_hook=_once,
            parse_constant=_constant,
            parse_int=_whole,
            parse_float=_real,
        )
        deep = _depth(value, limits.depth) > limits.depth
    except _Wrong as wrong:
        raise damaged(name, say("plain JSON"), str(wrong)) from None
    except RecursionError:
        deep = True
    except ValueError:  # of the decoder, and of UTF-8
        raise damaged(name, say("JSON in UTF-8"), say("it is something else")) from None
    if deep:
        raise damaged(
            name,
            say("lists and objects at most {most} deep in each other", most=limits.depth),
            say("they lie deeper"),
            say("raise the limit 'depth' if that is right"),
        )
    return value


def without_code(value: Any) -> tuple[Any, list[str]]:
    """(`value` without what names code, kernels or places, at any depth; what named code, sorted).

    `value`: of a configuration, as `parse` returned it, so not deeper than the limits allow.
    """
    found: set[str] = set()
    return _cleaned(value, found), sorted(found)


def check_vocabulary(path: Path, limits: Limits) -> None:
    """Raises DamagedCheckpoint where a file of a tokenizer can't be read or holds too many tokens.

    `path`: tokenizer*.json, vocab.json, vocab.txt, merges.txt, or tokenizer.model (its size alone).
    """
    if path.suffix == ".json":
        value = read_json(path, limits)
        if isinstance(value, dict) and isinstance(model := value.get("model"), dict):
            value = model.get("vocab")
        tokens = len(value) if isinstance(value, (dict, list)) else 0
    else:
        data = read_bytes(path, limits)
        tokens = data.count(b"\n") if path.name == "vocab.txt" else 0
    if tokens > limits.vocabulary:
        raise damaged(
            path,
            say("a vocabulary of at most {most:,} tokens", most=limits.vocabulary),
            say("it has {tokens:,}", tokens=tokens),
            say("raise the limit 'vocabulary' if it is right"),
        )


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        met: set[str] = set()
        for name, _ in pairs:
            if name in met:
                raise _Wrong(say("it has {name} twice in one object", name=shown(name)))
            met.add(name)
    return found


def _constant(text: str) -> Any:
    raise _Wrong(say("it has the number {text}", text=text))


def _whole(text: str) -> int:
    if len(text) > _LONGEST_NUMBER:
        raise _Wrong(say("it has a whole number of {n:,} digits", n=len(text)))
    return int(text)


def _real(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise _Wrong(say("it has the number {text}, which is too large", text=shown(text)))
    return number


def _depth(value: Any, most: int) -> int:
    """How deep lists and objects lie in each other; no further than `most` + 1."""
    level, depth = [value], 0
    while depth <= most:
        level = [item for item in level if isinstance(item, (dict, list))]
        if not level:
            break
        depth += 1
        level = [i for held in level for i in (held.values() if isinstance(held, dict) else held)]
    return depth


def _cleaned(value: Any, found: set[str]) -> Any:
    if isinstance(value, list):
        return [_cleaned(item, found) for item in value]
    if not isinstance(value, dict):
        return value
    kept = {}
    for name, item in value.items():
        text = item if isinstance(item, str) else ""
        kernels, place = _KERNELS.fullmatch(name), _PLACES.fullmatch(name) and text
        if _CODE.fullmatch(name) or (kernels and "/" in text) or (place and text.endswith(".py")):
            found.add(name)
        elif not kernels and not place and name != _TEMPLATE:
            kept[name] = _cleaned(item, found)
    return kept
