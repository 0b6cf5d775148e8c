"""`attribute`: its four answers, as JSON, as files and on the screen, and what it refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer

from viz_core import catalogue, results, texts, variants
from viz_core.attribution import METHODS, REPLACEMENTS, Target, heads, pattern, reach, tokens
from viz_core.commands import _shared
from viz_core.model import ModelConfig, Transformer
from viz_core.readers import native
from viz_core.training import corpus, downloads

Cli = Callable[..., tuple[int, str, str]]
ROW = [
    *("checkpoint", "encoding", "trained_length", "setting", "text", "length"),
    *("place", "first", "last", "loss", "difference", "difference_low", "difference_high"),
    *("texts", "note", "checkpoint_sha256"),
]
MANUAL = ("--text", "python-docs")


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("tiny")
    paths = {}
    config = ModelConfig("nope", 2, 2, 16, 4096, 64, 1)
    for name in ("alibi", "rope", "learned"):
        torch.manual_seed(0)
        model = Transformer(replace(config, encoding=name))
        with torch.no_grad():
            model.embedding.weight.mul_(20)
        paths[name] = folder / f"{name}.safetensors"
        native.save(model, paths[name], {})
    return paths


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer.from_file(str(catalogue.TOKENIZER))


@pytest.fixture(autouse=True)
def no_corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATLAS_CORPUS", str(tmp_path / "nowhere"))


def refused(result: tuple[int, str, str], *words: str) -> None:
    """Wrong usage: nothing on standard output, one line that says why on standard error."""
    assert result[:2] == (2, "")
    assert result[2].startswith("error: ")
    assert result[2].count("\n") == 1
    for word in words:
        assert word in result[2]


@pytest.mark.parametrize("method", METHODS)
def test_to_tokens_gives_one_number_per_token_its_delta_and_its_seconds(
    method: str, cli: Cli, tiny: dict[str, Path], tokenizer: Tokenizer
) -> None:
    ask = ("attribute", tiny["rope"], "--length", 24, "--target", 17, "--method", method)
    status, out, _ = cli(*ask, "--json")
    assert status == 0
    found = json.loads(out)
    ids = texts.tokens("python-docs", 24, tokenizer).ids
    model = catalogue.find(str(tiny["rope"])).load()
    expected = tokens.attribute(model, ids, Target.following(ids, [17]), method)
    np.testing.assert_allclose(found["attributions"], expected.value, rtol=1e-3, atol=1e-6)
    assert found["pieces"] == texts.pieces(ids, tokenizer)
    assert found["delta"] == pytest.approx(expected.delta, abs=1e-5)
    assert found["output"] == pytest.approx(expected.output, rel=1e-5)
    assert found["baseline"] == pytest.approx(expected.baseline, rel=1e-5)
    assert found["seconds"] > 0
    assert (found["method"], found["to"], found["tokens"]) == (method, "tokens", 24)
    assert found["steps"] == (50 if method == "integrated-gradients" else None)
    wanted = {"queries": [17], "tokens": [ids[18]], "kind": "log-probability", "others": []}
    assert found["target"] == wanted


def test_what_is_explained_can_be_chosen(
    cli: Cli, tiny: dict[str, Path], tokenizer: Tokenizer
) -> None:
    ids = texts.tokens("python-docs", 20, tokenizer).ids
    the, of = (tokenizer.encode(word).ids[0] for word in (" the", " of"))
    cases: dict[tuple[Any, ...], dict[str, Any]] = {
        (): {"queries": [18], "tokens": [ids[19]], "kind": "log-probability", "others": []},
        ("--token", " the"): {"queries": [19], "tokens": [the]},
        ("--targets", "3:6", "--kind", "logit"): {
            "queries": [3, 4, 5],
            "tokens": ids[4:7],
            "kind": "logit",
        },
        ("--target", 4, "--token", " of", "--against", " the"): {
            "queries": [4],
            "tokens": [of],
            "kind": "difference",
            "others": [the],
        },
        ("--targets", "2:4", "--against", " the"): {"tokens": ids[3:5], "others": [the, the]},
    }
    for chosen, expected in cases.items():
        ask = ("attribute", tiny["alibi"], "--length", 20, "--steps", 2, *chosen, "--json")
        target = json.loads(cli(*ask)[1])["target"]
        assert {name: target[name] for name in expected} == expected


def test_at_the_last_token_the_likeliest_one_is_asked_about(
    cli: Cli, tiny: dict[str, Path], tokenizer: Tokenizer
) -> None:
    ask = ("attribute", tiny["alibi"], "--length", 20, "--steps", 2, "--target", 19, "--json")
    target = json.loads(cli(*ask)[1])["target"]
    ids = texts.tokens("python-docs", 20, tokenizer).ids
    model = catalogue.find(str(tiny["alibi"])).load()
    logits = model.logits(model.stream(torch.tensor([ids])))
    assert (target["queries"], target["tokens"]) == ([19], [int(logits[0, -1].argmax())])


def test_tokens_as_a_table_and_on_the_screen(
    cli: Cli, tiny: dict[str, Path], tmp_path: Path
) -> None:
    out = tmp_path / "tokens.csv"
    ask = ("attribute", tiny["alibi"], "--length", 40, "--target", 30, "--steps", 1)
    status, shown, err = cli(*ask, "--out", out)
    assert status == 0
    found = json.loads(cli(*ask, "--json")[1])
    rows = results.read(out).rows
    assert list(rows["position"]) == list(range(40))
    np.testing.assert_allclose(rows["attribution"], found["attributions"])
    lines = shown.splitlines()
    assert lines[0].split() == ["position", "distance", "token", "attribution"]
    first = lines[1].split()
    largest = int(np.abs(found["attributions"]).argmax())
    assert (int(first[0]), int(first[1])) == (largest, 30 - largest)
    assert "Sundararajan" in shown
    assert err == f"note: {found['warning']}\n"
    assert "1 steps are too few" in err


def test_to_the_pattern(
    cli: Cli, tiny: dict[str, Path], tmp_path: Path, tokenizer: Tokenizer
) -> None:
    out = tmp_path / "pattern.npz"
    ask = ("attribute", tiny["rope"], "--to", "pattern", "--length", 16, "--steps", 5)
    status, shown, _ = cli(*ask, "--layer", 2, "--json", "--out", out)
    assert status == 0
    found = json.loads(shown)
    ids = texts.tokens("python-docs", 16, tokenizer).ids
    model = catalogue.find(str(tiny["rope"])).load()
    expected = pattern.attribute(model, ids, Target.following(ids, [14]), [1], 5)
    with np.load(out) as file:
        np.testing.assert_allclose(file["value"], expected.value, rtol=1e-3, atol=1e-6)
        np.testing.assert_allclose(file["by_distance"], expected.by_distance, rtol=1e-3, atol=1e-6)
        np.testing.assert_allclose(file["attention"], expected.attention, rtol=1e-5)
        assert file["layers"].tolist() == found["layers"] == [2]
        assert json.loads(str(file["about"]))["without"] == found["without"]
    assert [(c["layer"], c["head"]) for c in found["curves"]] == [(2, 1), (2, 2)]
    for head, curve in enumerate(found["curves"]):
        by_distance = expected.by_distance[0, head]
        np.testing.assert_allclose(curve["attribution"], by_distance, rtol=1e-3, atol=1e-6)
        np.testing.assert_allclose(curve["attention"], expected.attention[0, head], rtol=1e-5)
    np.testing.assert_allclose(found["delta"], expected.delta, atol=1e-5)
    assert found["without"] == pytest.approx(expected.without)
    lines = cli(*ask)[1].splitlines()
    assert [line.split()[:2] for line in lines[1:5]] == [
        ["1", "1"],
        ["1", "2"],
        ["2", "1"],
        ["2", "2"],
    ]


def test_to_heads_gives_a_row_per_head_replacement_and_place(
    cli: Cli, tiny: dict[str, Path], tmp_path: Path, tokenizer: Tokenizer
) -> None:
    out = tmp_path / "heads.csv"
    ask = ("attribute", tiny["rope"], tiny["learned"], "--to", "heads", "--length", "100,60")
    more = (*MANUAL, "--texts", 2, "--scaling", "none")
    status, shown, _ = cli(*ask, *more, "--json", "--out", out)
    assert status == 0
    document = json.loads(shown)
    rows = document["rows"]
    assert list(rows[0]) == [*ROW[:6], "layer", "head", "replacement", *ROW[6:]]
    passages = texts.passages("python-docs", 101, 2, tokenizer)
    assert document["text_sha256"]["rope"] == [p.sha256 for p in passages]
    model = catalogue.find(str(tiny["rope"])).load()
    found = heads.measure(model, [p.ids for p in passages])
    long = [r for r in rows if (r["checkpoint"], r["length"]) == ("rope", 100)]
    assert len(long) == len(REPLACEMENTS) * (2 * 2 + 1) * 3
    each = iter(long)
    for r, name in enumerate(REPLACEMENTS):
        for layer, head in ((1, 1), (1, 2), (2, 1), (2, 2), ("all", "all")):
            for p, place in enumerate(("near", "far", "beyond")):
                row = next(each)
                said = (row["replacement"], row["layer"], row["head"], row["place"])
                assert said == (name, layer, head, place)
                losses = found.together[:, r, p]
                if layer != "all":
                    losses = found.loss[:, r, layer - 1, head - 1, p]
                assert row["loss"] == pytest.approx(losses.mean(), rel=1e-5)
                gap = (losses - found.plain[:, p]).mean()
                assert row["difference"] == pytest.approx(gap, abs=1e-5)
                assert row["difference_low"] <= row["difference"] <= row["difference_high"]
    assert [(r["first"], r["last"]) for r in long[:3]] == [(1, 8), (33, 64), (65, 100)]
    past = [r for r in rows if (r["checkpoint"], r["length"]) == ("learned", 100)]
    assert [(r["loss"], r["note"]) for r in past] == [
        (None, "undefined past its 64 trained positions")
    ]
    table = results.read(out)
    assert table.command == document["command"]
    assert "--json" not in table.command and str(out) not in table.command
    assert len(table.rows) == len(rows)


def test_to_distance_gives_a_row_per_reach_with_and_without_the_first_keys(
    cli: Cli, tiny: dict[str, Path], tokenizer: Tokenizer
) -> None:
    ask = ("attribute", tiny["rope"], "--to", "distance", "--length", 90, *MANUAL, "--texts", 2)
    document = json.loads(cli(*ask, "--scaling", "ntk:2", "--json")[1])
    rows = document["rows"]
    assert list(rows[0]) == [*ROW[:6], "reach", "kept", *ROW[6:]]
    model = variants.vary(catalogue.find(str(tiny["rope"])).load(), "ntk:2", 90)
    passages = [p.ids for p in texts.passages("python-docs", 91, 2, tokenizer)]
    each = iter(rows)
    for kept in (0, 4):
        found = reach.measure(model, passages, kept=kept)
        for r, distance in enumerate((1, 2, 4, 8, 16, 32, 64, 90)):
            for p, place in enumerate(("near", "far", "beyond")):
                row = next(each)
                assert (row["reach"], row["kept"], row["place"]) == (distance, kept, place)
                assert row["loss"] == pytest.approx(found.loss[:, r, p].mean(), rel=1e-5)
                gap = (found.loss[:, r, p] - found.loss[:, -1, p]).mean()
                assert row["difference"] == pytest.approx(gap, abs=1e-5)
    assert next(each, None) is None
    assert {(r["setting"], r["texts"], r["text"]) for r in rows} == {("ntk:2", 2, "python-docs")}
    shown = cli(*ask)[1].splitlines()
    assert shown[0].split()[:4] == ["checkpoint", "length", "reach", "kept"]
    assert len(shown) == 1 + len(rows)


def test_tables_are_of_held_out_text_which_is_fetched_once(
    cli: Cli, tiny: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    story = "It was a day like any other, and nobody said a word about it. " * 20
    document = dict(source="sotu", licence="public-domain", split="val")
    lines = [json.dumps({**document, "id": f"sotu/{n}", "text": f"{n} {story}"}) for n in range(3)]

    def build(packages: Path, out: Path) -> None:
        out.with_name("heldout.jsonl").write_text("\n".join(lines), encoding="utf-8")

    monkeypatch.setenv("ATLAS_CORPUS", str(tmp_path))
    monkeypatch.setattr(downloads, "fetch", lambda folder, progress: folder)
    monkeypatch.setattr(corpus, "build", build)
    ask = ("attribute", tiny["alibi"], "--to", "distance", "--length", 20, "--texts", 2, "--json")
    for fetched in (True, False):
        _, out, err = cli(*ask)
        assert {(r["text"], r["texts"]) for r in json.loads(out)["rows"]} == {("heldout", 2)}
        assert ("building" in err) == fetched


def test_an_own_text_is_one_text(cli: Cli, tiny: dict[str, Path], tmp_path: Path) -> None:
    own = tmp_path / "own.txt"
    own.write_text("The same words, and then some more of them. " * 20, encoding="utf-8")
    ask = ("attribute", tiny["alibi"], "--length", 40, "--text-file", own)
    assert json.loads(cli(*ask, "--steps", 1, "--json")[1])["text"] == str(own)
    rows = json.loads(cli(*ask, "--to", "distance", "--json")[1])["rows"]
    assert {(r["texts"], r["difference_low"]) for r in rows} == {(1, None)}
    refused(cli(*ask, "--to", "heads", "--texts", 3), "--texts")
    own.write_text("one two three", encoding="utf-8")
    refused(cli(*ask, "--to", "heads"), "Expected texts of more than 40 tokens")
    status, out, err = cli(*ask, "--target", 30)
    assert (status, out) == (2, "")
    assert "fewer than 40" in err.splitlines()[0]  # the note that comes before
    assert "Expected queries from 0 to" in err.splitlines()[1]


def test_what_is_wrong_is_refused_before_any_work(
    cli: Cli, tiny: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module, name in ((tokens, "attribute"), (pattern, "attribute"), (heads, "measure")):
        monkeypatch.setattr(module, name, None)
    ask = ("attribute", tiny["learned"], "--length")
    refused(cli(*ask, 30, "--to", "pattern", "--method", "occlusion"), "--method with --to tokens")
    refused(cli(*ask, 30, "--to", "heads", "--target", 3), "--to tokens or --to pattern")
    refused(cli(*ask, 30, "--method", "occlusion", "--steps", 9), "--steps", "occlusion has none")
    refused(cli(*ask, 30, "--layer", 1), "--layer with --to pattern")
    refused(cli(*ask, 30, "--texts", 2), "--texts with --to heads or --to distance")
    refused(cli(*ask, 30, "--to", "pattern", "--layer", 3), "--layer from 1 to 2")
    refused(cli(*ask, "30,40"), "one length with --to tokens")
    refused(cli("attribute", tiny["rope"], *ask[1:], 30), "one checkpoint with --to tokens")
    refused(cli(*ask, 65), "undefined past its 64")
    refused(cli(*ask, 30, "--target", 30), "queries from 0 to 28", "got 30 to 30")
    refused(cli(*ask, 30, "--targets", "4:4"), "queries from 0 to 28")
    refused(cli(*ask, 30, "--targets", "4:31", "--token", " the"), "queries from 0 to 29")
    refused(cli(*ask, 30, "--token", "extraordinary"), "one token", "ordin")
    refused(cli(*ask, 30, "--against", ""), "nothing")
    refused(cli(*ask, 30, "--scaling", "ntk:2"), "Learned")
    refused(cli(*ask, 30, "--to", "heads", "--scaling", "ntk:2", *MANUAL), "Learned")
    refused(cli(*ask, 30, "--text", "pasted"), "--text-file")
    refused(cli(*ask, 30, "--to", "heads", "--text", "pasted"), "--text-file")
    refused(cli(*ask, 30, "--out", tmp_path / "no/x.csv"), "--out")
    refused(cli("attribute", tiny["rope"], "--length", 10**12, "--to", "heads", *MANUAL), "at most")
    refused(cli("attribute", "nix", "--length", 30), "'nix'")
    for wrong in (
        ask[:2],
        (*ask, 30, "--method", "shapley"),
        (*ask, 30, "--kind", "logit", "--against", " the"),
        (*ask, 30, "--target", 3, "--targets", "3:5"),
    ):
        assert cli(*wrong)[:2] == (2, "")


@pytest.mark.parametrize("to", ["tokens", "pattern", "heads", "distance"])
def test_stopping_is_one_line_and_leaves_no_file(
    to: str, cli: Cli, tiny: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    for module, name in ((tokens, "attribute"), (pattern, "attribute")):
        monkeypatch.setattr(module, name, stopped)
    for module in (heads, reach):
        monkeypatch.setattr(module, "measure", stopped)
    out = tmp_path / "x"
    status, shown, err = cli(
        "attribute", tiny["rope"], "--to", to, "--length", 20, *MANUAL, "--out", out
    )
    assert (status, shown, err) == (130, "", "error: Stopped before the end.\n")
    assert not out.exists()


def test_the_command_stands_in_the_table(cli: Cli, tiny: dict[str, Path], tmp_path: Path) -> None:
    out = tmp_path / "reach.csv"
    ask = ("attribute", tiny["alibi"], "--to", "distance", "--length", 10, *MANUAL, "--texts", 1)
    assert cli(*ask, "--out", out) == (0, "", "")
    assert results.read(out).command == _shared.command_line([str(a) for a in ask])
