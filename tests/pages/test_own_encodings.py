"""An encoding of one's own in the app: on Encodings beside the others, or one clear sentence."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.visiting import visit
from viz_core import encodings

ROOT = Path(__file__).parents[2]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(encodings.OWN, str(tmp_path))
    encodings._every.cache_clear()
    return tmp_path


def opened(**query: str) -> AppTest:
    app = AppTest.from_file(str(ROOT / "pages" / "_router.py"), default_timeout=300)
    visit(app, "encodings")
    for name, value in query.items():
        app.query_params[name] = value
    return app.run()


def test_it_has_its_formula_its_slider_its_map_and_its_curve(folder: Path) -> None:
    page = (ROOT / "docs" / "your-own-encoding.md").read_text("utf-8")
    example = re.findall(r"```python\n(.*?)```", page, re.DOTALL)[0]
    (folder / "root.py").write_text(example, "utf-8")
    app = opened(a="root~power-0.25", b="alibi")
    assert not app.exception and not app.error and not app.warning
    assert app.slider(key="atlas_root_power0").value == 0.25
    assert "(i-j)^p" in app.latex[0].value
    said = " ".join(c.value for c in app.caption)
    assert "Root, power 0.25 · head 4: the head's own penalty." in said
    assert any("Its curve by distance is all there is." in m.value for m in app.markdown)
    app.selectbox(key="atlas_encoding1").set_value("root").run()
    assert not app.exception


def test_a_file_that_is_wrong_is_one_sentence_in_place_of_the_pages(folder: Path) -> None:
    (folder / "mine.py").write_text("ENCODING = 3", "utf-8")
    app = opened(a="alibi")
    assert not app.exception
    assert [e.value for e in app.error] == [
        "Expected mine.py to set ENCODING to a viz_core.encodings.Encoding; it is of type int."
    ]
    assert not app.title
    (folder / "mine.py").unlink()
    (folder / "root.py").write_text("ENCODING = None", "utf-8")
    assert "it sets none" in opened().error[0].value  # a mended folder is read anew
