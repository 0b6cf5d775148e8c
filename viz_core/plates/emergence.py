"""What emerges in training: statistics by step, from the table of a sweep over kept steps.

`trainings` and `plot` are for the rows of any sweep; the plate itself takes the shipped table, or
one that `sweep --out` wrote.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import numpy as np
import numpy.typing as npt
import pandas as pd

from viz_core import results, series, texts
from viz_core.errors import AtlasError
from viz_core.export.provenance import Facts, Source
from viz_core.figures import emergence
from viz_core.figures.emergence import Training
from viz_core.plates import _tables
from viz_core.plates._contract import Options, Plate, Plot
from viz_core.progress import Progress
from viz_core.signatures import reach
from viz_core.types import SINK
from viz_core.words import mark, say

KIND = "emergence"  # of the shipped table
SHARE = 0.9  # of a head's attention, within its reach
COLUMNS = {  # of a sweep's table, by what figures call them
    "slope": "slope",
    "slope_set": "slope_nominal",
    "reach": "reach_90",
    "reach_even": "reach_90_even",
    "ripple": "ripple",
    "ripple_even": "ripple_even",
    "swing": "swing",
    "swing_noise": "swing_noise",
    "sink": "sink",
    "sink_even": "sink_even",
}

Array = npt.NDArray[np.float64]


def draw(options: Options, progress: Progress) -> Plot:
    """The trainings of a table. Raises AtlasError where it has no two steps of any."""
    path: str | None = options["table"]
    rows = results.opened(Path(path)).rows if path else results.shipped(KIND, results.FOLDER)
    text: str = options["text"]
    found = trainings(rows, text, options["length"])
    progress(1.0)
    if not found:
        raise AtlasError(
            say(
                "Expected two steps of a training or more on {text} in the table of a sweep; there "
                "are none. Make one with `python -m viz_core sweep docs/sweeps/emergence.toml`.",
                text=text,
            )
        )
    sources = (_source(Path(path)),) if path else _tables.of_tables(KIND)
    return plot(found, rows, sources)


def plot(found: list[Training], rows: pd.DataFrame, sources: tuple[Source, ...]) -> Plot:
    """The figure of `found`, which came from `rows` of a table."""
    first = found[0]
    facts: Facts = {
        "trained_length": int(series.counts(rows, "trained_length").max()),
        "length": first.length,
        "texts": first.texts,
        "steps": sorted({int(step) for one in found for step in one.step}),
        "reach": SHARE,
        "sink": f"the first {SINK} keys are left out of curves",
    }
    return Plot(emergence.build(found), sources, facts)


def trainings(rows: pd.DataFrame, text: str, length: int | None = None) -> list[Training]:
    """Every training of which `rows` of a sweep's table have two steps or more, as trained.

    A training is what lies in one folder under one encoding. `length`: None for the trained one,
    or for want of it the shortest.
    """
    if not {"step", "measurement", "text", "length"} <= set(rows):
        return []
    some = rows[rows.status.isin(("found", "computed")) & (rows.text == text)]
    some = some[(some.setting == "") & some.step.notna()]
    there = sorted(set(series.counts(some, "length").tolist()))
    if not there:
        return []
    trained = int(series.counts(some, "trained_length").max())
    wanted = length or (trained if trained in there else there[0])
    return [*_trainings(some[series.counts(some, "length") == wanted])]


def _source(path: Path) -> Source:
    return Source("table", path.name, hashlib.sha256(path.read_bytes()).hexdigest())


def _trainings(rows: pd.DataFrame) -> Iterator[Training]:
    folder = [str(PurePosixPath(name).parent) for name in rows.checkpoint]
    parts = dict(list(rows.assign(folder=folder).groupby(["encoding", "folder"], sort=False)))
    encodings = [encoding for encoding, _ in parts]
    for encoding, where in sorted(parts, key=lambda key: (series.place(key[0]), key[1])):
        part = parts[encoding, where]
        if part.step.nunique() > 1:
            alone = encodings.count(encoding) == 1
            called = "" if alone else PurePosixPath(where).name
            yield _training(part, encoding, series.name(encoding, "", called))


def _training(rows: pd.DataFrame, encoding: str, name: str) -> Training:
    steps = sorted(set(series.numbers(rows, "step").tolist()))
    at = pd.Index(steps, name="step")
    whole = {c: series.numbers(rows, c) for c in ("step", "tokens_seen", "layer", "head")}
    rows = rows.assign(**whole)
    tokens = rows.groupby("step").tokens_seen.max().reindex(at)
    heads = rows[rows["layer"].notna() & rows["head"].notna()]
    places = sorted({(int(a), int(b)) for a, b in zip(heads["layer"], heads["head"], strict=True)})
    values = {name: _table(heads, column, at, places) for name, column in COLUMNS.items()}
    size = int(series.counts(rows, "length").max())
    losses = _losses(rows, at)
    return Training(
        name=name,
        accent=encoding,
        step=np.array(steps),
        tokens=tokens.to_numpy(np.float64),
        heads=places,
        values=values | _compared(values, size),
        texts=int(series.counts(rows, "passages").max(initial=0)),
        length=size,
        **{field: losses[column].to_numpy(np.float64) for field, column in LOSSES.items()},
        documents=int(series.counts(losses, "documents").max(initial=0)),
    )


LOSSES = {"loss": "loss", "low": "loss_low", "high": "loss_high"}  # columns, by field


def _table(
    heads: pd.DataFrame, column: str, at: pd.Index[float], places: list[tuple[int, int]]
) -> Array:
    """One column as [step, head]; NaN where a head has none."""
    if column not in heads or not places:
        return np.full((len(at), len(places)), np.nan)
    numbers = heads.assign(value=series.numbers(heads, column))
    wide = numbers.pivot_table(
        index="step", columns=["layer", "head"], values="value", aggfunc="last", dropna=False
    )
    found: Array = wide.reindex(index=at, columns=places).to_numpy(np.float64)
    return found


def _losses(rows: pd.DataFrame, at: pd.Index[float]) -> pd.DataFrame:
    """The one loss of each step; none where a protocol tells losses by position."""
    columns = [*LOSSES.values(), "documents"]
    some = rows[rows.measurement == "perplexity"]
    single = some.groupby("step").filter(lambda one: len(one) == 1)
    numbers = {c: series.numbers(single, c) for c in columns}
    return single.assign(**numbers).set_index("step").reindex(index=at, columns=columns)


def _compared(values: dict[str, Array], length: int) -> dict[str, Array]:
    """The slope as a share of the one that is set, and the reach of that one alone."""
    nominal = values["slope_set"]
    alone = np.full_like(nominal, np.nan)
    for slope in set(nominal[np.isfinite(nominal)].tolist()):
        mass = reach.geometric(np.array([-slope]), length - SINK)
        alone[nominal == slope] = reach.reach(mass, (SHARE,))[0, 0]
    share = values["slope"] / nominal
    return {
        "slope": share,
        "slope_set": np.where(np.isfinite(nominal), 1.0, np.nan),
        "reach_nominal": alone,
    }


PLATE = Plate(
    "emergence",
    mark("What emerges in training"),
    {"table": None, "text": texts.HELD_OUT, "length": None},
    draw,
    {"emergence": {}},
)
