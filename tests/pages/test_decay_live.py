"""What Decay measures here and now: one's own portraits, the control, another setting."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer

from pages._shared import measuring
from pages.decay import rescaled_peaks, what_if
from pages.decay.portraits import Sitter
from tests.pages import decay_portraits
from tests.pages.decay_portraits import HEADS, LAYERS, THETA, made
from tests.pages.test_decay import charts, claims, opened, titles, words
from viz_core import catalogue, portraits, results
from viz_core.errors import LengthError
from viz_core.model import ModelConfig, Transformer
from viz_core.signatures.portrait import Portrait
from viz_core.survey import Survey
from viz_core.types import Curve, Window


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of results, with portraits made by hand."""
    decay_portraits.write(tmp_path, "alibi", "rope")
    monkeypatch.setattr(results, "FOLDER", tmp_path)
    yield tmp_path


def test_a_measurement_of_one_s_own(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def portrayed(checkpoint, passages, setting, progress):
        asked.append((checkpoint.id, setting, len(passages), len(passages[0].ids)))
        progress(0.5)
        if checkpoint.id == "learned":
            raise LengthError("learned ends before")
        return replace(made(checkpoint.id), setting=setting)

    monkeypatch.setattr(measuring, "portrayed", portrayed)
    query = {"source": "own", "text": "python-docs", "length": "256", "texts": "4"}
    app = opened(chosen="alibi~rope~learned", setting="ntk-4", **query)
    assert not asked
    app.button(key="decay_compute").click().run()
    assert not app.exception
    order = [("alibi", ""), ("rope", "ntk:4"), ("learned", "")]
    assert asked == [(*one, 4, 256) for one in order]
    assert claims(app)[""] == ["**ALiBi**", "**RoPE, NTK s = 4**", "Null"]
    assert [e.value for e in app.error] == ["learned is left out. learned ends before"]
    app.button_group(key="decay_layer").set_value(0).run()
    assert len(claims(app)[""]) == 3  # it stays without being asked again
    app.selectbox(key="decay_length").set_value(512).run()
    assert not charts(app)


def test_a_setting_of_nobody_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "portrayed", lambda c, p, s, r: replace(made(c.id), setting=s))
    query = {"source": "own", "text": "random", "length": "256", "texts": "2"}
    app = opened(chosen="alibi", setting="linear-4", **query)
    app.button(key="decay_compute").click().run()
    assert not app.exception
    assert any("RoPE, PI s = 4" in i.value for i in app.info)


def test_a_text_too_short_is_one_sentence() -> None:
    app = opened(source="own", text="prose", length="4096", texts="2")
    app.button(key="decay_compute").click().run()
    assert not app.exception
    assert len(app.error) == 1
    assert "prose" in app.error[0].value


def test_a_measured_portrait_is_shown_like_a_shipped_one(folder: Path) -> None:
    torch.manual_seed(0)
    model = Transformer(ModelConfig("alibi", LAYERS, HEADS, 64, 4096, 400))
    model.eval().requires_grad_(False)
    ids = torch.randint(4096, (6, 150), generator=torch.Generator().manual_seed(5)).tolist()
    found = portraits.measure(model, ids, Tokenizer.from_file(str(catalogue.TOKENIZER)))
    results.write_portrait(folder, "alibi", decay_portraits.kept(found))
    app = opened(chosen="alibi")
    assert not app.exception
    assert not app.error
    assert "over 6 texts of 150 tokens" in words(app)
    off = float(claims(app)["Slope, off the nominal one"][0].removesuffix(" %"))
    assert off < 5  # an untrained model's content adds next to nothing to its slopes


def sitter(portrait: Portrait) -> Sitter:
    return Sitter(object(), "rope", "RoPE", portrait)


def test_peaks_that_follow_the_rotation_are_told_from_peaks_that_stay() -> None:
    before, slower = sitter(made("rope")), THETA / 4
    followed = rescaled_peaks.moved(before, sitter(made("rope", slower)))
    assert len(followed) == LAYERS * HEADS
    told = followed[followed.index % HEADS < HEADS - 1]  # the last head's pair turns too slowly now
    assert told.there.all()
    assert not told.stayed.any()
    np.testing.assert_allclose(told.expected / told.period, 4, rtol=0.1)
    assert followed.new.min() > 0.9
    assert followed.old.max() < 0.7
    same = replace(
        made("rope"), theta=slower
    )  # says that it turns more slowly, but ripples as ever
    stayed = rescaled_peaks.moved(before, sitter(same))
    assert not stayed.loc[told.index].there.any()


def test_a_text_too_short_for_the_control_is_an_error() -> None:
    before = sitter(made("rope"))
    with pytest.raises(LengthError, match="turns twice"):
        rescaled_peaks.moved(before, sitter(made("rope", THETA / 1000)))


def test_the_control_says_what_moved_and_shows_before_and_after(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def portrayed(checkpoint, passages, setting, progress) -> Portrait:
        return made("rope", THETA / 4 if setting == "linear:4" else THETA, setting)

    monkeypatch.setattr(measuring, "portrayed", portrayed)
    app = opened(text="random", length="256", texts="2")
    assert not any("PI s = 4" in t for t in titles(app))
    app.button(key="decay_control").click().run()
    assert not app.exception
    assert not app.error
    assert any(t.startswith("RoPE, PI s = 4 · R²") for t in titles(app))
    assert f"of the {LAYERS * HEADS} heads that ripple clearly" in words(app)


def survey(factor: float) -> Survey:
    """Attention that falls by `factor` nats per token in head 1, twice that in head 2, ..."""
    n, shape = 256, (HEADS, 64, 64)
    d = 4.0 * (np.arange(64)[:, None] - np.arange(64)).clip(0)
    value = -factor * np.arange(1, HEADS + 1)[:, None, None] * d
    count = np.tril(np.full(shape[1:], 16, np.int64))
    value = np.where(count > 0, value, np.nan).astype(np.float32)
    window = Window(value, count, (0, n), (0, n), 4, "log", 2)
    curve = -factor * np.arange(1, HEADS + 1)[:, None] * np.arange(n - 4)
    pairs = 2 * np.arange(n - 4, 0, -1)
    curves = Curve(curve, np.full_like(curve, 0.1), pairs, 2, 4)
    slopes = np.full(HEADS, -factor)
    return Survey((window,) * 4, (curves,) * 4, (None,) * 4, (slopes,) * 4, {})


def test_another_setting_is_a_difference_of_maps_and_of_curves(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = []

    def surveyed(checkpoint, passages, kind, progress, setting="", **more) -> Survey:
        asked.append((checkpoint.id, kind, setting, len(passages), len(passages[0].ids)))
        progress(0.5)
        return survey(0.03 if setting else 0.01)

    monkeypatch.setattr(measuring, "surveyed", surveyed)
    query = {"text": "random", "length": "256", "texts": "2", "head": "2"}
    app = opened(changed="alibi", what="exponent-6", **query)
    assert not asked
    app.button(key="decay_change").click().run()
    assert not app.exception
    assert not app.error
    assert asked == [("alibi", "log", setting, 2, 256) for setting in ("", "exponent:6")]
    gap = next(
        c for c in charts(app) if c["layout"].get("title", {}).get("text") == "Their difference"
    )
    assert gap["layout"]["yaxis"]["title"]["text"] == "nats"
    assert "ALiBi, exponent 6 less ALiBi" in words(app)
    app.selectbox(key="decay_what").set_value("off").run()
    assert "Their difference" not in titles(app)  # another question, not asked yet


def test_a_part_of_a_window_is_cut_along_its_cells() -> None:
    window = survey(0.01).windows[0]
    part = what_if.cut(window, ((130, 200), (0, 61)))
    assert part.rows == (128, 200)
    assert part.columns == (0, 64)
    np.testing.assert_array_equal(part.value, window.value[:, 32:50, :16])
    np.testing.assert_array_equal(part.count, window.count[32:50, :16])
    assert what_if.cut(window, None) is window
