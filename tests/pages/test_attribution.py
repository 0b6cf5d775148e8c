"""Attribution without a browser: computed on short texts, with made-up tables of losses."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from pages._shared import keeping, loaded, offered
from pages._shared.shelf import Shelf
from pages.attribution import exports
from pages.attribution import question as attribution_question
from pages.attribution import results as attribution_results
from pages.attribution.question import Question
from pages.attribution.state import AttributionState
from tests.visiting import visit
from viz_core import results
from viz_core.attribution import (
    METHODS,
    REPLACEMENTS,
    HeadImportance,
    PatternAttribution,
    Reach,
    TokenAttribution,
    tokens,
)
from viz_core.catalogue import Checkpoint
from viz_core.figures.spec import FigureSpec
from viz_core.progress import ignore
from viz_core.store import Entry, Store

ROUTER = str(Path(__file__).parents[2] / "pages" / "_router.py")
SHORT = {"length": "64", "steps": "10"}
ENCODINGS = ("alibi", "rope", "learned")
PLACES = {"near": (1, 64), "far": (257, 512), "beyond": (513, 1024)}


def rows(kind: str) -> Iterator[dict[str, object]]:
    """Made-up losses: heads are worth 0.01 nats a number, cuts 1 nat over the reach."""
    for name, length, place in product(ENCODINGS, (512, 1024), PLACES):
        if place == "beyond" and length == 512:
            continue
        about = {"checkpoint": name, "encoding": name, "trained_length": 512, "setting": ""}
        about |= {"text": "heldout", "length": length, "texts": 8, "note": ""}
        about |= {"checkpoint_sha256": "0" * 64}
        if name == "learned" and length == 1024:
            if place == "near":
                yield about | {"note": "undefined past its 512 trained positions"}
            continue
        first, last = PLACES[place]
        about |= {"place": place, "first": first, "last": last, "loss": 4.0}

        def added(value: float, about: dict[str, object] = about) -> dict[str, object]:
            ends = {"difference_low": value - 0.015, "difference_high": value + 0.015}
            return {**about, "difference": value, **ends}

        if kind == "heads":
            for r, layer, head in product(REPLACEMENTS, range(1, 5), range(1, 9)):
                yield added(0.01 * head) | {"layer": layer, "head": head, "replacement": r}
            for r in REPLACEMENTS:
                yield added(1.5) | {"layer": "all", "head": "all", "replacement": r}
        else:
            for kept, reach in product((0, 4), (1, 8, 64, length)):
                yield added((length > reach) / reach) | {"reach": reach, "kept": kept}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of made-up tables, and nothing computed before."""
    for kind in ("heads", "distance"):
        results.write(tmp_path / f"attribution-{kind}.csv", f"made up {kind}", [*rows(kind)])
    monkeypatch.setattr(results, "FOLDER", tmp_path)
    kept = Store(tmp_path / "store", 1 << 28)
    monkeypatch.setattr(keeping, "store", lambda: kept)
    monkeypatch.setattr(attribution_results, "shelf", Shelf(1 << 28))
    return tmp_path


def opened(**query: str) -> AppTest:
    app = AppTest.from_file(ROUTER, default_timeout=300)
    visit(app, "attribution")
    for name, value in query.items():
        app.query_params[name] = value
    return app.run()


def titles(app: AppTest) -> list[str]:
    specs = [json.loads(c.proto.spec) for c in app.get("plotly_chart")]
    return [s["layout"]["title"]["text"] for s in specs]


def words(app: AppTest) -> str:
    parts = (app.markdown, app.caption, app.info, app.warning, app.error)
    return " ".join(e.value for part in parts for e in part)


def spoken(app: AppTest) -> str:
    """The text as it is read; "" where none is shown."""
    sent = [json.loads(c.proto.json) for c in app.get("bidi_component")]
    return "".join(item["text"] for one in sent for item in one.get("items", ()))


def test_first_view_has_text_maps_profiles_heads_and_reach() -> None:
    app = opened(**SHORT)
    assert not app.exception
    assert not app.error
    assert "Keeper" in spoken(app)
    shown = titles(app)
    assert shown[:2] == ["RoPE · layer 2, head 4", "Up to a distance"]
    assert shown[2:] == [*(f"RoPE, layer {n}" for n in range(1, 5)), "Loss against reach · far"]
    said = words(app)
    assert "the convergence delta, 10 steps" in said
    assert "10 passes with gradients over 63 tokens" in said and "GiB of memory" in said
    assert "8 texts of 512 tokens" in said
    assert "ALiBi +1.50; RoPE +1.50; Learned +1.50" in said
    assert not [b for b in app.button if b.key == "attrib_compute"]  # so small that none need ask
    assert app.query_params["length"] == "64"


def test_every_figure_can_leave_and_says_what_it_is_of(folder: Path) -> None:
    rope = offered.checkpoints()[0]["rope"]
    state = AttributionState(length=64, text="pasted", paste="Secret words, one after another.")
    asked = attribution_question.ask(state, rope, attribution_question.read(state, rope))
    spec = FigureSpec((), "", "")
    own = exports.of_question("attribution-map", spec, asked, state)
    assert own.facts["target"] == asked.public
    kinds = [(s.what, s.sha256) for s in own.sources()]
    assert kinds == [("checkpoint", rope.sha256), ("text", asked.passage.sha256)]
    assert "Secret" not in str(own.sources()) + str(own.facts)
    shipped = exports.of_tables("attribution-heads", "head-importance", spec, state)
    assert [s.name for s in shipped.sources()] == ["attribution-heads.csv"]
    assert (shipped.facts["replacement"], shipped.facts["targets"]) == ("zero", "far")
    app = opened(**SHORT)
    assert not app.exception
    assert sum(b.label == "Pin" for b in app.button) == 4


def test_larger_questions_wait_for_compute(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def to_tokens(question: Question, method: str, steps: int, progress: Any) -> TokenAttribution:
        asked.append((question.target.queries, method, steps))
        progress(0.5)
        return TokenAttribution(np.ones(512), 500.0, 0.0, method, None)

    def to_pattern(question: Question, layer: int, steps: int, progress: Any) -> PatternAttribution:
        asked.append((layer, steps))
        n = question.target.reads
        value, sums = np.zeros((1, 8, n, n), np.float32), np.zeros((1, 8, n))
        return PatternAttribution(value, sums, sums + 1, -1.0, np.zeros(1), (layer,), steps)

    monkeypatch.setattr(attribution_results, "to_tokens", to_tokens)
    monkeypatch.setattr(attribution_results, "to_pattern", to_pattern)
    app = opened(length="512", method="feature-ablation", checkpoint="alibi", text="random")
    assert not asked
    assert "Press Compute" in words(app) and "512 passes over 511 tokens" in words(app)
    app.button(key="attrib_compute").click().run()
    assert not app.exception
    assert asked == [((510,), "feature-ablation", 50), (1, 50)]
    assert "this method promises no sum" in words(app)
    assert "50 steps are too few" in words(app)  # of the layer, whose sum is 0 and not -1
    app.button_group(key="attrib_layer").set_value(3).run()
    assert asked[2:] == [((510,), "feature-ablation", 50), (3, 50)]  # a layer needs no new asking
    app.number_input(key="attrib_last").set_value(300).run()
    assert len(asked) == 4 and "Press Compute" in words(app)


def test_who_cancels_has_to_ask_again(monkeypatch: pytest.MonkeyPatch) -> None:
    state = AttributionState(length=64, steps=10)
    rope = offered.checkpoints()[0]["rope"]
    asked = attribution_question.ask(state, rope, attribution_question.read(state, rope))
    ended = (rope.sha256, asked.passage.sha256, asked.target, state.method, state.steps)
    app = AppTest.from_file(ROUTER, default_timeout=300)
    visit(app, "attribution")
    app.query_params.update(SHORT)
    app.session_state["attrib_cancelled"] = ended
    app.run()
    assert "Cancelled. Press Compute" in words(app)
    assert not spoken(app)
    app.button(key="attrib_compute").click().run()
    assert spoken(app)
    assert not app.exception


@pytest.mark.parametrize("method", METHODS)
def test_every_method_is_shown_and_says_how_far_its_sum_goes(method: str) -> None:
    app = opened(**SHORT, method=method, many="1", first="40", kind="logit")
    assert not app.exception and not app.error
    assert ("the convergence delta, 10" in words(app)) == (method == "integrated-gradients")
    assert "mean logit of the token that follows over queries 40 to 62" in words(app)


def test_too_few_steps_are_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    def off(*_: object) -> TokenAttribution:
        return TokenAttribution(np.full(64, 0.1), 1.0, 0.0, "integrated-gradients", 10)

    monkeypatch.setattr(attribution_results, "to_tokens", off)
    app = opened(**SHORT)
    assert "10 steps are too few to trust them. Choose more." in app.warning[0].value


def test_a_wrong_word_is_one_sentence_and_the_rest_stays() -> None:
    app = opened(**SHORT, token="extraordinary circumstances")
    assert not app.exception
    assert ["one token" in e.value for e in app.error] == [True]
    assert "Loss against reach · far" in titles(app)
    app.text_input(key="attrib_token").set_value("the").run()
    assert not app.error and "“·the”" in words(app)


def test_targets_replacement_and_kept_keys_choose_among_the_losses() -> None:
    app = opened(**SHORT, place="beyond", replacement="position", kept="1")
    assert not app.exception and not app.error
    said = words(app)
    assert "513 to 1,024 tokens before them (beyond)" in said
    assert "distance alone" in said and "first 4 keys kept" in said
    assert said.count("Learned: undefined past its 512 trained positions.") == 2
    assert "Learned +" not in said
    assert app.query_params["kept"] == "1"


def test_the_text_above_can_be_measured_too() -> None:
    app = opened(**SHORT, place="near")
    app.button(key="attrib_heads_own").click().run()
    app.button(key="attrib_reach_own").click().run()
    assert not app.exception and not app.error
    assert "RoPE, this text, layer 1" in titles(app)
    assert titles(app).count("Loss against reach · near") == 2
    assert "one text of 63 tokens" in words(app)
    app.button_group(key="attrib_place").set_value("far").run()
    assert [e.value.count("too few") for e in app.error] == [1, 1]


def test_tables_that_are_missing_are_sentences(folder: Path) -> None:
    for path in folder.glob("*.csv"):
        path.unlink()
    app = opened(**SHORT)
    assert not app.exception
    assert [e.value.count("make results") for e in app.error] == [1, 1]
    assert spoken(app)


def test_a_model_that_is_not_ours_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loaded, "model", lambda checkpoint: object())
    app = opened(**SHORT)
    assert not app.exception
    assert ["this project's own format for attribution" in e.value for e in app.error] == [True]


def test_names_that_are_not_there_are_sentences() -> None:
    app = opened(**SHORT, checkpoint="nix", text="heldout/x")
    assert not app.exception
    assert ["'nix'" in w.value or "'heldout/x'" in w.value for w in app.warning] == [True, True]


@pytest.fixture
def rope() -> Checkpoint:
    return offered.checkpoints()[0]["rope"]


def asked_of(rope: Checkpoint, **change: object) -> Question:
    state = AttributionState(length=64, text="random", **change)
    return attribution_question.ask(state, rope, attribution_question.read(state, rope))


def test_results_come_back_from_disk_as_they_were(
    rope: Checkpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = asked_of(rope)

    def each() -> list[Any]:
        return [
            attribution_results.to_tokens(asked, "integrated-gradients", 10, ignore),
            attribution_results.to_pattern(asked, 2, 10, ignore),
            attribution_results.importance(rope, asked.passage, ignore),
            attribution_results.by_reach(rope, asked.passage, 4, ignore),
        ]

    before = each()
    attribution_results.shelf.clear()
    monkeypatch.setattr(
        attribution_results, "model", None
    )  # nothing can be computed now, only read
    for old, new in zip(before, each(), strict=True):
        assert old is not new
        for field in fields(old):
            one, other = getattr(old, field.name), getattr(new, field.name)
            if isinstance(one, np.ndarray):
                np.testing.assert_array_equal(one, other)
                assert one.dtype == other.dtype
            else:
                assert one == other


def test_what_was_packed_can_be_read_without_the_model() -> None:
    found = Reach(np.ones((1, 2, 0)), (1, 2), (), 2, 4)
    assert attribution_results.unpacked(
        Reach, Entry(*attribution_results.packed(found))
    ).reaches == (1, 2)
    with pytest.raises(KeyError):
        attribution_results.unpacked(HeadImportance, Entry({}, {}))


def test_nothing_of_someones_own_text_goes_to_disk(rope: Checkpoint, folder: Path) -> None:
    asked = asked_of(rope)
    own = replace(asked, passage=replace(asked.passage, own=True))
    attribution_results.to_tokens(own, "gradient-x-activation", 10, ignore)
    assert not list(folder.glob("store/*/*"))
    attribution_results.shelf.clear()
    attribution_results.to_tokens(asked, "gradient-x-activation", 10, ignore)
    assert list(folder.glob("store/*/*.safetensors"))


def test_two_people_at_once_get_what_each_gets_alone(rope: Checkpoint) -> None:
    jobs = [(asked_of(rope, last=20 + 10 * i), method) for i in range(3) for method in METHODS]

    def run(job: tuple[Question, str]) -> np.ndarray:
        return attribution_results.to_tokens(job[0], job[1], 10, ignore).value

    model = attribution_results.model(rope)
    alone = [
        tokens.attribute(model, a.passage.ids, a.target, method, 10).value for a, method in jobs
    ]
    with ThreadPoolExecutor(2) as pool:
        for found, expected in zip(pool.map(run, jobs), alone, strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-7)


def test_cancelled_work_leaves_nothing_and_the_way_free(rope: Checkpoint, folder: Path) -> None:
    def stop(done: float) -> None:
        if done > 0.3:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        attribution_results.to_pattern(asked_of(rope), 1, 10, stop)
    assert not list(folder.glob("store/*/*"))
    assert attribution_results.to_pattern(asked_of(rope), 1, 1, ignore)
