"""Extrapolation in Chinese, all of it, and in English again afterwards."""

from pathlib import Path

import pytest

from pages._shared import offered
from pages.extrapolation import reports
from tests.pages import spoken
from tests.pages.test_extrapolation import opened
from viz_core import words


def test_every_word_is_chinese(tables_folder: Path) -> None:
    app = opened(lang="zh")
    assert not app.exception
    said = spoken.read(app)
    assert {"外推", "他人报告的结果"} <= set(said)
    assert spoken.english(said) == []


def test_what_was_said_in_chinese_is_english_for_the_next(tables_folder: Path) -> None:
    assert spoken.chinese(spoken.read(opened(lang="zh")))
    app = opened(lang="en")
    assert not app.exception
    assert spoken.chinese(spoken.read(app)) == []


@pytest.mark.parametrize("protocol", ["non-overlapping", "sliding-window", "per-position"])
def test_every_protocol_is_said_in_chinese(tables_folder: Path, protocol: str) -> None:
    app = opened(lang="zh", protocol=protocol, measure="loss", text="python-docs")
    assert not app.exception
    assert spoken.english(spoken.read(app)) == []


def test_what_is_missing_is_said_in_chinese(no_tables: None) -> None:
    app = opened(lang="zh", live="gone", report="gone", upto="7")
    assert not app.exception
    assert len(app.warning) == 3
    said = [w.value for w in (*app.warning, *app.info)]
    names = ("gone", "live", "report", "upto", "heldout", *offered.checkpoints()[0])
    assert spoken.english(said, (*names, *reports.reports())) == []


def test_a_switch_says_what_was_wrong_in_the_other_language(tables_folder: Path) -> None:
    app = opened(protocol="guess")
    assert app.warning[0].value.startswith("Expected protocol in the address")
    app.button_group(key="language").set_value("zh").run()
    assert not app.exception
    (warning,) = app.warning
    assert warning.value.startswith("网址中的 protocol")
    assert app.selectbox(key="lab_text").value == "heldout"


@pytest.mark.parametrize("spoken_language", words.LANGUAGES)
def test_downloads_of_tables_have_english_headings(
    tables_folder: Path, spoken_language: str
) -> None:
    frames = [d.value for d in opened(lang=spoken_language).dataframe]
    assert any("Passed" in frame for frame in frames)
    assert any("Forward, µs per token" in frame for frame in frames)
