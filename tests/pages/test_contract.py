"""Every page of the folder: a card, and a run without an exception."""

import importlib
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.visiting import visit

FOLDER = Path(__file__).parents[2] / "pages"
ROUTER = str(FOLDER / "_router.py")
NAMES = sorted(p.parent.name for p in FOLDER.glob("[!_]*/page.py"))


@pytest.mark.parametrize("name", NAMES)
def test_page_has_a_card(name: str) -> None:
    card = importlib.import_module(f"pages.{name}.page").PAGE
    assert card.title
    assert card.icon.startswith(":material/")
    assert len(card.about) > 20


def test_one_home_page() -> None:
    orders = [importlib.import_module(f"pages.{n}.page").PAGE.order for n in NAMES]
    assert orders.count(0) == 1
    assert len(set(orders)) == len(orders)


@pytest.mark.parametrize("name", NAMES)
def test_page_runs(name: str) -> None:
    app = AppTest.from_file(ROUTER, default_timeout=300).run()
    visit(app, name).run()  # relative to the router
    assert not app.exception
    assert app.title
