"""The data that pass between the core, the figures and the pages: arrays and what they mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

Range = tuple[int, int]
Kind = Literal["probability", "log", "centred"]
Pooling = Literal["mean", "max"]
SINK = 4  # first keys left out: they draw attention for being first, whatever the distance


@dataclass(frozen=True)
class Window:
    """A rectangle of the attention map in square cells of `cell` x `cell` tokens (the last cut).

    value [head, row, column], float32, in nats, by `kind`:
    - "probability": the log of the mean probability over the cell's unmasked pairs, or of the
      largest of them, by `pooling`;
    - "log": the mean of log-attention over them (the log of their geometric mean);
    - "centred": the same, less the mean of each row's log-attention.
    -inf ("probability") or NaN where a cell holds no pair; `count` [row, column] says how many it
    holds. `rows`, `columns` are token ranges, end excluded; `texts` how many texts were averaged.
    """

    value: npt.NDArray[np.float32]
    count: npt.NDArray[np.int64]
    rows: Range
    columns: Range
    cell: int
    kind: Kind = "probability"
    texts: int = 1
    pooling: Pooling = "mean"


@dataclass(frozen=True)
class Curve:
    """Log-attention by distance, b(d), nats, known up to a constant per head.

    value, error [head, distance]: the fit and its standard error over texts (NaN with one text);
    `pairs` [distance]: pairs behind each value. The first `sink` keys are left out. Distances run
    back from the query; `ahead` is the same of keys after it, where the model sees them.
    """

    value: npt.NDArray[np.float64]
    error: npt.NDArray[np.float64]
    pairs: npt.NDArray[np.int64]
    texts: int
    sink: int
    ahead: npt.NDArray[np.float64] | None = None

    def aligned(self, law: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """`law` [head, distance] shifted per head to the curve's level, weighted by pairs."""
        law = law[:, : self.value.shape[1]]
        gap = np.average(self.value - law, axis=1, weights=self.pairs)
        moved: npt.NDArray[np.float64] = law + gap[:, None]
        return moved


SPAN = 16_384  # tokens of a document that losses by length are measured on, where it has them


@dataclass(frozen=True)
class Sample:
    """The first tokens of one document (or a passage of one): ids, and the sha256 of them.

    `before`: special tokens in whose place every window on it begins, as its tokenizer has it.
    """

    id: str
    source: str
    ids: tuple[int, ...]
    sha256: str
    before: tuple[int, ...] = ()
