"""Measurements as arrays and frames: maps of one text, curves and statistics over several."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from viz_core import attention, decay, perplexity, portraits, texts
from viz_core.errors import LengthError, UsageError
from viz_core.notebook.opening import Opened
from viz_core.perplexity.protocols import FIXED
from viz_core.signatures import summary
from viz_core.texts import Passage
from viz_core.trace import Trace, trace
from viz_core.types import Pooling, Range, Window
from viz_core.words import mark, say


@dataclass(frozen=True, repr=False)
class Traced:
    """One text's pass through one checkpoint: any number of its N x N maps follows from it."""

    opened: Opened
    text: Passage
    trace: Trace

    @property
    def length(self) -> int:
        """Tokens of the text, N."""
        return self.trace.length

    def window(
        self,
        layer: int,
        rows: Range | None = None,
        columns: Range | None = None,
        pixels: int = 512,
        pooling: Pooling = "mean",
    ) -> Window:
        """The map of all heads of `layer` (from 1). Raises UsageError, LengthError."""
        number = place(mark("layer"), layer, len(self.trace.layers))
        return attention.window(self.trace, number, rows, columns, pixels, pooling=pooling)

    def __repr__(self) -> str:
        return f"<{self.opened.name} on {self.length:,} tokens>"


def trace_text(opened: Opened, text: Passage | Sequence[Passage]) -> Traced:
    """One pass of `text` through `opened`; of several passages, the first.

    Time grows with the square of the length and memory with the length. Raises LengthError where
    the encoding has no values that far, or memory doesn't hold it; UsageError for what is no
    passage, such as a string.
    """
    one = text if isinstance(text, Passage) else next(iter(text), None)
    if not isinstance(one, Passage):
        raise UsageError(
            say(
                "Expected a passage of tokens; got {kind}, so make one of your text first, with "
                "read_text.",
                kind=type(text).__name__,
            )
        )
    return Traced(opened, one, trace(opened.at(len(one.ids)), one.ids))


def map_attention(
    traced: Traced,
    layer: int,
    head: int | None = None,
    rows: Range | None = None,
    columns: Range | None = None,
    pixels: int = 512,
    pooling: Pooling = "mean",
) -> npt.NDArray[np.float64]:
    """Attention probabilities [query, key] of one head, or [head, query, key] of a layer's heads.

    `rows` and `columns` are a part of the map: queries and keys from the first to before the last,
    from 0. A side longer than `pixels` comes in square cells of several tokens, each the mean of
    its pairs (or the largest, by `pooling`); NaN where no query sees a key. Raises UsageError for
    a layer or a head (both from 1) that there isn't, LengthError for ranges outside the text.
    """
    window = traced.window(layer, rows, columns, pixels, pooling)
    found = np.exp(window.value.astype(np.float64))
    found[:, window.count == 0] = np.nan
    return found if head is None else found[place(mark("head"), head, len(found))]


def measure_decay(
    opened: Opened, some: Sequence[Passage], layer: int | None = None
) -> pd.DataFrame:
    """Log-attention by distance, a row per layer, head and distance, over passages of one length.

    log_attention in nats, up to a constant per head (row-fixed-effects fit, without the first 4
    keys), its standard error over passages (NaN of one alone), the encoding's own law shifted to
    the curve's level (NaN without one), and the pairs behind each value. Raises UsageError,
    LengthError.
    """
    size = _alike(some)
    model, layers = opened.at(size), opened.checkpoint.config.layers
    wanted = range(layers) if layer is None else [place(mark("layer"), layer, layers)]
    parts: dict[int, list[decay.Part]] = {number: [] for number in wanted}
    for passage in some:
        one = trace(model, passage.ids)
        for number in wanted:
            parts[number].append(decay.part(one, number))
    frames = []
    for number in wanted:
        curve = decay.by_distance(parts[number])
        heads, distances = curve.value.shape
        law = decay.law(parts[number], one.scores[number], distances)
        shown = np.full(curve.value.shape, np.nan) if law is None else curve.aligned(law)
        frame = {
            "layer": number + 1,
            "head": np.repeat(np.arange(heads) + 1, distances),
            "distance": np.tile(np.arange(distances), heads),
            "log_attention": curve.value.ravel(),
            "error": curve.error.ravel(),
            "law": shown.ravel(),
            "pairs": np.tile(curve.pairs, heads),
        }
        frames.append(pd.DataFrame(frame))
    return pd.concat(frames, ignore_index=True)


def measure_heads(opened: Opened, some: Sequence[Passage]) -> pd.DataFrame:
    """Every statistic of every head over passages of one length, each with its null.

    The columns are those of `viz_core.signatures.summary.rows`. Raises LengthError.
    """
    size = _alike(some)
    pieces = opened.checkpoint.tokenizer()
    found = portraits.measure(opened.at(size), [p.ids for p in some], pieces, opened.setting)
    return pd.DataFrame(summary.rows(found))


def measure_losses(
    opened: Opened,
    lengths: Iterable[int],
    text: str = texts.HELD_OUT,
    protocol: str = FIXED,
    documents: int | None = None,
    own: str | None = None,
) -> pd.DataFrame:
    """Loss in nats per token and perplexity at each of `lengths`, with 95 % intervals.

    The intervals are over documents, all of `text` or as many as `documents` says; with the
    protocol "fixed-targets" every length predicts the same tokens. `own` is the words of a text of
    your own. A length that the encoding doesn't have is a row with a `note`. Raises LengthError,
    TextError, UnknownName.
    """
    wanted = sorted(set(lengths))
    if not wanted:
        raise UsageError(say("Expected one length or more, in tokens; got none."))
    name, words = (text, "") if own is None else (texts.PASTED, own)
    longest = max(*wanted, opened.checkpoint.config.length)
    samples = texts.samples(name, longest, opened.checkpoint.tokenizer(), documents, words)
    rows = perplexity.measure(opened.model, samples, wanted, protocol, opened.setting)
    return pd.DataFrame([asdict(row) for row in rows])


def place(what: str, number: int, count: int) -> int:
    """A layer or head (marked) counted from 0, from one counted from 1. Raises UsageError."""
    if not 1 <= number <= count:
        raise UsageError(
            say(
                "Expected a {what} from 1 to {count}; got {number}.",
                what=say(what),
                count=count,
                number=number,
            )
        )
    return number - 1


def _alike(some: Sequence[Passage]) -> int:
    """The length of all passages. Raises LengthError where they differ, or there is none."""
    lengths = sorted({len(p.ids) for p in some})
    if len(lengths) != 1:
        said = ", ".join(f"{n:,}" for n in lengths) or say("none")
        raise LengthError(say("Expected passages of one length in tokens; got {came}.", came=said))
    return lengths[0]
