"""Checkpoints without a browser: uploads of each kind, the audit, questions, removal, limits."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest
from tokenizers import Tokenizer
from tokenizers.processors import TemplateProcessing

from pages._shared import device, loaded, offered, uploads_known, uploads_room
from pages.checkpoints import cards as checkpoint_cards
from pages.checkpoints import words as checkpoint_words
from tests.pages import checkpoint_files as files
from tests.visiting import visit
from viz_core import catalogue, readers
from viz_core.catalogue import Checkpoint
from viz_core.errors import AtlasError, UsageError
from viz_core.readers.huggingface import hub
from viz_core.readers.intake import Uploads

ROUTER = str(Path(__file__).parents[2] / "pages" / "_router.py")


@pytest.fixture(autouse=True)
def own_uploads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of uploads for each test."""
    folder = tmp_path / "kept"
    limits = uploads_room.uploads().limits
    monkeypatch.setattr(uploads_room, "uploads", lambda: Uploads(folder, limits))
    return folder


def opened() -> AppTest:
    app = AppTest.from_file(ROUTER, default_timeout=300).run()
    return visit(app, "checkpoints").run()


def dropped(app: AppTest, *paths: Path) -> AppTest:
    """Drops files, all of one upload."""
    field = app.file_uploader[0]
    field.set_value([(p.name, p.read_bytes(), "application/octet-stream") for p in paths])
    return app.run()


def known(app: AppTest) -> list[str]:
    """The headings of uploads, in order."""
    html = " ".join(h.proto.body for h in app.get("html"))
    return re.findall(r"18px\">([^<]+ \([a-z0-9-]+\))</b>", html)


def audit(app: AppTest) -> str:
    return " ".join(h.proto.body for h in app.get("html") if 'class="audit"' in h.proto.body)


def gone_to(app: AppTest, page: str, query: dict[str, str]) -> AppTest:
    """Another page, by a link with parameters."""
    visit(app, page)
    app.query_params.clear()
    app.query_params.update(query)
    return app.run()


def test_the_shipped_ones_stand_there_with_their_cards_and_training() -> None:
    app = opened()
    assert not app.exception and not app.error
    cards = [b for b in app.button if b.label == "Model card"]
    assert len(cards) == 6
    assert len(app.get("plotly_chart")) == 1
    cards[0].click().run()
    assert not app.exception
    assert any("trained at 512 tokens" in m.value for m in app.markdown)


def test_a_card_on_the_page_has_no_front_matter_comment_or_link_that_leads_nowhere() -> None:
    text = checkpoint_cards.readable(offered.shipped()[0]["rope"])
    assert text.startswith("# RoPE")
    assert "<!--" not in text and "](../" not in text and "](https://" in text


def test_a_native_file_is_audited_and_seen_on_the_other_pages(tmp_path: Path) -> None:
    app = dropped(opened(), files.native_file(tmp_path / "My Model.safetensors"))
    assert not app.exception and not app.error
    (name,) = known(app)
    assert re.fullmatch(r"RoPE \(my-model-[0-9a-f]{6}\)", name)
    assert "agrees" in audit(app) and "128 tokens, as the description says." in audit(app)
    assert not app.file_uploader[0].value  # the field is empty again, and its bytes are gone
    id = name[6:-1]
    gone_to(app, "compare", {"v": "1", "a": f"{id}.2.1", "b": "rope.2.1", "length": "64"})
    assert not app.exception and not app.error
    assert app.selectbox(key="checkpoint0").value == id
    assert len(app.get("plotly_chart")) == 2
    assert "trained at 128 and 512" in app.select_slider(key="length").label


def test_a_state_dict_asks_what_it_does_not_say(tmp_path: Path) -> None:
    app = dropped(opened(), files.state_dict(tmp_path / "nano.pt"))
    assert not app.exception and not app.error
    assert known(app)[0].startswith("Learned (nano-")
    assert "Assumed" in audit(app)
    heads = next(n for n in (*app.selectbox, *app.number_input) if n.label == "Heads")
    heads.set_value(2)
    next(b for b in app.button if b.label == "Use these values").click().run()
    assert not app.exception and not app.error
    assert "it was answered so" in audit(app)
    (one,) = uploads(app).values()
    assert one.config.heads == 2 and one.config.layers == 2


def test_an_answer_that_cannot_be_gets_a_sentence_and_changes_nothing(tmp_path: Path) -> None:
    app = dropped(opened(), files.state_dict(tmp_path / "nano.pt"))
    (before,) = uploads(app).values()
    heads = next(n for n in (*app.selectbox, *app.number_input) if n.label == "Heads")
    heads.set_value(5)  # 32 channels are no multiple of it
    next(b for b in app.button if b.label == "Use these values").click().run()
    assert not app.exception
    assert len(app.error) == 1 and "5" in app.error[0].value
    (after,) = uploads(app).values()
    assert after.config == before.config


def test_a_hugging_face_folder_reads_with_its_own_tokenizer(tmp_path: Path) -> None:
    folder = files.llama(tmp_path / "llama")
    app = dropped(opened(), *sorted(folder.iterdir()))
    assert not app.exception and not app.error
    (name,) = known(app)
    assert name.startswith("RoPE (llama-")
    (one,) = uploads(app).values()
    assert (one.config.heads, one.config.kv_heads, one.config.length) == (4, 2, 512)
    query = {"v": "1", "a": f"{one.id}.1.1", "b": "rope.1.1", "text": "pasted", "length": "40"}
    gone_to(app, "compare", query | {"view": "one", "paste": "How far is it, and why? " * 3})
    assert not app.exception and not app.error
    # the same text, each in its own tokens: 40 of bytes, fewer of words
    assert any("fewer than 40" in i.value for i in app.info)
    assert any("of 40 and " in c.value for c in app.caption)


def test_only_settings_that_a_model_can_have_are_offered(tmp_path: Path) -> None:
    app = dropped(opened(), *sorted(files.llama(tmp_path / "llama").iterdir()))
    (id,) = uploads(app)
    gone_to(app, "extrapolation", {"v": "1", "live": id, "setting": "linear-4"})
    assert not app.exception
    assert app.selectbox(key="lab_live").value == id
    assert app.selectbox(key="lab_kind").disabled
    visit(app, "checkpoints").run()
    gone_to(app, "decay", {"v": "1", "chosen": id, "source": "own", "changed": id})
    assert not app.exception
    assert app.button(key="decay_change").disabled
    assert any("own format" in c.value for c in app.caption)


def test_without_its_tokenizer_a_checkpoint_reads_random_tokens_and_numbers(tmp_path: Path) -> None:
    app = dropped(opened(), files.state_dict(tmp_path / "nano.pt", heads=4))
    (id,) = uploads(app)
    query = {"v": "1", "a": f"{id}.1.1", "length": "32", "texts": "2"}
    for text, paste, fine in (
        ("python-docs", "", False),
        ("random", "", True),
        ("pasted", "3 1 4 1 5 9 2 6 5 3 5 8 9 7 9 3 2 3 8 4 6 2 6 4", True),
        ("pasted", "3 1 4 and words", False),
    ):
        visit(app, "checkpoints").run()
        gone_to(app, "compare", query | {"text": text, "paste": paste})
        assert not app.exception
        assert bool(app.error) is not fine
        assert all("came without one" in e.value for e in app.error)


def test_what_was_removed_is_gone_everywhere(tmp_path: Path, own_uploads: Path) -> None:
    app = dropped(opened(), files.native_file(tmp_path / "one.safetensors"))
    (one,) = uploads(app).values()
    next(b for b in app.button if b.label == "Remove").click().run()
    assert not app.exception and not known(app) and not list(own_uploads.rglob("*.safetensors"))
    with pytest.raises(AtlasError, match="were removed or have expired"):
        loaded.model(one)
    gone_to(app, "compare", {"v": "1", "a": f"{one.id}.1.1", "length": "64", "texts": "2"})
    assert not app.exception
    assert one.id in app.warning[0].value


def test_another_session_sees_nothing_of_it_until_it_is_published(tmp_path: Path) -> None:
    app = dropped(opened(), files.native_file(tmp_path / "one.safetensors"))
    other = opened()
    assert not known(other) and not uploads(other)
    (upload,) = uploads_room.uploads().list(owner(app))
    uploads_room.uploads().publish(upload.id)
    other.run()
    assert known(other) == known(app)
    assert not [b for b in other.button if b.label == "Remove"]


def test_uploads_go_when_their_hours_are_over(tmp_path: Path) -> None:
    app = dropped(opened(), files.native_file(tmp_path / "one.safetensors"))
    room = uploads_room.uploads()
    room.expire(time.time() + 3_600 * (room.limits.hours + 1))
    app.run()
    assert not app.exception and not known(app)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("model.safetensors", b"\x10\0\0\0\0\0\0\0{broken", "Expected"),
        ("config.json", b"{}", "file of weights"),
        ("weights.pt", b"no pickle at all", "PyTorch checkpoint"),
        ("folder.zip", b"PK\x03\x04 no archive", "zip archive"),
        ("*_[x](http://e.vil)<img>.safetensors", b"", "Expected"),
    ],
)
def test_what_is_no_checkpoint_gets_one_sentence_and_leaves_nothing(
    tmp_path: Path, own_uploads: Path, name: str, content: bytes, words: str
) -> None:
    app = opened()
    app.file_uploader[0].set_value([(name, content, "application/octet-stream")]).run()
    assert not app.exception and not known(app)
    (error,) = app.error
    assert words in error.value.replace("\\", "")
    assert "[x](http" not in error.value and "<img>" not in error.value
    assert not [path for path in own_uploads.rglob("*") if path.is_file()]
    assert app.file_uploader[0].value  # what is missing can be added
    next(b for b in app.button if b.label == "Clear these files").click().run()
    assert not app.error and not app.file_uploader[0].value


def test_what_was_missing_can_be_added(tmp_path: Path) -> None:
    config, weights, tokenizer = sorted(files.llama(tmp_path / "llama").iterdir())
    app = dropped(opened(), config, tokenizer)
    assert "file of weights" in app.error[0].value
    dropped(app, config, tokenizer, weights)
    assert not app.error and len(known(app)) == 1


def test_a_pickle_that_would_run_code_is_refused_and_runs_nothing(tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    app = dropped(opened(), files.hostile(tmp_path / "model.pt", mark))
    assert not app.exception and not known(app)
    assert "code from a file is never run" in app.error[0].value.replace("\\", "")
    assert not mark.exists()


@pytest.fixture
def allowed(monkeypatch: pytest.MonkeyPatch, own_uploads: Path) -> Callable[..., None]:
    """Changes limits of the server: `allowed(hub=True)`."""

    def change(**values: object) -> None:
        limits = replace(uploads_room.uploads().limits, **values)  # type: ignore[arg-type]
        monkeypatch.setattr(uploads_room, "uploads", lambda: Uploads(own_uploads, limits))

    return change


def test_by_default_nothing_of_the_server_or_the_hub_can_be_named() -> None:
    assert not opened().text_input


def test_a_folder_that_the_owner_opened_is_read_and_no_other(
    tmp_path: Path, allowed: Callable[..., None]
) -> None:
    inside = tmp_path / "open"
    inside.mkdir()
    files.llama(inside / "llama")
    outside = files.native_file(tmp_path / "secret.safetensors")
    allowed(folders=(inside,))
    app = opened()
    app.text_input(key="uploads_path").set_value(str(outside))
    app.button(key="uploads_open").click().run()
    assert "in one of the folders" in app.error[0].value and not known(app)
    app.text_input(key="uploads_path").set_value(str(inside / "llama"))
    app.button(key="uploads_open").click().run()
    assert not app.exception and not app.error
    assert known(app)[0].startswith("RoPE (llama-")


def test_a_model_of_the_hub_comes_at_a_revision_that_is_shown(
    tmp_path: Path, allowed: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, asked = files.llama(tmp_path / "llama"), list[tuple[str, str]]()

    def fetch(name: str, revision: str, into: Path, limits: object) -> tuple[Path, str]:
        asked.append((name, revision))
        return folder, "c0ffee" * 6

    monkeypatch.setattr(hub, "fetch", fetch)
    allowed(hub=True)
    app = opened()
    app.text_input(key="uploads_hub").set_value("someone/tiny")
    app.button(key="uploads_fetch").click().run()
    assert not app.exception and not app.error
    assert asked == [("someone/tiny", "main")]
    assert any("c0ffee" in c.value for c in app.caption)


def test_wrong_limits_are_a_sentence_on_every_page(
    monkeypatch: pytest.MonkeyPatch, own_uploads: Path
) -> None:
    sentence = "Expected a whole number for 'files' in limits.toml; got a word, so correct it."

    def wrong() -> Uploads:
        raise UsageError(sentence)

    monkeypatch.setattr(uploads_room, "uploads", wrong)
    app = opened()
    assert not app.exception and [e.value for e in app.error] == [sentence]
    gone_to(app, "compare", {"length": "64", "texts": "2"})
    assert not app.exception and sentence in [e.value for e in app.error]
    assert len(app.get("plotly_chart")) == 2


def test_ids_are_short_plain_and_named_after_the_file_or_the_family(tmp_path: Path) -> None:
    described = readers.describe(files.native_file(tmp_path / "model.safetensors"))
    sha256 = "1a2b3c" + "0" * 58
    for names, wanted in (
        (["model.safetensors"], "attention-atlas-1a2b3c"),
        (["Löwe & Sohn (v2).pt"], "l-we-sohn-v2-1a2b3c"),
        (["mine-00001-of-00002.safetensors", "config.json"], "mine-1a2b3c"),
        (["x" * 150 + ".zip"], "x" * uploads_known.LONGEST + "-1a2b3c"),
        (["модель.bin"], "attention-atlas-1a2b3c"),
    ):
        assert uploads_known.short(tuple(names), sha256, described) == wanted


def test_markdown_in_names_is_shown_and_means_nothing() -> None:
    shown = checkpoint_words.plain("**x** [a](b) <i> $y$ :red[z]\n# t `c`")
    assert re.sub(r"\\(.)", r"\1", shown) == "**x** [a](b) <i> $y$ :red[z] # t `c`"
    assert not re.search(r"(?<!\\)[*\[\]<>$:#`]", shown)


def test_facts_say_what_is_unknown() -> None:
    facts = dict(checkpoint_words.facts(offered.shipped()[0]["alibi"]))
    assert facts["Encoding"] == "ALiBi (exponent 8)" and facts["Trained length"] == "512 tokens"
    assert facts["A query sees"] == "the keys before it"


def test_weights_for_which_there_is_no_room_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    one = offered.shipped()[0]["nope"]
    device.models().clear()
    monkeypatch.setattr(loaded.devices, "free_bytes", lambda device: 1 << 20)
    with pytest.raises(AtlasError, match="GiB are free"):
        loaded.model(one)


def test_texts_begin_as_the_tokenizer_has_it_until_it_is_turned_off(tmp_path: Path) -> None:
    folder = files.llama(tmp_path / "llama")
    made = Tokenizer.from_file(str(folder / "tokenizer.json"))
    (bos, number) = min(made.get_vocab().items(), key=lambda item: item[1])
    made.post_processor = TemplateProcessing(single=[bos, "$A"], special_tokens=[(bos, number)])
    made.save(str(folder / "tokenizer.json"))
    app = dropped(opened(), *sorted(folder.iterdir()))
    assert not app.exception and not app.error
    (id,) = uploads(app)
    asked = {"v": "1", "a": f"{id}.1.1", "b": "rope.2.1", "text": "random", "length": "64"}
    gone_to(app, "compare", asked)
    assert not app.exception and not app.error
    assert any(f"Texts begin with {bos}" in c.value for c in (*app.caption, *app.info))
    visit(app, "checkpoints").run()
    app.selectbox[[s.label for s in app.selectbox].index("Special tokens")].set_value("off")
    next(b for b in app.button if b.label == "Use these values").click().run()
    assert not app.exception and not app.error
    (one,) = uploads(app).values()
    assert one.id == id and not one.special_tokens
    gone_to(app, "compare", asked)
    assert not app.exception and not app.error
    assert any("without the special tokens" in c.value for c in (*app.caption, *app.info))


def owner(app: AppTest) -> str:
    return str(app.session_state["uploads_owner"])


def uploads(app: AppTest) -> dict[str, Checkpoint]:
    """What the session of `app` sees beside the shipped checkpoints."""
    found = {}
    state = {
        n: app.session_state[n]
        for n in ("uploads_owner", "uploads_answers")
        if n in app.session_state
    }
    name, given = state.get("uploads_owner", ""), state.get("uploads_answers", {})
    for upload in uploads_room.uploads().list(name):
        inside = uploads_known.admitted(upload.admitted)
        if inside is not None:
            rest, special = catalogue.asked_of_texts(dict(given.get(upload.id, ())))
            description = readers.describe(uploads_known.place(inside), rest)
            id = uploads_known.short(upload.files, upload.id, description)
            found[id] = catalogue.Checkpoint(id, description, special)
    return found
