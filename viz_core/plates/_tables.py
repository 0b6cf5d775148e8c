"""Shipped tables of results as the curves of figures, and what provenance says of them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from viz_core import results, series
from viz_core.catalogue import Checkpoint
from viz_core.errors import AtlasError
from viz_core.export.provenance import Source
from viz_core.figures import extrapolation, mechanism, position_loss, training_curves
from viz_core.perplexity.protocols import POSITIONS
from viz_core.words import say


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
    return series.curves(_rows("perplexity", protocol, text, checkpoints, settings))


def by_position(
    text: str, checkpoints: Sequence[str], settings: Sequence[str]
) -> list[position_loss.Series]:
    """The losses by position, as `losses`."""
    return series.by_position(_rows("perplexity", POSITIONS, text, checkpoints, settings))


def mechanisms(
    text: str, checkpoints: Sequence[str], settings: Sequence[str]
) -> tuple[list[mechanism.Series], list[mechanism.Series], int]:
    """(those as trained, those under other settings, how many texts each is a mean over), of the
    shipped tables of what attention does by length. Raises AtlasError where they have none."""
    rows = results.shipped("mechanism")
    if len(rows):
        kept = rows.checkpoint.isin(checkpoints) & rows.setting.isin(settings)
        rows = rows[kept & (rows.text == text)]
        rows = rows.drop_duplicates(["checkpoint", "setting", "length", "layer"], keep="last")
    if rows.empty:
        raise _nothing(say("rows"), "mechanism", text, checkpoints)
    plain, varied = rows[rows.setting == ""], rows[rows.setting != ""]
    count = int(series.counts(rows, "texts").max(initial=0))
    return series.mechanisms(plain), series.mechanisms(varied), count


def _rows(
    kind: str, protocol: str, text: str, checkpoints: Sequence[str], settings: Sequence[str]
) -> pd.DataFrame:
    rows = series.rows_of(results.shipped(kind), protocol, text, settings=settings)
    rows = rows[rows.checkpoint.isin(checkpoints)] if len(rows) else rows
    if rows.empty:
        what = say("losses under {protocol}", protocol=protocol)
        raise _nothing(what, kind, text, checkpoints)
    return rows


def _nothing(what: str, kind: str, text: str, checkpoints: Sequence[str]) -> AtlasError:
    files = f"{results.FOLDER.name}/{kind}-*.csv"
    return AtlasError(
        say(
            "Expected {what} of {checkpoints} on {text} in {files}; there are none. Run `make "
            "results`.",
            what=what,
            checkpoints=", ".join(checkpoints),
            text=text,
            files=files,
        )
    )


def training(checkpoint: Checkpoint) -> training_curves.Series:
    """The losses of a training by tokens seen. Raises AtlasError where its table is missing."""
    path = checkpoint.path.with_name("training.csv")
    try:
        rows = pd.read_csv(path)[["tokens", "validation_loss"]].dropna().astype(np.float64)
    except (OSError, ValueError, KeyError) as error:
        raise AtlasError(
            say(
                "Expected tokens and validation_loss in training.csv beside {checkpoint}; it can't "
                "be read ({error}). Train it again with `make checkpoints`.",
                checkpoint=checkpoint.id,
                error=error,
            )
        ) from None
    (found,) = series.trainings(
        rows.assign(checkpoint=checkpoint.id), {checkpoint.id: checkpoint.config.encoding}
    )
    return found


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
