"""Checkpoints and Figures in Chinese, all of it, whoever came before in another language."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from pages._shared import (
    export,
    export_control,
    export_sources,
    loaded,
    uploads_known,
    uploads_room,
)
from pages._shared.export import Shown
from pages.checkpoints import words as checkpoint_words
from pages.figures import drawing, labels
from tests.pages import checkpoint_files as files
from tests.pages import spoken
from tests.visiting import visit
from viz_core import plates, words
from viz_core.export.target import Target
from viz_core.plates.tray import Pin, Tray
from viz_core.progress import ignore
from viz_core.readers.intake import Limits, Uploads

ROUTER = str(Path(__file__).parents[2] / "pages" / "_router.py")
FORMULAS = Pin.of("encoding-curves", encodings=["rope"])  # drawn without a checkpoint or a text
# Endings of files, sizes, families, libraries, tensors, and values of options.
NAMES = (
    *(".safetensors", ".pth", ".ckpt", ".bin", ".gguf", ".zip", "tokenizer.json", "config.json"),
    *("KiB", "MiB", "GiB", "Hugging Face", "LaTeX", "minGPT", "nanoGPT", "nanogpt", "llama"),
    *("LayerNorm", "transformer.wpe.weight", "gelu-tanh", "gelu", "relu", "silu"),
    *("causal", "bidirectional", "half", "default", "max_position_embeddings", "ckpt.pt"),
    "model.pt",
    *("heldout", "python-docs", "prose", "encoding-curves", "random", "model.safetensors", "none"),
    *("PyTorch", "transformers", "mean |S_j|"),
)


@pytest.fixture(autouse=True)
def own_uploads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limits = uploads_room.uploads().limits
    monkeypatch.setattr(uploads_room, "uploads", lambda: Uploads(tmp_path / "kept", limits))


def opened(page: str, lang: str, **query: str) -> AppTest:
    app = AppTest.from_file(ROUTER, default_timeout=300)
    visit(app, page)
    for name, value in {"lang": lang, **query}.items():
        app.query_params[name] = value
    app.run()
    assert not app.exception
    return app


def dropped(app: AppTest, *paths: Path) -> AppTest:
    field = app.file_uploader[0]
    field.set_value([(p.name, p.read_bytes(), "application/octet-stream") for p in paths])
    app.run()
    assert not app.exception
    return app


def english(*said: str) -> list[str]:
    """English words in what was said, but for names; Markdown's escapes are no part of them."""
    return spoken.english([text.replace("\\", "") for text in said], NAMES)


def test_the_shipped_checkpoints() -> None:
    app = opened("checkpoints", "zh")
    assert english(*spoken.read(app)) == []
    assert {"检查点", "模型卡"} <= set(spoken.read(app))
    assert spoken.chinese(spoken.read(opened("checkpoints", "en"))) == []


def test_uploads_with_their_questions_and_their_audit(tmp_path: Path) -> None:
    path, folder = files.state_dict(tmp_path / "model.pt"), files.llama(tmp_path / "llama")
    app = opened("checkpoints", "zh")
    for paths in ([path], sorted(folder.iterdir())):
        dropped(app, *paths)
        assert not app.error
    assert english(*spoken.read(app)) == []
    said = " ".join(spoken.read(app))
    assert "假定为" in said and "文件没有说明" in said  # of the state dict
    assert spoken.chinese(spoken.read(dropped(opened("checkpoints", "en"), path))) == []
    assert english(*spoken.read(dropped(opened("checkpoints", "zh"), path))) == []


def test_a_refusal_and_a_wrong_answer(tmp_path: Path) -> None:
    (tmp_path / "ckpt.pt").write_bytes(b"nothing")
    app = dropped(opened("checkpoints", "zh"), tmp_path / "ckpt.pt")
    (error,) = (e.value for e in app.error)
    assert "有误" in error and english(error) == []
    app = dropped(opened("checkpoints", "zh"), files.state_dict(tmp_path / "model.pt"))
    next(f for f in app.number_input if f.label == "头").set_value(3)
    next(b for b in app.button if b.label == "采用这些值").click()
    app.run()
    (error,) = (e.value for e in app.error)
    assert "头数应整除" in error and english(error) == []


def test_what_is_kept_of_an_upload_is_nobodys_language(tmp_path: Path) -> None:
    path = files.native_file(tmp_path / "model.safetensors")
    about = (("model.safetensors",), "0" * 64, path, ())
    found = {name: uploads_known._checkpoint(*about, name) for name in ("zh", "en", "zh")}
    assert found["zh"].sha256 == found["en"].sha256
    for lang in ("zh", "en", "zh"):
        with words.speaking(lang):
            audit = [f"{words.say(f.about)}: {f.words}" for f in loaded.audited(found[lang])]
            facts = [f"{name}: {value}" for name, value in checkpoint_words.facts(found[lang])]
        assert len(audit) >= 2
        assert (english(*audit, *facts) if lang == "zh" else spoken.chinese(audit + facts)) == []


def test_limits_and_hours_are_said_in_both() -> None:
    limits = Limits.read()
    with words.speaking("zh"):
        said = checkpoint_words.limits(limits, 100), checkpoint_words.until(1.7e9, 24)
    assert english(*said) == [] and "11 月 1" in said[1]
    assert " November (" in checkpoint_words.until(1.7e9, 24)


def test_an_empty_tray_and_the_figures_that_are_ready() -> None:
    app = opened("figures", "zh")
    assert english(*spoken.read(app)) == []
    assert spoken.chinese(spoken.read(opened("figures", "en"))) == []


def test_the_command_of_a_figure_draws_it_in_the_language_of_the_page() -> None:
    for lang, ends in (("zh", " --language=zh --out F.pdf"), ("en", "decay-grid --out F.pdf")):
        (command,) = (c.value for c in opened("figures", lang).code)
        assert command.endswith(ends)


def test_a_tray_with_a_pin() -> None:
    query = {"v": "1", "pins": FORMULAS.word()}
    app = opened("figures", "zh", **query)
    assert english(*spoken.read(app)) == []
    assert app.session_state["tray"].target.language == "zh"
    with words.speaking("zh"):  # AppTest looks a value up by what its widget calls it
        app.button_group(key="tray_sight").set_value("deutan")
        app.selectbox(key="tray_venue").set_value(export_control.OWN).run()
    assert not app.exception and english(*spoken.read(app)) == []
    again = opened("figures", "en", **query)
    assert spoken.chinese(spoken.read(again)) == []
    assert dict(again.query_params) == query


def test_every_option_of_a_figure_has_a_name_and_a_purpose() -> None:
    pinned = (plate for name, plate in plates.all_plates().items() if name != "tray")
    options = {name for plate in pinned for name in plate.options if name != "table"}  # a path
    assert options <= labels.NAMES.keys() and options <= labels.HELPS.keys()
    with words.speaking("zh"):
        said = [words.say(m) for m in (*labels.NAMES.values(), *labels.HELPS.values())]
    assert len(spoken.chinese(said)) == len(said)


def test_the_picture_of_a_tray_is_kept_by_language() -> None:
    spec = {}
    for lang in ("zh", "en", "zh"):
        with words.speaking(lang):
            tray = Tray((FORMULAS,), Target(language=lang))
            found = drawing.picture(tray, ignore)
        assert spec.setdefault(lang, found[1].spec.caption) == found[1].spec.caption
    assert spoken.chinese([spec["zh"]]) and not spoken.chinese([spec["en"]])


def test_what_leaves_a_page_is_made_in_its_language_once_the_page_is_done(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    taken: list[tuple[str, Callable[[], bytes]]] = []
    monkeypatch.setattr(st, "download_button", lambda name, made, **_: taken.append((name, made)))
    app = opened("encodings", "zh")
    app.session_state["export_atlas_curves"] = True
    with words.speaking("zh"):  # AppTest looks a value up by what its widget calls it
        app.run()
        app.selectbox(key="export_atlas_curves_kind").set_value("tex").run()
    assert not app.exception and not app.error
    made = next(made for label, made in reversed(taken) if label == "下载 TEX")
    assert words.language() == words.PLAIN and spoken.chinese([made().decode()])
    assert any(c.value.startswith("宽 5.50 英寸") for c in app.caption)


def test_a_title_is_said_for_its_target() -> None:
    with words.speaking("zh"):
        target = export_control.Choice().target()
        tray = drawing.composed(Tray((FORMULAS,), target), "figure", 72, ignore)
        shown = Shown(lambda: tray.spec, words.mark("Losses by length"), "one", "decay")
        assert export.ready(shown, target, 72, {}).title == "各长度的损失"


def test_why_a_figure_is_not_pinned() -> None:
    with words.speaking("zh"):
        assert english(words.say(export_sources.UPLOADED)) == []
