"""What others report, as curves: sets of published rows, and our own rows to stand next to them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import pandas as pd

from viz_core import encodings, published, series
from viz_core.figures import extrapolation
from viz_core.figures.reported import Series
from viz_core.published import SOURCES, Source
from viz_core.words import mark, say, sentences

SCALINGS = {"linear": "PI", "ntk": "NTK", "dynamic": mark("dynamic NTK"), "yarn": "YaRN"}
SCALINGS |= {"longrope": "LongRoPE", "logn": "log N", "abf": "ABF", "theta": "θ"}
OURS = {"linear": "linear:fit", "ntk": "ntk:fit", "dynamic": "dynamic", "yarn": "yarn:fit"}
WORDS = {  # of a protocol, by the first of them in the tables
    "not": mark("protocol not stated"),
    "fixed-targets": mark("fixed targets"),
    "non-overlapping": mark("non-overlapping"),
    "sliding-window": mark("sliding window"),
}
QUOTED = (mark("perplexity table"), mark("not stated"))  # of the tables, and no names
CURVE = ["model", "encoding", "scaling", "tuned"]


@dataclass(frozen=True)
class Report:
    """Rows of one source on one text, with one trained length, under one protocol."""

    id: str
    source_id: str
    rows: pd.DataFrame

    @property
    def source(self) -> Source:
        """Who reported it."""
        return SOURCES[self.source_id]

    @property
    def title(self) -> str:
        """Who, which tables, what was measured on what."""
        first = self.rows.iloc[0]
        *others, last = (_table(table) for table in dict.fromkeys(self.rows.table))
        where = say("{some} and {last}", some=say(", ").join(others), last=last) if others else last
        return say(
            "{source}, {tables}: L = {trained:,}, {protocol}",
            source=self.source.label,
            tables=where,
            trained=first.trained_length,
            protocol=self.protocol,
        )

    @property
    def protocol(self) -> str:
        """As the source has it."""
        words = str(self.rows.protocol.iloc[0])
        return say(WORDS.get(words.partition(" ")[0], words)) + words.partition("window")[2]

    def caption(self, text: str, ours: bool) -> str:
        """Where the values come from, how far they can be trusted, and what ours are."""
        first = self.rows.iloc[0]
        whence = say(
            "Perplexity over that at the trained length. {title}; model: {models}; text: {text}. "
            "Values as quoted, drawn pale; dashed: fine-tuned for greater length.",
            title=self.title,
            models=say(", ").join(say(model) for model in dict.fromkeys(self.rows.model)),
            text=say(first.text),
        )
        trust = say("Unverified.") if self.source.verified == "unverified" else ""
        bounded = any(self.rows.bound == ">")
        ends = say("A curve whose further values are only bounded ends at the first bound.")
        right = say(
            "Right: the checkpoints shipped here, on {text}. Models, texts and protocols differ, "
            "so only the shapes compare.",
            text=text,
        )
        note = say(self.source.note)
        return sentences(whence, trust, note, ends if bounded else "", right if ours else "")

    @property
    def like(self) -> str:
        """Our protocol that is closest to it; fixed targets where none is stated."""
        word = str(self.rows.protocol.iloc[0]).partition(" ")[0]
        return word if word in ("non-overlapping", "sliding-window") else "fixed-targets"

    @property
    def settings(self) -> list[str]:
        """Our settings that are closest to its scalings."""
        kinds = dict.fromkeys(s.partition(":")[0] for s in self.rows.scaling)
        return ["", *(OURS[k] for k in kinds if k in OURS)]


@cache
def reports() -> dict[str, Report]:
    """Every set of published rows that has a curve past its trained length, by id."""
    found = {}
    table = published.rows()
    keys = ["source", "trained_length", "protocol", "text"]
    for (source, trained, protocol, _), rows in table.groupby(keys, sort=False):
        words = "".join(c if c.isalnum() else "-" for c in f"{source}-{trained}-{protocol}")
        report = Report(words.lower(), source, rows)
        drawn = curves(report)
        if any(np.isfinite(s.ratio[s.times > 1]).any() for s in drawn):
            found[report.id] = report
    return found


def curves(report: Report) -> tuple[Series, ...]:
    """Each curve over its own value at the trained length, or that of the unscaled model there.

    A curve that two tables quote is taken from the longer; fine-tuned models with a single value
    (a course of training, not of lengths) are left to the table.
    """
    found: dict[tuple[str, ...], Series] = {}
    several = report.rows.model.nunique() > 1
    parts = list(report.rows.groupby([*CURVE, "table"], sort=False))
    for key, rows in sorted(parts, key=lambda part: -len(part[1])):
        model, encoding, scaling, tuned, _ = key
        base = _base(report, rows, encoding)
        if key[:4] in found or base is None or (len(rows) == 1 and tuned != "no"):
            continue
        rows = rows.sort_values("length")
        said = [_scaling(scaling)] * (scaling != "none") + [say("tuned")] * (tuned == "yes")
        plain = encodings.get(encoding).name
        whole = ", ".join([plain, *said])
        kind = scaling.partition(":")[0].partition("+")[0]
        found[key[:4]] = Series(
            name=f"{whole} ({model})" if several else whole,
            label=", ".join(said) or plain,
            accent=encoding if kind == "none" else kind,
            times=rows.length.to_numpy(np.float64) / rows.trained_length.to_numpy(np.float64),
            ratio=np.where(_drawn(rows.bound), rows.perplexity.to_numpy(np.float64), np.nan) / base,
            notes=tuple(_quoted(b, p) for b, p in zip(rows.bound, rows.perplexity, strict=True)),
            dash="dash" if tuned == "yes" else "solid",
        )
    return tuple(sorted(found.values(), key=lambda s: (s.label != s.name, s.name)))


def ours(table: pd.DataFrame, report: Report, text: str) -> tuple[Series, ...]:
    """Our curves of the encodings and scalings that `report` has, under the protocol closest."""
    rows = series.rows_of(table, report.like, text, settings=report.settings)
    found = []
    for encoding in dict.fromkeys(report.rows.encoding):
        every = series.curves(rows[rows.encoding == encoding]) if len(rows) else []
        plain = next((s for s in every if s.accent == encoding), None)
        at = plain.loss[plain.length == plain.trained_length] if plain else np.empty(0)
        if np.isfinite(at).any():
            found += [_over(s, float(at[0])) for s in every]
    return tuple(found)


def _over(s: extrapolation.Series, base: float) -> Series:
    """Our curve over the perplexity whose logarithm is `base`."""
    notes = tuple(say("perplexity {value:,.2f}", value=np.exp(v)) for v in s.loss)
    times, ratio = s.length / s.trained_length, np.exp(s.loss - base)
    return Series(s.name, s.label, s.accent, times, ratio, notes, s.dash)


def _base(report: Report, rows: pd.DataFrame, encoding: str) -> float | None:
    every = report.rows
    plain = every[(every.encoding == encoding) & (every.scaling == "none") & (every.tuned != "yes")]
    for part in (rows, plain):
        at = part[(part.length == part.trained_length) & part.perplexity.notna()]
        if len(at):
            return float(at.perplexity.iloc[0])
    return None


def _drawn(bounds: pd.Series) -> np.ndarray:
    """Which values are drawn: measured ones, and of those that are only bounded the first."""
    bounded = (bounds == ">").to_numpy()
    return ~bounded | (bounded.cumsum() == 1)


def _table(name: str) -> str:
    word, _, number = name.partition(" ")
    return say("Table {number}", number=number) if word == "Table" else say(name)


def _scaling(words: str) -> str:
    parts = []
    for part in words.split("+"):
        kind, _, number = part.partition(":")
        sign = "" if kind in ("theta", "abf") else "s = "
        name = say(SCALINGS.get(kind, kind))
        parts.append(name + (f" {sign}{float(number):g}" if number else ""))
    return " + ".join(parts)


def _quoted(bound: str, perplexity: float) -> str:
    if bound == "OOM":
        return say("out of memory")
    if bound:
        return say("perplexity more than {value:,.10g}", value=perplexity)
    return say("perplexity {value:,.10g}", value=perplexity)
