"""The shipped checkpoints: a card each, with its numbers, and its whole model card on demand."""

from __future__ import annotations

import re
from collections.abc import Mapping

import streamlit as st

from pages._shared import draw, language
from pages._shared.page import script
from viz_core import encodings, series
from viz_core.catalogue import Checkpoint
from viz_core.errors import AtlasError
from viz_core.render import palette
from viz_core.words import say

ACROSS = 3  # cards in a row
_FRONT = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)  # for the hub, not for the reader
_COMMENT = re.compile(r"<!--.*?-->\n*", re.DOTALL)
_LOCAL = re.compile(r"\[([^\]]+)\]\((?!https?:)[^)]*\)")  # links that lead nowhere from a page


def cards(shipped: Mapping[str, Checkpoint]) -> None:
    """The cards, in the order of all lists."""
    known = series.ORDER
    some = sorted(
        shipped.values(), key=lambda c: known.index(c.id) if c.id in known else len(known)
    )
    for first in range(0, len(some), ACROSS):
        columns = st.columns(ACROSS, gap="medium")
        for column, one in zip(columns, some[first : first + ACROSS], strict=False):
            with column.container(border=True, height="stretch", key=f"card_{one.id}"):
                _card(one)


def _card(one: Checkpoint) -> None:
    c, facts, encoding = one.config, one.facts, encodings.get(one.config.encoding)
    colour = palette.letters(c.encoding, draw.dark())
    name = series.name(c.encoding, "", one.id)
    st.html(f'<b style="color: {colour}; font-size: 18px">{name}</b>')
    st.markdown(say(encoding.summary))
    said = [
        say("L = {length:,} tokens", length=c.length),
        say("{layers} layers of {heads} heads", layers=c.layers, heads=c.heads),
        say("{millions:.2f} M parameters", millions=one.description.weights / 1e6),
    ]
    if isinstance(seen := facts.get("tokens_seen"), int):
        said.append(say("{millions:.1f} M tokens seen", millions=seen / 1e6))
    if isinstance(loss := facts.get("validation_loss"), float):
        said.append(say("{loss:.3f} nats in validation", loss=loss))
    st.caption(" · ".join(said))
    st.space("stretch")  # what follows stands in line with the other cards
    with st.container(horizontal=True, gap="medium", vertical_alignment="center"):
        st.page_link(
            script("compare"),
            label=say("Compare"),
            icon=":material/compare:",
            query_params={"v": "1", "a": f"{one.id}.2.1"},
        )
        if (one.path.parent / "README.md").is_file() and st.button(
            say("Model card"), type="tertiary", icon=":material/article:", key=f"card_{one.id}_open"
        ):
            st.dialog(say("Model card"), width="large")(_whole)(one)


def _whole(one: Checkpoint) -> None:
    """The model card as it lies beside the weights."""
    language.recall()
    st.markdown(readable(one))


def readable(one: Checkpoint) -> str:
    """README.md of a shipped checkpoint, without what only other programs read. AtlasError."""
    path = one.path.parent / "README.md"
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        raise AtlasError(
            say(
                "Expected the model card of {id} beside its weights; it can't be read, so write "
                "it again with `python -m viz_core card {id}`.",
                id=one.id,
            )
        ) from None
    return _LOCAL.sub(r"\1", _COMMENT.sub("", _FRONT.sub("", text))).strip()
