"""Every page where nothing is there yet: no checkpoint, no table of results."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.visiting import visit
from viz_core import catalogue, results

FOLDER = Path(__file__).parents[2] / "pages"
PAGES = sorted(file.parent.name for file in FOLDER.glob("[!_]*/page.py"))
FORMULAS = "encodings"  # draws what needs no checkpoint


@pytest.fixture(autouse=True)
def nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of checkpoints and results that is empty."""
    monkeypatch.setattr(catalogue, "SHIPPED", tmp_path)
    monkeypatch.setattr(catalogue, "scan", partial(catalogue.scan, tmp_path))
    monkeypatch.setattr(results, "FOLDER", tmp_path / "results")


@pytest.mark.parametrize("name", PAGES)
def test_a_page_says_what_is_missing(name: str) -> None:
    app = AppTest.from_file(str(FOLDER / "_router.py"), default_timeout=300)
    visit(app, name).run()
    assert not app.exception
    assert app.title
    assert app.info or name == FORMULAS
