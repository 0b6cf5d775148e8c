"""This session's uploads as checkpoints: with an id, the answers given, and what stands in the way.

Ids go into addresses, lists and legends, so they are made of a few plain letters of a file's name
and of the contents' hash; nothing of a stranger's file is shown as it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import streamlit as st

from pages._shared import uploads_room
from viz_core import readers
from viz_core.catalogue import SPECIAL_TOKENS, Checkpoint, asked_of_texts
from viz_core.encodings import Value
from viz_core.errors import AtlasError
from viz_core.readers.description import Description
from viz_core.readers.intake import Admitted, Upload, admitted
from viz_core.readers.intake.names import WEIGHTS
from viz_core.words import language, say, speaking

LONGEST = 24  # characters of a file's name in an id
DIGITS = 6  # of the hash
# Names that say nothing: the family does.
_PLAIN = re.compile(r"|model|pytorch-model|ckpt|checkpoint|weights|final|best|last|files?|archive")
_SHARD = re.compile(r"-\d{5}-of-\d{5}$")
_WEIGHTS = (*WEIGHTS, ".zip")  # what is taken first, first

Answers = tuple[tuple[str, Value], ...]


@dataclass(frozen=True)
class Known:
    """An upload that was admitted, and the checkpoint in it; None where it isn't one, and why."""

    upload: Upload
    notes: tuple[str, ...]
    checkpoint: Checkpoint | None
    wrong: str = ""


def known() -> list[Known]:
    """What this session may open: its own, the newest first, then what was published."""
    room, found = uploads_room.uploads(), []
    for upload in room.list(uploads_room.visitor()):
        inside = admitted(upload.admitted)
        if inside is None:  # it is coming in at this moment, or what came isn't fit
            continue
        try:
            one = _checkpoint(upload.files, upload.id, place(inside), answers(upload), language())
            found.append(Known(upload, inside.notes, one))
        except (AtlasError, OSError) as error:
            wrong = str(error) if isinstance(error, AtlasError) else say("It was removed.")
            found.append(Known(upload, inside.notes, None, wrong))
    return found


def checkpoints() -> dict[str, Checkpoint]:
    """The checkpoints among them by id."""
    some = (one.checkpoint for one in known())
    return {c.id: c for c in some if c is not None}


def answers(upload: Upload) -> Answers:
    """What this session's person said to the questions about `upload`."""
    given: Mapping[str, Answers] = st.session_state.get("uploads_answers", {})
    return given.get(upload.id, ())


def answer(upload: Upload, wanted: Mapping[str, Value]) -> None:
    """Takes `wanted` for the answers about `upload`, as far as their questions are still asked.

    One answer may take another question away, so they are given one by one. Raises UsageError for
    values that can't be, and keeps the answers that there were.
    """
    inside = admitted(upload.admitted)
    if inside is None:
        raise AtlasError(
            say("Expected this upload on the server; it is there no more: send it again.")
        )
    path, given = place(inside), dict[str, Value]()
    while True:
        asked = readers.describe(path, given).questions
        name = next((q.name for q in asked if q.name in wanted and q.name not in given), None)
        if name is None:
            break
        given[name] = wanted[name]
    asked_of_texts(wanted)
    given |= {n: value for n, value in wanted.items() if n == SPECIAL_TOKENS.name}
    every: Mapping[str, Answers] = st.session_state.get("uploads_answers", {})
    st.session_state.uploads_answers = {**every, upload.id: tuple(sorted(given.items()))}


def place(inside: Admitted) -> Path:
    """What a reader opens: our own file as it is called, or the folder of files that belong
    together."""
    return inside.weights[0] if inside.kind == "native" else inside.folder


@lru_cache(maxsize=64)
def _checkpoint(
    files: tuple[str, ...], sha256: str, path: Path, given: Answers, spoken: str
) -> Checkpoint:
    """The checkpoint at `path`, hashed; once for all reruns, since a hash names its contents.

    Its findings are in the language `spoken`.
    """
    rest, special_tokens = asked_of_texts(dict(given))
    with speaking(spoken):
        description = readers.describe(path, rest)
    one = Checkpoint(short(files, sha256, description), description, special_tokens)
    assert one.sha256  # read now, while its files are there
    return one


def short(files: tuple[str, ...], sha256: str, description: Description) -> str:
    """An id of letters, digits and hyphens: "my-model-1a2b3c"."""
    name = next((f for end in _WEIGHTS for f in files if f.endswith(end)), "")
    stem = _plain(_SHARD.sub("", Path(name).stem))
    if _PLAIN.fullmatch(stem):
        stem = _plain(description.family) or "upload"
    return f"{stem}-{sha256[:DIGITS]}"


def _plain(text: str) -> str:
    return re.sub("[^a-z0-9]+", "-", text.lower()).strip("-")[:LONGEST].strip("-")
