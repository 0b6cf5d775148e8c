"""Surveys, windows and portraits as named arrays and words, as they go to disk, and back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np
import numpy.typing as npt

from viz_core.signatures.portrait import Portrait
from viz_core.store import Entry
from viz_core.survey import Survey
from viz_core.types import Curve, Window

Packed = tuple[dict[str, Any], dict[str, str]]


def pack_window(window: Window) -> Packed:
    """(arrays, words) of one window."""
    about = {
        name: json.dumps(getattr(window, name))
        for name in ("rows", "columns", "cell", "kind", "texts", "pooling")
    }
    return {"value": window.value, "count": window.count}, about


def unpack_window(entry: Entry) -> Window:
    """The window that was packed. Raises KeyError where something is missing."""
    return _window(entry.arrays["value"], entry.arrays["count"], entry)


def pack(survey: Survey) -> Packed:
    """(arrays, words) of a survey: arrays get a first axis, the layer.

    Curves of layers that see less far end with distances that have no pair.
    """
    arrays, about = pack_window(survey.windows[0])
    arrays["value"] = np.stack([w.value for w in survey.windows])
    arrays["count"] = np.stack([w.count for w in survey.windows])
    if (arrays["count"] == arrays["count"][0]).all():  # the same mask in all layers
        arrays["count"] = arrays["count"][:1]
    arrays["curve"] = _even([c.value for c in survey.curves])
    arrays["error"] = _even([c.error for c in survey.curves])
    arrays["pairs"] = _even([c.pairs for c in survey.curves], 0)
    arrays["slope"] = np.stack(survey.slopes)
    laws = [law for law in survey.laws if law is not None]
    if laws:
        none = np.full_like(laws[0], np.nan)
        arrays["law"] = _even([none if law is None else law for law in survey.laws])
    if survey.curves[0].ahead is not None:
        arrays["ahead"] = _even([np.asarray(c.ahead) for c in survey.curves])
    for name, statistic in survey.statistics.items():
        arrays[f"statistic {name}"] = statistic
    first = survey.curves[0]
    about |= {"curve_texts": json.dumps(first.texts), "sink": json.dumps(first.sink)}
    return arrays, about


def unpack(entry: Entry) -> Survey:
    """The survey that was packed. Raises KeyError where something is missing."""
    a, sink, texts = entry.arrays, *(json.loads(entry.about[n]) for n in ("sink", "curve_texts"))
    layers, mark = range(len(a["value"])), "statistic "
    ends = [int(np.count_nonzero(pairs)) for pairs in a["pairs"]]
    laws = [a["law"][i][:, : ends[i]] if "law" in a else None for i in layers]
    return Survey(
        windows=tuple(
            _window(a["value"][i], a["count"][i % len(a["count"])], entry) for i in layers
        ),
        curves=tuple(
            Curve(
                a["curve"][i][:, : ends[i]],
                a["error"][i][:, : ends[i]],
                a["pairs"][i][: ends[i]],
                texts,
                sink,
                a["ahead"][i][:, : ends[i]] if "ahead" in a else None,
            )
            for i in layers
        ),
        laws=tuple(None if law is None or np.isnan(law).all() else law for law in laws),
        slopes=tuple(a["slope"]),
        statistics={n.removeprefix(mark): v for n, v in a.items() if n.startswith(mark)},
    )


def pack_portrait(portrait: Portrait) -> Packed:
    """(arrays, words) of a portrait; fractions in float32, as the passes were."""
    arrays, about = dict[str, Any](), dict[str, str]()
    for name, value in vars(portrait).items():
        if isinstance(value, np.ndarray):
            arrays[name] = value.astype(np.float32) if value.dtype.kind == "f" else value
        else:
            about[name] = json.dumps(value)
    return arrays, about


def unpack_portrait(entry: Entry) -> Portrait:
    """The portrait that was packed. Raises KeyError where something is missing."""
    values = dict[str, Any]()
    for field in fields(Portrait):
        if field.name in entry.about:
            values[field.name] = json.loads(entry.about[field.name])
        else:
            array = entry.arrays[field.name]
            values[field.name] = array.astype(np.float64) if array.dtype.kind == "f" else array
    return Portrait(**values)


def _even(arrays: Sequence[npt.NDArray[Any]], fill: float = np.nan) -> npt.NDArray[Any]:
    """Arrays [..., distance] as one [layer, ..., distance], the shorter ones filled up."""
    most = max(a.shape[-1] for a in arrays)
    ends = [((0, 0),) * (a.ndim - 1) + ((0, most - a.shape[-1]),) for a in arrays]
    return np.stack([np.pad(a, e, constant_values=fill) for a, e in zip(arrays, ends, strict=True)])


def _window(value: Any, count: Any, entry: Entry) -> Window:
    words = {name: json.loads(word) for name, word in entry.about.items()}
    return Window(
        value,
        count,
        tuple(words["rows"]),
        tuple(words["columns"]),
        words["cell"],
        words["kind"],
        words["texts"],
        words["pooling"],
    )
