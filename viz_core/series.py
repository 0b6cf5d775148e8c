"""From tables of results to the curves of figures: which colour, which dash, which words."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from viz_core import encodings, variants
from viz_core.errors import AtlasError
from viz_core.figures import extrapolation, mechanism, position_loss, training_curves
from viz_core.figures.spec import Dash
from viz_core.perplexity import Row
from viz_core.words import mark, say, sentences

ORDER = ("alibi", "rope", "t5", "nope", "sinusoidal", "learned")  # from the top of every list
KINDS = ("", "linear", "ntk", "dynamic", "yarn", "llama3", "theta", "exponent")
ONE = ["checkpoint", "setting", "length", "first"]  # what tells rows of one chart apart
DASHES: tuple[Dash, ...] = ("dash", "dot", "dashdot")
TEXTS = {"heldout": mark("held-out English"), "python-docs": mark("Python's manual")}


def rows_of(
    table: pd.DataFrame,
    protocol: str,
    text: str,
    encoding: str = "",
    settings: Iterable[str] = ("",),
) -> pd.DataFrame:
    """The rows of one protocol and text, over all sources, in the settings (of one encoding)."""
    if table.empty:
        return table
    kept = (table.protocol == protocol) & (table.text == text) & (table.source == "all")
    kept &= table.setting.isin(list(settings))
    if encoding:
        kept &= table.encoding == encoding
    return table[kept].drop_duplicates(ONE, keep="last")  # two files may hold the same


def table(found: Iterable[Row], checkpoint: str, encoding: str, trained: int) -> pd.DataFrame:
    """Rows that were measured now, in the columns of the shipped tables."""
    frame = pd.DataFrame([vars(row) for row in found]).fillna({"note": ""})
    return frame.assign(checkpoint=checkpoint, encoding=encoding, trained_length=trained)


def settings_of(table: pd.DataFrame, encoding: str) -> list[str]:
    """The settings of `encoding` that the table has: as trained, then by kind and number."""
    if table.empty:
        return []
    return sorted(set(table[table.encoding == encoding].setting), key=rank)


def rank(setting: str) -> tuple[int, float, str]:
    """The place of a setting in a list: as trained, then by kind and number."""
    kind, _, number = setting.partition(":")
    place = KINDS.index(kind) if kind in KINDS else len(KINDS)
    return place, -1.0 if number in ("", "fit") else float(number), number


def place(encoding: str) -> tuple[int, str]:
    """The place of an encoding in a list: in ORDER, or after it by its id."""
    return ORDER.index(encoding) if encoding in ORDER else len(ORDER), encoding


def name(encoding: str, setting: str = "", checkpoint: str = "") -> str:
    """What a curve is called: "RoPE, PI s = 4", with the checkpoint's id if it has another."""
    plain = variants.title(encoding, setting)
    if checkpoint in ("", encoding):
        return plain
    return say("{name} ({checkpoint})", name=plain, checkpoint=checkpoint)


def label(encoding: str, setting: str = "", checkpoint: str = "") -> str:
    """The name where the encoding is clear: "PI s = 4"."""
    alone = encodings.get(encoding).name
    short = name(encoding, setting, checkpoint).removeprefix(f"{alone}, ")
    return short.removeprefix(f"{alone}，")  # as Chinese has it


def style(encoding: str, setting: str, beside: Iterable[str]) -> dict[str, Any]:
    """accent, dash and shade: a colour per encoding, or per kind of scaling on RoPE's own chart.

    Fixed factors have their kind's colour and a dash each; bases and exponents are told apart by
    their rank `beside` others.
    """
    kind, _, number = setting.partition(":")
    if not setting:
        return {"accent": encoding}
    alike = sorted((s for s in beside if s.partition(":")[0] == kind), key=rank)
    if kind == "exponent":  # the encoding's own colour, paler above the usual 8
        shade = 0.55 if float(number) > 8 else 0.25
        return {"accent": encoding, "shade": shade, "dash": DASHES[alike.index(setting) % 3]}
    if number in ("", "fit"):
        return {"accent": kind}
    if kind == "theta":
        return {"accent": kind, "dash": ("solid", *DASHES)[alike.index(setting) % 4]}
    return {"accent": kind, "dash": DASHES[round(math.log2(float(number)) - 1) % 3]}


def curves(rows: pd.DataFrame) -> list[extrapolation.Series]:
    """One series per checkpoint and setting, in the order of all lists."""
    found = []
    for encoding, setting, checkpoint, part in _parts(rows.sort_values("length")):
        values: dict[str, Any] = {field: numbers(part, c) for field, c in _COLUMNS.items()}
        found.append(
            extrapolation.Series(
                name(encoding, setting, checkpoint),
                label(encoding, setting, checkpoint),
                trained_length=int(part.trained_length.iloc[0]),
                length=part.length.to_numpy(np.int64),
                **values,
                tokens=counts(part, "tokens"),
                documents=counts(part, "documents"),
                note=_note(part),
                cut=not setting,  # others are compared with the model as trained
                **style(encoding, setting, set(rows.setting)),
            )
        )
    return found


_COLUMNS = {"loss": "loss", "low": "loss_low", "high": "loss_high"}  # of tables, by field
_COLUMNS |= {name: name for name in ("difference", "difference_low", "difference_high")}


def by_position(rows: pd.DataFrame) -> list[position_loss.Series]:
    """One series per checkpoint and setting, each of the longest input that it has losses for."""
    found = []
    rows = rows[rows["first"].notna() & rows.loss.notna()].sort_values("first")
    for encoding, setting, checkpoint, part in _parts(rows):
        longest = int(part.length.max())
        part = part[part.length == longest]
        found.append(
            position_loss.Series(
                name(encoding, setting, checkpoint),
                label(encoding, setting, checkpoint),
                trained_length=int(part.trained_length.iloc[0]),
                length=longest,
                first=part["first"].to_numpy(np.int64),
                last=part["last"].to_numpy(np.int64),
                loss=numbers(part, "loss"),
                low=numbers(part, "loss_low"),
                high=numbers(part, "loss_high"),
                tokens=counts(part, "tokens"),
                documents=counts(part, "documents"),
                **style(encoding, setting, set(rows.setting)),
            )
        )
    return found


def undefined(rows: pd.DataFrame) -> str:
    """A sentence for each checkpoint and setting that has no loss at all, and why; after a space,
    as what follows a caption."""
    said = sentences(
        *(
            say(
                "{name}: {note}.",
                name=name(encoding, setting, checkpoint),
                note=_note(part) or say("no value"),
            )
            for encoding, setting, checkpoint, part in _parts(rows)
            if part.loss.isna().all()
        )
    )
    return f" {said}" if said else ""


def mechanisms(rows: pd.DataFrame) -> list[mechanism.Series]:
    """One series per checkpoint and setting, each value the mean of all layers and heads."""
    found = []
    for encoding, setting, checkpoint, part in _parts(
        rows[rows.layer == "all"].sort_values("length")
    ):
        found.append(
            mechanism.Series(
                name(encoding, setting, checkpoint),
                label(encoding, setting, checkpoint),
                trained_length=int(part.trained_length.iloc[0]),
                length=part.length.to_numpy(np.int64),
                values={
                    m.column: numbers(part, m.column)
                    for m in mechanism.MEASURES
                    if m.column in part
                },
                **style(encoding, setting, set(rows.setting)),
            )
        )
    return found


def trainings(rows: pd.DataFrame, known: dict[str, str]) -> list[training_curves.Series]:
    """One series per checkpoint; `known` has each one's encoding."""
    found = []
    for checkpoint in sorted(set(rows.checkpoint) & set(known), key=lambda c: place(known[c])):
        part = rows[rows.checkpoint == checkpoint].sort_values("tokens")
        title = name(known[checkpoint], "", checkpoint)
        values = numbers(part, "tokens"), numbers(part, "validation_loss")
        found.append(training_curves.Series(title, title, known[checkpoint], *values))
    return found


def numbers(rows: pd.DataFrame, column: str) -> npt.NDArray[np.float64]:
    """A column as float64, NaN where it is empty. Raises AtlasError where it is no number."""
    if column not in rows:
        return np.full(len(rows), np.nan)
    try:
        found: npt.NDArray[np.float64] = pd.to_numeric(rows[column]).to_numpy(np.float64)
    except (ValueError, TypeError):
        raise AtlasError(
            say(
                "Expected numbers in the column {column} of a table of results; make the table "
                "again with `make results`.",
                column=column,
            )
        ) from None
    return found


def counts(rows: pd.DataFrame, column: str) -> npt.NDArray[np.int64]:
    """A column of whole numbers, 0 where it is empty."""
    return np.nan_to_num(numbers(rows, column)).astype(np.int64)


def _parts(rows: pd.DataFrame) -> Iterator[tuple[str, str, str, pd.DataFrame]]:
    keys = rows[["encoding", "setting", "checkpoint"]].drop_duplicates().to_numpy().tolist()
    for encoding, setting, checkpoint in sorted(
        keys, key=lambda k: (place(k[0]), rank(k[1]), k[2])
    ):
        same = (rows.setting == setting) & (rows.checkpoint == checkpoint)
        yield encoding, setting, checkpoint, rows[same]


def text(name: str) -> str:
    """What figures call the text `name`."""
    return say(TEXTS.get(name, name))


def _note(rows: pd.DataFrame) -> str:
    """Why there is no value, as tables say it in English, in the language spoken here."""
    return encodings.retold(next((n for n in rows.note if n), "")) if "note" in rows else ""
