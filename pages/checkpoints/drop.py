"""Where checkpoints come in: files dropped or chosen, a folder of the server, an id of the hub.

What was chosen stays in the browser until it is taken, so that after an error what is missing can
be added, and nothing has to be sent twice.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import streamlit as st

from pages._shared import uploads_room
from pages.checkpoints import admission, words
from pages.checkpoints.admission import File
from viz_core.errors import AtlasError
from viz_core.readers.huggingface import hub
from viz_core.readers.intake import Limits, Upload
from viz_core.readers.intake import folders as server
from viz_core.readers.intake.names import WEIGHTS
from viz_core.words import mark, say

TYPES = [*WEIGHTS, ".zip", ".json", ".txt", ".model"]
HOW = {False: mark("Files"), True: mark("A whole folder")}


def show() -> None:
    """All the ways in that this server has. Raises AtlasError where its limits can't be read."""
    s, room = st.session_state, uploads_room.uploads()
    limits = room.limits
    room.expire(time.time())
    s.setdefault("uploads_turn", 0)
    most = uploads_room.most(limits)
    directory = st.segmented_control(
        say("What you choose"),
        [False, True],
        format_func=lambda whole: say(HOW[whole]),
        default=False,
        required=True,
        key="uploads_directory",
        label_visibility="collapsed",
    )
    files = st.file_uploader(
        say(
            "A checkpoint: this project's file; a state dict (.pt, .pth, .ckpt, .bin, "
            ".safetensors) with its tokenizer.json, if you like; a Hugging Face folder, as its "
            "files or as one .zip; a GGUF"
        ),
        type=TYPES,
        accept_multiple_files="directory" if directory else True,
        max_upload_size=most,
        key=f"uploads_{s.uploads_turn}_{int(directory)}",
    )
    st.caption(words.limits(limits, most))
    place = st.empty()
    if files:
        mark = tuple(file.file_id for file in files)
        some = [File(file.name, file, file.size) for file in files]
        _once(mark, lambda: admission.take(some, place))
    if limits.folders or limits.hub:
        with st.expander(say("From the server, or from the Hugging Face hub")):
            if limits.folders:
                _folder(limits)
            if limits.hub:
                _hub(limits)


def _once(mark: object, take: Callable[[], Upload]) -> None:
    """Takes what `mark` names, if it wasn't tried before; the sentence of what stood in the way."""
    s = st.session_state
    tried, sentence = s.get("uploads_tried", (None, ""))
    if tried != mark:
        try:
            take()
        except AtlasError as error:
            sentence = str(error)
            s.uploads_tried = mark, sentence
        else:
            _clear()
            st.rerun()
    st.error(words.plain(sentence))
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(say("Clear these files"), on_click=_clear, key="uploads_clear")
        st.caption(
            say("Or add what is missing: files that are already here needn't be sent again.")
        )


def _clear() -> None:
    """An empty field: the browser's copies go, and the server's."""
    st.session_state.uploads_tried = None, ""
    st.session_state.uploads_turn += 1


def _folder(limits: Limits) -> None:
    """A path in one of the folders that the server's owner opened."""
    text = st.text_input(say("A path on the server"), key="uploads_path", max_chars=1000)
    folders = ", ".join(map(str, limits.folders))
    st.caption(words.plain(say("In one of: {folders}.", folders=folders)))
    if st.button(say("Open"), key="uploads_open") and text:
        place = st.empty()
        try:
            taken, _ = server.files(server.within(text, limits), limits)
            admission.paths(list(taken.values()), place)
        except AtlasError as error:
            st.error(words.plain(str(error)))
        else:
            st.rerun()


def _hub(limits: Limits) -> None:
    """A model of the hub by its id, at a revision that is then pinned."""
    left, right = st.columns([2, 1], gap="medium")
    name = left.text_input(say("A model of the hub"), key="uploads_hub", placeholder="owner/name")
    revision = right.text_input(say("Revision"), "main", key="uploads_revision")
    if st.button(say("Fetch"), key="uploads_fetch") and name:
        place = st.empty()
        try:
            with tempfile.TemporaryDirectory() as scratch:
                with st.spinner(say("Fetching the files")):
                    folder, commit = hub.fetch(name, revision, Path(scratch), limits)
                some = sorted(path for path in folder.iterdir() if path.is_file())
                upload = admission.paths(some, place)
        except AtlasError as error:
            st.error(words.plain(str(error)))
        else:
            known = st.session_state.get("uploads_from", {})
            st.session_state.uploads_from = {**known, upload.id: (name, commit)}
            st.rerun()
