"""Models and surveys that sessions share: read-only, bounded in bytes, one computation at a time."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import streamlit as st
from tokenizers import Tokenizer

from viz_core import attention, catalogue, devices, texts
from viz_core.figures import head_wall
from viz_core.figures.spec import Heatmap
from viz_core.model import Transformer
from viz_core.render import png
from viz_core.survey import Survey, survey
from viz_core.types import Kind

SHELF_BYTES = 1 << 30


class Shelf:
    """The most recently used surveys, up to `limit` bytes; safe under threads."""

    def __init__(self, limit: int) -> None:
        self.limit, self.held = limit, 0
        self._items: OrderedDict[Any, Survey] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: object) -> Survey | None:
        """The survey under `key`, now the most recently used, or None."""
        with self._lock:
            if key in self._items:
                self._items.move_to_end(key)
            return self._items.get(key)

    def put(self, key: object, value: Survey) -> None:
        """Keeps `value`; the least recently used ones go until the limit holds."""
        with self._lock:
            if key in self._items:
                self.held -= self._items.pop(key).bytes
            self._items[key] = value
            self.held += value.bytes
            while self.held > self.limit and len(self._items) > 1:
                self.held -= self._items.popitem(last=False)[1].bytes


@st.cache_resource
def shelf() -> Shelf:
    """The server's one shelf."""
    return Shelf(SHELF_BYTES)


@st.cache_resource
def turnstile() -> threading.Lock:
    """One computation at a time on the device: two at once would be slower, and may not fit."""
    return threading.Lock()


@st.cache_resource
def tokenizer() -> Tokenizer:
    """The tokenizer of the shipped checkpoints."""
    return Tokenizer.from_file(str(catalogue.TOKENIZER))


@st.cache_resource(max_entries=8)
def model(path: str, sha256: str) -> Transformer:
    """The model in the file at `path`; `sha256` makes a changed file another entry."""
    return catalogue.find(path).load(devices.best())


def surveyed(
    checkpoint: catalogue.Checkpoint,
    passages: list[texts.Passage],
    kind: Kind,
    progress: Callable[[float], None],
) -> Survey:
    """The survey of `checkpoint` over `passages`, from the shelf or computed now.

    Computing waits its turn; `progress` may raise (a control was changed), which cancels.
    """
    key = (checkpoint.sha256, tuple(p.sha256 for p in passages), kind)
    found = shelf().get(key)
    if found is not None:
        return found
    with turnstile():
        found = shelf().get(key)  # computed by another session while this one waited
        if found is None:
            weights = model(str(checkpoint.path), checkpoint.sha256)
            found = survey(weights, [p.ids for p in passages], kind, progress=progress)
            shelf().put(key, found)
    return found


THUMBNAIL = 80  # pixels on a side, about


@st.cache_data(max_entries=64, show_spinner=False)
def thumbnails(
    key: tuple[object, ...], _survey: Survey, encoding: str, trained: int, linear: bool
) -> list[bytes]:
    """The wall of `_survey`, which `key` identifies: a PNG per layer and head, in that order."""
    first = _survey.windows[0]
    factor = max(1, round(max(first.count.shape) / THUMBNAIL))
    small = [attention.coarser(w, factor) for w in _survey.windows]
    spec = head_wall.build(small, encoding, trained, linear)
    return [png.thumbnail(p) for p in spec.panels if isinstance(p, Heatmap)]
