"""Portraits on the page: the shipped ones, read once per change, and those measured here."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import cycle
from pathlib import Path

import numpy as np
import pandas as pd
import streamlit as st
from tokenizers import Tokenizer

from pages._shared import export_sources, measuring, reading
from pages._shared.waiting import Waiting
from pages.decay.state import DecayState
from viz_core import results, series, texts
from viz_core.catalogue import Checkpoint
from viz_core.errors import TextError
from viz_core.export.provenance import Source
from viz_core.signatures import slope, summary
from viz_core.signatures.portrait import Portrait
from viz_core.words import say

UNBIASED, LOGIT, MEAN = "fixed", "logit", "mean"  # estimators
TWINS = ("ink", "dynamic", "llama3")  # colours (`palette`) of others of an encoding
CLEAR = 0.05  # p-values up to this stand out


@dataclass(frozen=True)
class Sitter:
    """A checkpoint with its portrait; equal where `key` is, which says what was measured of whom.

    `command` made it, where it is shipped; `note` says what is wrong with it. `sources` are the
    checkpoint and the passages of the text called `text`.
    """

    key: Hashable
    id: str = field(compare=False)
    name: str = field(compare=False)
    portrait: Portrait = field(compare=False, repr=False)
    command: str = field(compare=False, default="")
    note: str = field(compare=False, default="")
    text: str = field(compare=False, default=texts.HELD_OUT)
    sources: tuple[Source, ...] = field(compare=False, default=())

    twin: str = field(compare=False, default="")

    @property
    def accent(self) -> str:
        """Whose colour marks it: the encoding's, or, where another has that, its own."""
        return self.twin or self.portrait.encoding


@lru_cache(maxsize=64)
def statistics(sitter: Sitter) -> pd.DataFrame:
    """Every statistic of every head, with its null: `signatures.summary`, computed once.

    NaN where a statistic doesn't exist; rows by layer, then head, both counted from 1.
    """
    rows = pd.DataFrame(summary.rows(sitter.portrait))
    numbers = rows.columns.drop("kind")
    return rows.astype(dict.fromkeys(numbers, float) | {"layer": int, "head": int})


def row(sitter: Sitter, place: tuple[int, int]) -> pd.Series:
    """The statistics of one head; `place` is (layer, head), from 0."""
    return statistics(sitter).iloc[place[0] * sitter.portrait.curve.shape[1] + place[1]]


def shipped(chosen: Sequence[str], checkpoints: dict[str, Checkpoint]) -> list[Sitter]:
    """The shipped portraits of `chosen`, in order; those that are missing are left out.

    Raises AtlasError for one that can't be read.
    """
    paths = sorted(results.FOLDER.glob("portrait-*.safetensors"))
    marks = tuple((p, p.stat().st_mtime_ns, p.stat().st_size) for p in paths)
    found = _read(marks)
    sitters = []
    for name in (n for n in chosen if n in found):
        kept, known = found[name], checkpoints.get(name)
        note = ""
        if known is not None and known.sha256 != kept.checkpoint:
            note = say(
                "Expected a shipped portrait of the checkpoint {name} as it lies in "
                "`checkpoints`; it is of another version of it, so make it again with "
                "`make results`.",
                name=name,
            )
        title = series.name(kept.portrait.encoding, kept.portrait.setting, name)
        made = (Source("checkpoint", name, kept.checkpoint),)
        made += export_sources.shas(texts.HELD_OUT, kept.texts)
        one = Sitter((name, marks), name, title, kept.portrait, kept.command, note, sources=made)
        sitters.append(one)
    return sitters


@lru_cache(maxsize=2)
def _read(marks: tuple[tuple[Path, int, int], ...]) -> dict[str, results.Kept]:
    return results.portraits(marks[0][0].parent) if marks else {}


def passages(state: DecayState, checkpoint: Checkpoint) -> list[texts.Passage]:
    """The passages that `state` asks for, in the tokens of `checkpoint`, all of one length.

    Raises TextError and others where the text has none of that length.
    """

    def cut(pieces: Tokenizer) -> list[texts.Passage]:
        return texts.passages(state.text, state.length, state.texts, pieces)

    found = reading.one(checkpoint, state.text, cut)
    short = min(len(p.ids) for p in found)
    if short < state.length:
        raise TextError(
            say(
                "Expected passages of {length:,} tokens; the shortest of {text} has {shortest:,}. "
                "Choose a smaller length, or another text.",
                length=state.length,
                text=state.text,
                shortest=short,
            )
        )
    return found


def notes(some: Iterable[texts.Passage], models: Iterable[Checkpoint] = ()) -> None:
    """What is to be said of passages, and of models, each sentence once."""
    said = [*(p.note for p in some), *(model.caveat for model in models)]
    for note in dict.fromkeys(note for note in said if note):
        st.info(note)


def measured(
    checkpoint: Checkpoint, setting: str, text: str, some: list[texts.Passage], waiting: Waiting
) -> Sitter:
    """The portrait of `checkpoint` under `setting`, over the passages of `text`, measured now or
    before; `waiting` shows it.

    A changed control cancels. Raises AtlasError for lengths or settings that the model can't take.
    """
    title = series.name(checkpoint.config.encoding, setting, checkpoint.id)
    portrait = measuring.portrayed(checkpoint, some, setting, waiting.watch(title))
    key = (checkpoint.sha256, setting, tuple(p.sha256 for p in some))
    made = (*export_sources.checkpoints([checkpoint]), *export_sources.texts(text, some))
    return Sitter(key, checkpoint.id, title, portrait, text=text, sources=made)


def told_apart(sitters: Sequence[Sitter]) -> list[Sitter]:
    """`sitters`, with a colour of its own for each whose encoding an earlier one has."""
    found, met, colours = list[Sitter](), set[str](), cycle(TWINS)
    for one in sitters:
        met_before = one.portrait.encoding in met
        found.append(replace(one, twin=next(colours)) if met_before else one)
        met.add(one.portrait.encoding)
    return found


def false_slope(portrait: Portrait) -> float:
    """The slope that the plain mean of uniform attention shows, nats per token, where it is none.

    Over the nearer half of the distances, the first keys left out as in `portrait`.
    """
    seen = 1 / np.arange(1, portrait.length + 1)  # a key's probability, if all are alike
    size = portrait.length - portrait.sink
    mean = seen[::-1].cumsum()[::-1][portrait.sink :] / np.arange(size, 0, -1)
    half = size // 2
    return float(slope.line(np.log(mean[None, :half]), portrait.pairs[:half]).slope[0])


def table(sitters: Sequence[Sitter]) -> pd.DataFrame:
    """All statistics of all `sitters`, a row per checkpoint, layer and head."""
    parts = []
    for one in sitters:
        p, rows = one.portrait, statistics(one)
        common = {"checkpoint": one.id, "encoding": p.encoding, "setting": p.setting}
        common |= {"length": p.length, "texts": p.texts, "command": one.command}
        parts.append(pd.DataFrame(common, index=rows.index).join(rows))
    return pd.concat(parts, ignore_index=True)


def number(value: float, digits: int) -> str:
    """-0.125 as "−0.13": with a sign that is no hyphen, and none before 0."""
    return f"{value:z.{digits}f}".replace("-", "−")


def percent(share: float, digits: int = 0) -> str:
    """0.123 as "12 %"."""
    number = f"{100 * share:.{digits}f}"
    return say("{number} %", number=number)
