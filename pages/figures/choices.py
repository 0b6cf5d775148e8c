"""The options of a plate as widgets, made from what it and the command line declare of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from pages.figures import labels
from viz_core import series, texts
from viz_core.arguments import figure
from viz_core.catalogue import Checkpoint
from viz_core.plates import Plate
from viz_core.plates.tray import Pin
from viz_core.words import say


class Declared:
    """Stands where a parser would, and keeps what is declared of each option, by its name."""

    def __init__(self) -> None:
        self.options: dict[str, Mapping[str, Any]] = {}
        figure.shown(self)

    def add_argument(self, *names: str, **about: Any) -> None:
        """One option."""
        self.options[names[-1].removeprefix("--").replace("-", "_")] = about

    def add_argument_group(self, title: str) -> Declared:
        """Groups are for the command line's help alone."""
        return self


def show(plate: Plate, shipped: Mapping[str, Checkpoint]) -> Pin:
    """The widgets of all options, at their defaults first; the pin that they say, unchecked."""
    declared = Declared().options
    columns = st.columns(3, gap="medium")
    words = {}
    # a table is a path, and no visitor's to name
    here = {name: value for name, value in plate.options.items() if name != "table"}
    for i, (name, default) in enumerate(here.items()):
        with columns[i % len(columns)]:
            said = _widget(plate.id, name, default, declared[name], shipped)
        if said != _plain(default):
            words[name] = said
    return Pin(plate.id, words)


def _widget(
    plate: str, name: str, default: Any, about: Mapping[str, Any], shipped: Mapping[str, Checkpoint]
) -> str:
    """One option's value as a word of the command line; "" stands for the checkpoint's own."""
    label, key = say(labels.NAMES[name]), f"ready_{plate}_{name}"
    label, help = label[:1].upper() + label[1:], say(labels.HELPS[name])
    if name == "checkpoints":
        found = st.multiselect(
            label,
            list(shipped),
            [one for one in default if one in shipped],
            format_func=lambda one: series.name(shipped[one].config.encoding, "", one),
            key=key,
            help=help,
        )
        return ",".join(found)
    choices = list(about.get("choices") or ())
    titles = dict[str, str]()
    if name == "text":
        titles = {default: series.TEXTS.get(default, default)}
        titles |= {one.id: one.title for one in texts.available()}
        choices = list(titles)
    if choices:
        first = choices.index(default) if default in choices else None
        said = st.selectbox(
            label, choices, first, format_func=lambda c: titles.get(c, c), key=key, help=help
        )
        return _plain(said)
    hint = say("the checkpoint's own") if default is None else None
    return st.text_input(label, _plain(default), key=key, help=help, placeholder=hint)


def _plain(value: Any) -> str:
    """A value as a word of the command line; "" for None."""
    if value is None:
        return ""
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)
