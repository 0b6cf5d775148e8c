"""From tables of results to the curves of figures: which colour, which dash, which words."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from viz_core import encodings, results, variants
from viz_core.catalogue import Checkpoint
from viz_core.errors import AtlasError
from viz_core.export.provenance import Source
from viz_core.figures import extrapolation, training_curves
from viz_core.figures.spec import Dash, Values
from viz_core.plates._gathered import ORDER

KINDS = ("", "linear", "ntk", "dynamic", "yarn", "llama3", "theta", "exponent")
DASHES: tuple[Dash, ...] = ("dash", "dot", "dashdot")
VALUES = ("loss", "low", "high", "difference", "difference_low", "difference_high")
COLUMNS = ("loss", "loss_low", "loss_high", *VALUES[3:])


def of_tables(kind: str) -> tuple[Source, ...]:
    """What provenance says of the shipped tables called `kind`*.csv."""
    paths = sorted(results.FOLDER.glob(f"{kind}*.csv"))
    return tuple(Source("table", path.name, _sha256(path)) for path in paths)


def of_training(checkpoint: Checkpoint) -> Source:
    """What provenance says of a checkpoint's training.csv."""
    path = checkpoint.path.with_name("training.csv")
    return Source("table", f"{checkpoint.id}/{path.name}", _sha256(path))


def losses(
    protocol: str, text: str, checkpoints: Sequence[str], settings: Sequence[str]
) -> list[extrapolation.Series]:
    """One series per checkpoint and setting that the shipped tables of losses have.

    Raises AtlasError where they have none.
    """
    rows = results.shipped("perplexity")
    if not rows.empty:
        kept = (rows.protocol == protocol) & (rows.text == text) & (rows.source == "all")
        kept &= rows.checkpoint.isin(checkpoints) & rows.setting.isin(settings)
        rows = rows[kept].drop_duplicates(["checkpoint", "setting", "length"], keep="last")
    if rows.empty:
        raise AtlasError(
            f"Expected losses of {', '.join(checkpoints)} under {protocol} on {text} in "
            f"{results.FOLDER.name}/perplexity-*.csv; there are none. Run `make results`."
        )
    return [_losses(part, settings) for part in _parts(rows.sort_values("length"))]


def training(checkpoint: Checkpoint) -> training_curves.Series:
    """The losses of a training by tokens seen. Raises AtlasError where its table is missing."""
    path = checkpoint.path.with_name("training.csv")
    try:
        rows = pd.read_csv(path)[["tokens", "validation_loss"]].dropna()
        values = rows.tokens.to_numpy(np.float64), rows.validation_loss.to_numpy(np.float64)
    except (OSError, ValueError, KeyError) as error:
        raise AtlasError(
            f"Expected tokens and validation_loss in training.csv beside {checkpoint.id}; it can't "
            f"be read ({error}). Train it again with `make checkpoints`."
        ) from None
    title = _name(checkpoint.config.encoding, "", checkpoint.id)
    return training_curves.Series(title, title, checkpoint.config.encoding, *values)


def _losses(part: pd.DataFrame, settings: Sequence[str]) -> extrapolation.Series:
    encoding, setting, checkpoint = part[["encoding", "setting", "checkpoint"]].iloc[0]
    name = _name(encoding, setting, checkpoint)
    columns = zip(VALUES, COLUMNS, strict=True)
    values: dict[str, Any] = {field: _numbers(part, column) for field, column in columns}
    return extrapolation.Series(
        name,
        name.removeprefix(f"{encodings.get(encoding).name}, "),
        trained_length=int(part.trained_length.iloc[0]),
        length=part.length.to_numpy(np.int64),
        **values,
        tokens=np.nan_to_num(_numbers(part, "tokens")).astype(np.int64),
        documents=np.nan_to_num(_numbers(part, "documents")).astype(np.int64),
        note=next((note for note in part.note if note), ""),
        cut=not setting,  # others are compared with the model as trained
        **_style(encoding, setting, settings),
    )


def _name(encoding: str, setting: str, checkpoint: str) -> str:
    plain = variants.title(encoding, setting)
    return plain if checkpoint == encoding else f"{plain} ({checkpoint})"


def _style(encoding: str, setting: str, beside: Iterable[str]) -> dict[str, Any]:
    """A colour per encoding, or per kind of scaling; fixed factors have a dash each, exponents
    paler colours above the usual 8, and others are told apart by their rank."""
    kind, _, number = setting.partition(":")
    alike = sorted((s for s in beside if s.partition(":")[0] == kind), key=_rank)
    if not setting:
        return {"accent": encoding}
    if kind == "exponent":
        shade = 0.55 if float(number) > 8 else 0.25
        return {"accent": encoding, "shade": shade, "dash": DASHES[alike.index(setting) % 3]}
    if number in ("", "fit"):
        return {"accent": kind}
    if kind == "theta":
        return {"accent": kind, "dash": ("solid", *DASHES)[alike.index(setting) % 4]}
    return {"accent": kind, "dash": DASHES[round(math.log2(float(number)) - 1) % 3]}


def _parts(rows: pd.DataFrame) -> Iterator[pd.DataFrame]:
    """The rows of each checkpoint and setting, in the order of every list."""
    keys = rows[["encoding", "setting", "checkpoint"]].drop_duplicates().to_numpy().tolist()
    for _, setting, checkpoint in sorted(keys, key=lambda k: (_place(k[0]), _rank(k[1]), k[2])):
        yield rows[(rows.setting == setting) & (rows.checkpoint == checkpoint)]


def _place(encoding: str) -> tuple[int, str]:
    return ORDER.index(encoding) if encoding in ORDER else len(ORDER), encoding


def _rank(setting: str) -> tuple[int, float, str]:
    kind, _, number = setting.partition(":")
    place = KINDS.index(kind) if kind in KINDS else len(KINDS)
    return place, -1.0 if number in ("", "fit") else float(number), number


def _numbers(rows: pd.DataFrame, column: str) -> Values:
    """A column as float64, NaN where it is empty. Raises AtlasError where it is no number."""
    try:
        found: Values = pd.to_numeric(rows[column]).to_numpy(np.float64)
    except (KeyError, ValueError, TypeError):
        raise AtlasError(
            f"Expected numbers in the column {column} of a table of results; make the table again "
            "with `make results`."
        ) from None
    return found


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
