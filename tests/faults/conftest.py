"""Servers that have computed nothing yet, and what a visitor of theirs sees."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from pages._shared import device, keeping, measuring, offered, uploads_room
from pages._shared.line import Line
from pages._shared.shelf import Shelf
from pages.compare import thumbnails
from viz_core.catalogue import Checkpoint
from viz_core.readers.intake import Uploads
from viz_core.store import Store

ROUTER = str(Path(__file__).parents[2] / "pages" / "_router.py")
Start = Callable[[Path], Store]


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    """`start(folder)`: a server that begins, with its store in `folder`."""

    def begin(folder: Path) -> Store:
        store, traces = Store(folder, 1 << 28), Shelf(1 << 28)
        monkeypatch.setattr(keeping, "store", lambda: store)
        monkeypatch.setattr(device, "traces", lambda: traces)
        monkeypatch.setattr(device, "line", Line())
        for module, name in (
            (measuring, "surveys"),
            (measuring, "windows"),
            (thumbnails, "walls"),
        ):
            monkeypatch.setattr(module, name, Shelf(1 << 28))
        limits = uploads_room.Limits.read()
        monkeypatch.setattr(uploads_room, "uploads", lambda: Uploads(folder / "uploads", limits))
        return store

    yield begin


@pytest.fixture
def rope() -> Checkpoint:
    return offered.shipped()[0]["rope"]


def opened(**query: str) -> AppTest:
    """Compare, as one visitor sees it, at a length that takes no time."""
    app = AppTest.from_file(ROUTER, default_timeout=120)
    for name, value in ({"length": "64", "texts": "2"} | query).items():
        app.query_params[name] = value
    return app.run()


def seen(app: AppTest) -> list[str]:
    """What the page says and draws, without what may say that it isn't kept."""
    assert not app.exception and not app.error, [e.value for e in app.error]
    charts = [chart.proto.spec for chart in app.get("plotly_chart")]
    maps = [part.proto.json for part in app.get("bidi_component")]
    assert len(charts) == 2 and maps
    return [m.value for m in app.markdown] + charts + maps


def kept(store: Store) -> list[Path]:
    """All files in the store that are no uploads."""
    return sorted(p for p in store.folder.glob("??/*") if p.is_file())
