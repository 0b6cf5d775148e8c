"""Decay in Chinese, all of it, and in English again afterwards."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from pages._shared import offered
from tests.pages import decay_portraits, spoken
from tests.pages.test_decay import opened
from viz_core import results


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of results, with a portrait made by hand for each encoding."""
    decay_portraits.write(tmp_path, "alibi", "rope", "t5", "nope", "learned")
    monkeypatch.setattr(results, "FOLDER", tmp_path)
    yield tmp_path


def test_every_word_is_chinese() -> None:
    app = opened(lang="zh")
    assert not app.exception
    said = spoken.read(app)
    assert {"衰减", "跨头的阶梯"} <= set(said)
    assert spoken.english(said) == []


def test_what_was_said_in_chinese_is_english_for_the_next() -> None:
    assert spoken.chinese(spoken.read(opened(lang="zh")))
    app = opened(lang="en")
    assert not app.exception
    assert spoken.chinese(spoken.read(app)) == []


def test_every_estimator_and_source_is_said_in_chinese() -> None:
    query = {"chosen": "nope~learned", "estimator": "mean", "x_log": "1", "law": "0"}
    app = opened(lang="zh", source="own", setting="linear-4", **query)
    assert not app.exception
    assert spoken.english(spoken.read(app)) == []
    app = opened(lang="zh", **query)
    assert not app.exception
    assert spoken.english(spoken.read(app)) == []


def test_what_is_missing_is_said_in_chinese(folder: Path) -> None:
    (folder / "portrait-t5.safetensors").unlink()
    decay_portraits.stale(folder, "rope")
    app = opened(lang="zh", view="gone", changed="gone", layer="9", sink="yes")
    assert not app.exception
    said = [w.value for w in (*app.warning, *app.info, *app.error)]
    assert len(said) >= 6
    names = ("gone", "view", "layer", "sink", "yes", *offered.checkpoints()[0])
    assert spoken.english(said, names) == []


def test_a_switch_keeps_what_was_chosen() -> None:
    app = opened(estimator="logit", layer="1", what="ntk-4", head="0")
    assert app.warning[0].value.startswith("Expected head in the address")
    app.button_group(key="language").set_value("zh").run()
    assert not app.exception
    (warning,) = app.warning
    assert warning.value.startswith("网址中的 head")
    assert app.selectbox(key="decay_estimator").value == "logit"
    assert app.selectbox(key="decay_what").value == "ntk:4"
    assert app.button_group(key="decay_layer").value == 0
