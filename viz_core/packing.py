"""Surveys, windows and portraits as named arrays and words, as they go to disk, and back."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any

import numpy as np

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
    return _window(entry.arrays["value"], entry)


def pack(survey: Survey) -> Packed:
    """(arrays, words) of a survey: arrays get a first axis, the layer."""
    arrays, about = pack_window(survey.windows[0])  # they differ in their values alone
    arrays["value"] = np.stack([w.value for w in survey.windows])
    arrays["curve"] = np.stack([c.value for c in survey.curves])
    arrays["error"] = np.stack([c.error for c in survey.curves])
    arrays["pairs"] = survey.curves[0].pairs
    arrays["slope"] = np.stack(survey.slopes)
    laws = [law for law in survey.laws if law is not None]
    if laws:
        arrays["law"] = np.stack(laws)
    for name, statistic in survey.statistics.items():
        arrays[f"statistic {name}"] = statistic
    first = survey.curves[0]
    about |= {"curve_texts": json.dumps(first.texts), "sink": json.dumps(first.sink)}
    return arrays, about


def unpack(entry: Entry) -> Survey:
    """The survey that was packed. Raises KeyError where something is missing."""
    a, sink, texts = entry.arrays, *(json.loads(entry.about[n]) for n in ("sink", "curve_texts"))
    curves = zip(a["curve"], a["error"], strict=True)
    mark = "statistic "
    return Survey(
        windows=tuple(_window(value, entry) for value in a["value"]),
        curves=tuple(Curve(value, error, a["pairs"], texts, sink) for value, error in curves),
        laws=tuple(a["law"]) if "law" in a else (None,) * len(a["curve"]),
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


def _window(value: Any, entry: Entry) -> Window:
    words = {name: json.loads(word) for name, word in entry.about.items()}
    return Window(
        value,
        entry.arrays["count"],
        tuple(words["rows"]),
        tuple(words["columns"]),
        words["cell"],
        words["kind"],
        words["texts"],
        words["pooling"],
    )
