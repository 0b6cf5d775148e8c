"""The questions about an upload: what its file doesn't say, with the likeliest values filled in."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from pages._shared import language, uploads_known
from pages.checkpoints import words as checkpoint_words
from viz_core.catalogue import Checkpoint
from viz_core.encodings import Parameter, Value
from viz_core.errors import AtlasError
from viz_core.readers.intake import Upload
from viz_core.words import say

ACROSS = 3  # questions in a row


def show(upload: Upload, one: Checkpoint) -> None:
    """The form; nothing where there is no question."""
    questions, answers = one.questions, one.answers
    if not questions:
        return
    if one.description.questions:
        st.markdown(
            say(
                "**The file doesn't say all of itself.** The likeliest values are filled in; "
                "correct what you know better."
            )
        )
    key = f"answers_{upload.id[:12]}"
    with st.form(key, border=False):
        for first in range(0, len(questions), ACROSS):
            some = questions[first : first + ACROSS]
            for column, question in zip(st.columns(ACROSS, gap="medium"), some, strict=False):
                with column:
                    _field(f"{key}_{question.name}", question, answers.get(question.name))
        st.form_submit_button(
            say("Use these values"), on_click=_taken, args=(key, upload, questions)
        )
    if wrong := st.session_state.pop(f"{key}_wrong", None):
        st.error(checkpoint_words.plain(wrong))


def _taken(key: str, upload: Upload, questions: tuple[Parameter, ...]) -> None:
    language.recall()
    before = dict(uploads_known.answers(upload))
    fields = {q.name: st.session_state[f"{key}_{q.name}"] for q in questions}
    # what is left as it was found stays a guess, and is said to be one
    wanted = {q.name: fields[q.name] for q in questions if _changed(q, fields, before)}
    try:
        uploads_known.answer(upload, wanted)
    except AtlasError as error:
        st.session_state[f"{key}_wrong"] = str(error)


def _changed(question: Parameter, fields: Mapping[str, Value], before: Mapping[str, Value]) -> bool:
    return question.name in before or fields[question.name] != question.default


def _field(key: str, question: Parameter, answer: Value | None) -> None:
    """The widget of one question."""
    value = question.default if answer is None else answer
    label, words = checkpoint_words.label(question.name), checkpoint_words.plain(say(question.help))
    low, high = question.low, question.high
    if question.choices:
        st.selectbox(
            label, question.choices, question.choices.index(str(value)), key=key, help=words
        )
    elif isinstance(value, str):
        st.text_input(label, value, key=key, help=words)
    elif isinstance(value, int):
        ends = [None if end is None else int(end) for end in (low, high)]
        st.number_input(label, *ends, value, step=1, key=key, help=words)
    else:
        st.number_input(label, low, high, float(value), key=key, help=words, format="%.10g")
