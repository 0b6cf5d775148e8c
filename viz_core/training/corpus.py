"""The training text: 38 million characters of long English documents, all in the public domain.

`downloads.fetch` brings the packages, `build` turns them into `corpus.jsonl` (all documents) and
`heldout.jsonl` (validation and test only), `documents` reads either. Only training and the
held-out texts need any of this; the app runs without it.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import struct
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Literal

from viz_core.errors import AtlasError
from viz_core.training.sources import normalised, raw_texts
from viz_core.words import say

Split = Literal["train", "val", "test"]

CORPUS_SHA256 = "74862581ba27102661e5ff622d9b398eb65aee2035e7227841dc290a6f5fc713"
LICENCE = "public-domain"
SHORTEST = 2_000  # characters; less teaches nothing about distance
SHORTEST_HELD_OUT = 84_000  # characters; over 16,384 tokens with any vocabulary up to 16k
LONGEST_HELD_OUT = {"tdavid": 400_000}  # Psalm 119 alone is 1.4 million: it stays in train
HELD_OUT = {"sotu": 8, "tdavid": 8, "mhcc": 2, "web": 2, "austen": 1}  # per split


class CorpusError(AtlasError):
    """The training text could not be fetched, built or read."""


@dataclass(frozen=True)
class Document:
    """One document, with text as `sources.normalised` leaves it; `id` is `source/name`."""

    id: str
    source: str
    licence: str
    split: Split
    text: str


def corpus_folder() -> Path:
    """Where the text lives: `$ATLAS_CORPUS`, or else `corpus/` in the repository root."""
    chosen = os.environ.get("ATLAS_CORPUS")
    return Path(chosen).expanduser() if chosen else Path(__file__).resolve().parents[2] / "corpus"


def build(packages: Path, out: Path) -> None:
    """Write all documents to `out` and the held-out ones to `heldout.jsonl` beside it.

    One JSON object a line: id, source, licence, chars, text, split. Both files appear whole or
    not at all, and only if the text is, byte for byte, the one the checkpoints were trained on.
    Input: the folder of unpacked packages, and the file to write.
    Errors: CorpusError if a package is missing or damaged, or the text isn't the expected one.
    """
    try:
        texts = {f"{raw.source}/{raw.name}": normalised(raw.text) for raw in raw_texts(packages)}
    except (OSError, EOFError, struct.error, zlib.error, UnicodeDecodeError) as error:
        raise CorpusError(
            say(
                "Expected the unpacked packages in {folder}, but could not read them ({error}): "
                "remove that folder and fetch again.",
                folder=packages,
                error=error,
            )
        ) from error
    texts = {name: text for name, text in texts.items() if len(text) >= SHORTEST}
    split = splits({name: len(text) for name, text in texts.items()})
    lines = {name: _line(name, text, split[name]) for name, text in texts.items()}
    digest = hashlib.sha256(b"".join(lines.values())).hexdigest()
    if digest != CORPUS_SHA256:
        raise CorpusError(
            say(
                "Expected the training text with sha256 {sha256}; got {count} documents with "
                "{came} from {folder}: remove that folder and fetch again.",
                sha256=CORPUS_SHA256,
                count=len(lines),
                came=digest,
                folder=packages,
            )
        )
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        held_out = [line for name, line in lines.items() if split[name] != "train"]
        _write_whole(out.with_name("heldout.jsonl"), held_out)
        _write_whole(out, lines.values())
    except OSError as error:
        raise CorpusError(
            say("Could not write the training text to {path}: {error}.", path=out, error=error)
        ) from error


def _line(name: str, text: str, split: Split) -> bytes:
    source = name.partition("/")[0]
    entry = dict(id=name, source=source, licence=LICENCE, chars=len(text), text=text, split=split)
    return (json.dumps(entry, ensure_ascii=False) + "\n").encode()


def _write_whole(path: Path, lines: Iterable[bytes]) -> None:
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as file:
            file.writelines(lines)
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def splits(lengths: Mapping[str, int]) -> dict[str, Split]:
    """Which split each document belongs to, from ids (`source/name`) and characters alone.

    Within a source, the long documents in order of sha256(id) go first to val, then to test;
    all others are train. So the split moves neither with the order nor with the tokenizer.
    """
    split: dict[str, Split] = dict.fromkeys(lengths, "train")
    for source, count in HELD_OUT.items():
        longest = LONGEST_HELD_OUT.get(source, math.inf)
        here = (name for name in lengths if name.startswith(f"{source}/"))
        long = [name for name in here if SHORTEST_HELD_OUT <= lengths[name] < longest]
        long.sort(key=lambda name: hashlib.sha256(name.encode()).hexdigest())
        split.update(dict.fromkeys(long[:count], "val"))
        split.update(dict.fromkeys(long[count : 2 * count], "test"))
    return split


def documents(path: Path, split: Split | None = None) -> Iterator[Document]:
    """The documents of one split (or of all) in a file that `build` wrote, one at a time.

    Errors, once iteration starts: CorpusError if the file is missing or a line isn't a document.
    """
    try:
        with path.open(encoding="utf-8") as file:
            for entry in map(json.loads, file):
                if split in (None, entry["split"]):
                    yield Document(**{f.name: entry[f.name] for f in fields(Document)})
    except OSError as error:
        raise CorpusError(
            say(
                "Expected the training text in {path}, but could not read it ({error}): fetch and "
                "build it first (viz_core.training.corpus).",
                path=path,
                error=error.strerror,
            )
        ) from error
    except (ValueError, KeyError, TypeError) as error:
        raise CorpusError(
            say(
                "Expected a document in every line of {path}; got something else ({type}: "
                "{error}): build it again.",
                path=path,
                type=type(error).__name__,
                error=error,
            )
        ) from error
