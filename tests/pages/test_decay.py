"""Decay without a browser: portraits made by hand in; charts, grids and sentences out."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from pages._shared import loaded, measuring
from pages.decay import portraits
from tests.pages import decay_portraits
from tests.pages.decay_portraits import COMMAND, HEADS, LAYERS, made
from tests.visiting import visit
from viz_core import results

ROUTER = str(Path(__file__).parents[2] / "pages" / "_router.py")
ALL = LAYERS * HEADS


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of results, with a portrait made by hand for each encoding."""
    decay_portraits.write(tmp_path, "alibi", "rope", "t5", "nope", "learned")
    monkeypatch.setattr(results, "FOLDER", tmp_path)
    yield tmp_path


def opened(**query: str) -> AppTest:
    app = AppTest.from_file(ROUTER, default_timeout=300)
    visit(app, "decay")
    for name, value in query.items():
        app.query_params[name] = value
    return app.run()


def charts(app: AppTest) -> list[dict]:
    return [json.loads(c.proto.spec) for c in app.get("plotly_chart")]


def titles(app: AppTest) -> list[str]:
    return [c["layout"]["title"]["text"] for c in charts(app) if "title" in c["layout"]]


def words(app: AppTest) -> str:
    parts = (app.markdown, app.caption, app.info, app.warning, app.error)
    return " ".join(e.value for part in parts for e in part)


def claims(app: AppTest) -> dict[str, list[str]]:
    """The rows of the table at the top, by their first cell."""
    table = next(m.value for m in app.markdown if m.value.startswith("|"))
    rows = [[cell.strip() for cell in row.strip("|").split("|")] for row in table.split("\n")]
    return {row[0]: row[1:] for row in rows}


def test_first_view_finds_what_was_put_in(folder: Path) -> None:
    app = opened()
    assert not app.exception
    assert not app.error
    assert not app.warning
    found = claims(app)
    assert found[""] == ["**ALiBi**", "**RoPE**", "**T5 bias**", "Null"]
    assert found["Slope, off the nominal one"] == ["0.0 %", "–", "–", "100 %"]
    alibi, *others = (float(v) for v in found["Reach, factor per head"][:3])
    assert 1.6 < alibi < 2.1
    assert others == pytest.approx([1.0, 1.0], abs=0.05)
    steps = [int(v) for v in found[f"Heads with T5's steps, of {ALL}"][:3]]
    ripples = [int(v) for v in found[f"Heads with RoPE's ripples, of {ALL}"][:3]]
    assert steps[2] == ALL
    assert max(steps[:2]) < ALL / 2
    assert ripples[1] == ALL
    assert ripples[0] < ALL / 2
    assert found["Explained by distance"] == ["25 %"] * 3 + ["0 %"]
    assert COMMAND in words(app)
    assert set(app.query_params) <= {"v", "text"}  # a text only where none is held out


def test_first_view_has_every_figure_and_how_it_is_computed(folder: Path) -> None:
    app = opened()
    known = titles(app)
    for title in ("ALiBi · median error", "50 % of attention", "T5 bias · score", "RoPE · R² 1.00"):
        assert any(t.startswith(title) for t in known), title
    assert any("never turned once" in t for t in known)
    assert sum(e.label == "How this is computed" for e in app.expander) == 8
    panels = [a["text"] for c in charts(app) for a in c["layout"].get("annotations", ())]
    for layer in range(1, LAYERS + 1):
        for head in range(1, HEADS + 1):
            assert f"L{layer} H{head}" in panels


def test_nothing_is_measured_when_the_page_opens(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module, name in ((measuring, "portrayed"), (measuring, "surveyed"), (loaded, "model")):
        monkeypatch.setattr(
            module, name, lambda *a, **k: pytest.fail("measured without being asked")
        )
    assert not opened().exception


def test_an_address_reopens_its_state(folder: Path) -> None:
    app = opened(v="1", chosen="t5~nope", x_log="1", law="0", view="nope", layer="1", head="2")
    assert not app.exception
    assert not app.warning
    assert "NoPE · score" in " ".join(titles(app))
    assert "ALiBi" not in " ".join(titles(app))
    curves = charts(app)[0]
    assert curves["layout"]["xaxis"]["type"] == "log"
    assert {t["name"].partition(",")[0] for t in curves["data"]} == {"NoPE"}
    assert not any("law" in t["name"] for t in curves["data"])
    assert "of layer 1, head 2" in words(app)
    assert "Slope, off the nominal one" not in claims(app)  # none of the two sets any


def test_pairs_are_counted_at_each_point_of_a_curve(folder: Path) -> None:
    trace = next(t for t in charts(opened())[0]["data"] if t["name"] == "ALiBi")
    pairs = made("alibi").pairs
    assert trace["text"][:2] == [f"{n:,} pairs" for n in pairs[:2]]
    last = int(trace["text"][-1].split()[0].replace(",", ""))
    assert last >= 200


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({"chosen": "gone~alibi"}, "gone"),
        ({"changed": "gone"}, "gone"),
        ({"view": "nope"}, "view"),
        ({"text": "gone"}, "gone"),
        ({"layer": "9"}, "from 1 to 4"),
        ({"changed": "alibi", "what": "linear-4"}, "linear-4"),
        ({"estimator": "guess"}, "estimator"),
    ],
)
def test_what_an_address_asks_in_vain_is_said(
    folder: Path, query: dict[str, str], said: str
) -> None:
    app = opened(**query)
    assert not app.exception
    assert len(app.warning) == 1
    assert said in app.warning[0].value


def test_the_biased_estimator_says_by_how_much(folder: Path) -> None:
    app = opened(estimator="mean")
    assert not app.exception
    assert "false slope of" in " ".join(c.value for c in app.caption)
    assert app.checkbox(key="decay_sink").disabled
    long = replace(made("nope"), length=512, pairs=np.arange(508, 0, -1))
    assert portraits.false_slope(long) == pytest.approx(-0.0040, abs=2e-4)  # as in test_decay.py


def test_missing_and_stale_and_damaged_portraits_are_said(folder: Path) -> None:
    (folder / "portrait-t5.safetensors").unlink()
    decay_portraits.stale(folder, "rope")
    app = opened()
    assert not app.exception
    assert "t5" in app.info[0].value
    assert "make results" in app.info[0].value
    assert "another version" in app.warning[0].value
    (folder / "portrait-alibi.safetensors").write_bytes(b"no portrait")
    app = opened()
    assert not app.exception
    assert sum("portrait-alibi.safetensors" in e.value for e in app.error) == 1


def test_no_checkpoint_chosen_is_no_missing_one(folder: Path) -> None:
    app = opened(chosen="")
    assert not app.exception
    assert "Choose a checkpoint" in app.info[0].value
    assert not charts(app)


def test_pages_keep_their_state_while_another_is_open(folder: Path) -> None:
    app = opened(chosen="nope~t5", x_log="1")
    app.query_params.clear()  # as a browser does when the menu is used
    visit(app, "extrapolation").run()
    assert not app.exception
    app.query_params.clear()
    visit(app, "decay").run()
    assert not app.exception
    assert claims(app)[""] == ["**T5 bias**", "**NoPE**", "Null"]
    assert charts(app)[0]["layout"]["xaxis"]["type"] == "log"
