"""What Compare computes of a state: texts in the tokens of each side, surveys, windows, walls."""

from __future__ import annotations

from collections.abc import Sequence

from tokenizers import Tokenizer

from pages._shared import measuring, reading
from pages._shared.waiting import Waiting
from pages.compare import thumbnails, words
from pages.compare.state import CompareState
from viz_core import texts
from viz_core.catalogue import Checkpoint
from viz_core.progress import Progress, ignore
from viz_core.survey import Survey
from viz_core.texts import Passage
from viz_core.types import Kind, Pooling, Window
from viz_core.words import say

KINDS: dict[str, Kind] = {"mean": "log", "centred": "centred", "one": "probability"}


def read(state: CompareState, chosen: Sequence[Checkpoint]) -> list[list[Passage]]:
    """The passages that `state` asks for, one or several, in the tokens of each of `chosen`.

    Raises TextError, UnknownName.
    """

    def cut(pieces: Tokenizer) -> list[Passage]:
        if state.view == "one" or state.text == texts.PASTED:
            own, again = state.paste, state.repeat
            return [texts.tokens(state.text, state.length, pieces, pasted=own, repeat=again)]
        return texts.passages(state.text, state.length, state.texts, pieces)

    return reading.each(chosen, state.text, cut, state.paste)


def prepare(state: CompareState, one: Checkpoint, passages: list[Passage]) -> None:
    """Computes maps and wall of one checkpoint, for whoever asks for them later."""
    wall(state, one, passages, _survey(state, one, passages, ignore))


def sides(
    state: CompareState,
    chosen: Sequence[Checkpoint],
    passages: Sequence[list[Passage]],
    waiting: Waiting,
) -> tuple[list[Survey], list[tuple[Window, int]]]:
    """Each side's survey, and its window with the head's place in it; `waiting` shows how far."""
    surveys, windows = [], []
    for i, (side, one, some) in enumerate(zip(state.sides, chosen, passages, strict=True), 1):
        name = words.name(one)
        if len(chosen) > 1:
            name = say("{name} ({i} of {count})", name=name, i=i, count=len(chosen))
        found = _survey(state, one, some, waiting.watch(name))
        surveys.append(found)
        if side.box:
            window = measuring.zoomed(
                one,
                some,
                KINDS[state.view],
                (side.layer, side.head),
                *side.box,
                _pooling(state),
                waiting.watch(name),
            )
            windows.append((window, 0))
        else:
            windows.append((found.windows[side.layer], side.head))
    return surveys, windows


def wall(
    state: CompareState, one: Checkpoint, passages: list[Passage], found: Survey
) -> list[bytes]:
    """The thumbnails of all heads of `one`, a PNG each."""
    key = (one.sha256, state.view, _pooling(state), *(p.sha256 for p in passages))
    c = one.config
    return thumbnails.drawn(key, found, c.encoding, c.length, state.linear)


def _survey(
    state: CompareState, one: Checkpoint, passages: list[Passage], report: Progress
) -> Survey:
    return measuring.surveyed(one, passages, KINDS[state.view], report, _pooling(state))


def _pooling(state: CompareState) -> Pooling:
    """How cells are pooled: by choice in a single text, else by the mean."""
    return "max" if state.view == "one" and state.pooling == "max" else "mean"
