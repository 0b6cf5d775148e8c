"""What a page shows, as few numbers as tell two figures apart: read from what is sent to a browser.

Nothing here knows how pages and figures are written: these tests hold while all of that moves.
"""

from __future__ import annotations

import base64
import io
import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from streamlit.testing.v1 import AppTest

from tests.visiting import visit

ROUTER = str(Path(__file__).parents[2] / "pages" / "_router.py")
CLOSE = 2e-3  # relative: the same weights on another processor

Summary = dict[str, Any]


def opened(page: str, query: dict[str, str]) -> AppTest:
    """The page at an address, in a visit of its own."""
    app = AppTest.from_file(ROUTER, default_timeout=600)
    if page != "compare":
        visit(app, page)
    for name, value in query.items():
        app.query_params[name] = value
    return app.run()


def shown(app: AppTest) -> Summary:
    """The address that a page ends at, what it warns of, and each figure in order."""
    assert not app.exception
    return {
        "address": {name: app.query_params[name] for name in sorted(app.query_params)},
        "errors": len(app.error),
        "warnings": len(app.warning),
        "figures": [*_figures(app.main)],
    }


def _figures(block: Any) -> Iterator[Summary]:
    for element in block.children.values():
        if element.type == "plotly_chart":
            yield _chart(json.loads(element.proto.spec))
        elif element.type == "bidi_component":
            found = _message(json.loads(element.proto.json or "null"))
            if found:
                yield {"component": element.proto.component_name, **found}
        elif element.type == "html":
            for data in re.findall(r"data:image/png;base64,([\w+/=]+)", element.proto.body):
                yield {"picture": _picture(base64.b64decode(data))}
        if getattr(element, "children", None):
            yield from _figures(element)


def _chart(spec: dict[str, Any]) -> Summary:
    layout = spec["layout"]
    axes = sorted(n for n in layout if n.startswith(("xaxis", "yaxis")))
    return {
        "axes": [(layout[n].get("title") or {}).get("text", "") for n in axes],
        "traces": [
            {
                "name": trace.get("name", ""),
                **{n: _numbers(_array(trace[n])) for n in ("x", "y", "z") if n in trace},
            }
            for trace in spec["data"]
        ],
    }


def _array(values: Any) -> np.ndarray:
    if isinstance(values, dict):
        found = np.frombuffer(base64.b64decode(values["bdata"]), values["dtype"])
        return found.astype(float)
    return np.array([v if isinstance(v, (int, float)) else math.nan for v in values], dtype=float)


def _numbers(values: np.ndarray) -> list[float]:
    """How many, and where they lie."""
    known = values[np.isfinite(values)]
    if not len(known):
        return [len(values)]
    return [len(values), *(float(f"{x:.6g}") for x in (known.mean(), known.std()))]


def _message(value: Any) -> Summary:
    """Numbers and pictures of a component's message by name, deep down."""
    found: Summary = {}

    def walk(name: str, at: Any) -> None:
        if isinstance(at, dict):
            for key in sorted(at):
                if key != "words":  # the interface's, in the visitor's language
                    walk(f"{name}.{key}" if name else key, at[key])
        elif isinstance(at, list) and at and all(isinstance(v, (int, float)) for v in at):
            found[name] = _numbers(np.array(at, dtype=float))
        elif isinstance(at, list):
            found[name] = len(at)
            for i, item in enumerate(at):
                if isinstance(item, (dict, list)):
                    walk(f"{name}.{i}", item)
        elif isinstance(at, str) and name.endswith((".values", ".png")):
            data = base64.b64decode(at)
            picture = data.startswith(b"\x89PNG")
            found[name] = (
                _picture(data) if picture else _numbers(np.frombuffer(data, "<f4").astype(float))
            )
        elif isinstance(at, (int, float)) and not isinstance(at, bool):
            found[name] = float(f"{at:.6g}")

    walk("", value)
    return found


def _picture(data: bytes) -> list[float]:
    """Its width and height, and what its pixels are like."""
    picture = Image.open(io.BytesIO(data)).convert("L")
    return [*picture.size, *_numbers(np.asarray(picture, dtype=float).ravel())]


def differences(found: Any, kept: Any, where: str = "") -> Iterator[str]:
    """Where two summaries are unlike; numbers may differ by what processors do."""
    if isinstance(found, dict) and isinstance(kept, dict):
        for name in sorted({*found, *kept}):
            yield from differences(found.get(name), kept.get(name), f"{where}.{name}")
    elif isinstance(found, (list, tuple)) and isinstance(kept, list):
        if len(found) != len(kept):
            yield f"{where}: {len(found)} instead of {len(kept)}"
        for i, (a, b) in enumerate(zip(found, kept, strict=False)):
            yield from differences(a, b, f"{where}[{i}]")
    elif isinstance(found, (int, float)) and isinstance(kept, (int, float)):
        if not math.isclose(found, kept, rel_tol=CLOSE, abs_tol=1e-3):
            yield f"{where}: {found} instead of {kept}"
    elif found != kept:
        yield f"{where}: {found!r} instead of {kept!r}"
