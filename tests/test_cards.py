"""Model cards: every number comes from the data, and the shipped cards say what theirs say now."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import torch

from viz_core import cards, catalogue, probes, results
from viz_core.__main__ import main
from viz_core.catalogue import Checkpoint
from viz_core.encodings import all_encodings
from viz_core.model import ModelConfig, Transformer
from viz_core.readers import native
from viz_core.training import corpus, sources

RECIPE = dict(
    name="shipped", layers=1, heads=2, width=12, mlp=3, vocabulary=61, length=20, passes=7, batch=19
)
RECIPE |= dict(rate=0.0375, warmup=1131, decay=0.123, clip=1.75, seed=987, validate_every=5)
FACTS: dict[str, Any] = {
    "recipe": RECIPE | {"precision": "bfloat16"},
    "recipe_sha256": "a1" * 32,
    "corpus_sha256": corpus.CORPUS_SHA256,
    "tokenizer_sha256": "b2" * 32,
    "tokens_seen": 4_567_890,
    "validation_loss": 3.2109,
    "validation_tokens": 65_432,
    "loss_by_position": {"1-15": 5.4321, "16-19": 4.3212},
    "loss_by_position_windows": 1_357,
}
LOG = [{"step": "9", "tokens": "1", "seconds": "2"}, {"step": "2468", "seconds": "8642.4"}]


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Checkpoint:
    return saved(tmp_path_factory.mktemp("cards") / "alibi", "alibi")


def saved(folder: Path, encoding: str) -> Checkpoint:
    folder.mkdir(parents=True)
    torch.manual_seed(0)
    path = folder / "model.safetensors"
    native.save(Transformer(ModelConfig(encoding, 1, 2, 12, 61, 20, 3)), path, FACTS)
    return catalogue.find(str(path))


def losses(checkpoint: Checkpoint, **changed: Any) -> pd.DataFrame:
    row = dict(checkpoint="any", setting=float("nan"), protocol="non-overlapping", text="heldout")
    row |= dict(length=20, source="austen", loss=4.5678, loss_low=4.4321, loss_high=4.6789)
    row |= dict(perplexity=96.331, tokens=77_777.0, documents=42, note="", command="the command")
    return pd.DataFrame([row | {"checkpoint_sha256": checkpoint.sha256} | changed])


def scores(checkpoint: Checkpoint, **changed: Any) -> pd.DataFrame:
    row = dict(checkpoint="any", previous_token=0.8765, previous_token_layer=11)
    row |= dict(previous_token_head=13, previous_token_baseline=0.0135, induction=0.6543)
    row |= dict(induction_layer=17, induction_head=23, induction_baseline=0.0246, passed=True)
    row |= dict(command="the probing", checkpoint_sha256=checkpoint.sha256)
    return pd.DataFrame([row | changed])


def whole(checkpoint: Checkpoint) -> str:
    return cards.card(checkpoint, LOG, losses(checkpoint), scores(checkpoint))


def test_a_card_says_what_the_data_say(one: Checkpoint) -> None:
    text = whole(one)
    assert text == whole(one)
    assert text.startswith("---\nlicense: apache-2.0\nlanguage:\n- en\ntags:\n- attention\n")
    card = all_encodings()["alibi"]
    shown = [card.latex, card.summary, card.beyond[1:], card.paper.url, one.sha256, cards.MARK]
    shown += [
        "| parameters, the encoding's | 2,208, 0 |",
        "exponent 8",
        "| width, width of the MLP | 12, 36 |",
    ]
    shown += ["map alibi --length 40", 'find("alibi")', *cards.WORKS.values()]
    shown += ["4,567,890", "7 |", "19 sequences of 20", "0.0375", "1,131", "0.123", "1.75", "987"]
    shown += ["bfloat16", "2,468", "8,642 s", "a1" * 32, "b2" * 32, corpus.CORPUS_SHA256]
    shown += ["**3.211**, over 65,432", "| 1-15 | 5.432 |\n| 16-19 | 4.321 |", "1,357 windows"]
    shown += [
        "| held-out documents | Jane Austen, novels | 4.568 | 4.432 | 4.679 | 96.33 | 77,777 "
    ]
    shown += [
        "| previous token | 0.876 | 0.013 | 11 | 13 |",
        "| induction | 0.654 | 0.025 | 17 | 23",
    ]
    shown += ["It passes the gate", "`the command`", "`the probing`", "CITATION.cff"]
    for part in shown:
        assert part in text, part
    assert sum(p.numel() for p in one.load().parameters()) == 2_208


def with_facts(checkpoint: Checkpoint, facts: dict[str, Any]) -> Checkpoint:
    return replace(checkpoint, description=replace(checkpoint.description, facts=facts))


def leaves(value: Any, *path: str) -> Iterator[tuple[str, ...]]:
    if isinstance(value, dict):
        for name in value:
            yield from leaves(value[name], *path, name)
    else:
        yield path


UNSHOWN = {"name", "layers", "heads", "width", "mlp", "vocabulary", "validate_every"}  # of a recipe


@pytest.mark.parametrize(
    "path", [p for p in leaves(FACTS) if p[0] != "recipe" or p[1] not in UNSHOWN], ids="/".join
)
def test_another_fact_is_another_card(one: Checkpoint, path: tuple[str, ...]) -> None:
    def change(value: Any, path: tuple[str, ...]) -> Any:
        if path:
            return {**value, path[0]: change(value[path[0]], path[1:])}
        return value + "c3" if isinstance(value, str) else value * 3 + 1

    assert whole(with_facts(one, change(FACTS, path))) != whole(one)


@pytest.mark.parametrize("encoding", all_encodings())
def test_each_encoding_has_its_own_words_and_a_length_that_it_can_open(
    encoding: str, tmp_path: Path
) -> None:
    checkpoint = saved(tmp_path / encoding, encoding)
    card, text = all_encodings()[encoding], cards.card(checkpoint)
    for words in (card.name, card.latex, card.summary, card.beyond[1:], card.paper.title):
        assert words in text
    length = re.search(r"--length (\d+)", text)
    assert length and int(length[1]) == (20 if encoding == "learned" else 40)


def test_no_number_is_typed_into_the_text() -> None:
    tree = ast.parse(inspect.getsource(cards))
    spared = {id(n) for f in ast.walk(tree) if isinstance(f, ast.FormattedValue) and f.format_spec
              for n in ast.walk(f.format_spec)}  # fmt: skip
    words = " ".join(
        n.value
        for n in ast.walk(tree)
        if isinstance(n, ast.Constant) and isinstance(n.value, str) and id(n) not in spared
    )
    for known in ("Apache-2.0", "apache-2.0", "sha256", "utf-8", "95 %"):
        assert known in words, known
        words = words.replace(known, "")
    assert re.findall(r"\d+", words) == []


def test_without_tables_and_log_their_parts_are_left_out(one: Checkpoint) -> None:
    bare = cards.card(with_facts(one, {}))
    for title in ("## Losses", "## What it was trained on", "## Has it", "language", "None", "nan"):
        assert title not in bare, title
    assert "## How to open it" in bare and "## What it is not for" in bare
    known = cards.card(one)
    assert "## Losses" in known and "By source" not in known and "training.csv" not in known
    assert "## Has it" not in known
    empty = pd.DataFrame()
    assert cards.card(one, [], empty, empty) == known


@pytest.mark.parametrize(
    "changed",
    [
        {"protocol": "fixed-targets"},
        {"setting": "exponent:6"},
        {"length": 40},
        {"loss": float("nan")},
        {"checkpoint_sha256": "of other weights"},
    ],
    ids=str,
)
def test_only_losses_of_this_file_as_trained_count(
    one: Checkpoint, changed: dict[str, Any]
) -> None:
    both = pd.concat([losses(one, **changed, source="mhcc", perplexity=12.34), losses(one)])
    assert cards.card(one, LOG, both) == cards.card(one, LOG, losses(one))
    assert "By source" not in cards.card(one, LOG, losses(one, **changed))


def test_a_gate_that_is_not_passed_or_not_known(one: Checkpoint) -> None:
    failed = cards.card(one, scores=scores(one, passed="False"))
    assert f"It does not pass the gate: a score of at least {probes.TIMES} times" in failed
    assert "the gate" not in cards.card(one, scores=scores(one, passed=""))
    assert "## Has it" not in cards.card(one, scores=scores(one, checkpoint_sha256="other"))


def test_another_text_is_not_said_to_be_ours(one: Checkpoint) -> None:
    other = with_facts(one, FACTS | {"corpus_sha256": "c3" * 32})
    text = cards.card(other, LOG, shipped=False)
    assert "c3" * 32 in text
    for words in ("public domain", "Moby-Dick", "language:", "license:", "Apache", "../"):
        assert words not in text, words
    assert "map PATH/model.safetensors --length" in text and str(other.path.parent) not in text


def test_every_source_of_the_text_has_a_name() -> None:
    known = set(re.findall(r'RawText\("([\w-]+)"', inspect.getsource(sources.raw_texts)))
    assert known == set(cards.WORKS)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two shipped checkpoints in a folder of their own, without tables."""
    for name in ("alibi", "rope"):
        saved(tmp_path / name, name)
    (tmp_path / "rope/training.csv").write_text("step,seconds\n2468,8642\n", "utf-8")
    shipped, find = catalogue.shipped, catalogue.find
    monkeypatch.setattr(catalogue, "SHIPPED", tmp_path)
    monkeypatch.setattr(catalogue, "shipped", lambda: shipped(tmp_path))
    monkeypatch.setattr(catalogue, "find", lambda name: find(name, tmp_path))
    monkeypatch.setattr(results, "shipped", lambda kind: pd.DataFrame())
    return tmp_path


def test_the_command_writes_and_checks(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = [folder / name / "README.md" for name in ("alibi", "rope")]
    assert main(["card", "--check"]) == 1
    assert not paths[0].exists()
    error = capsys.readouterr().err
    assert "alibi/README.md" in error and "missing" in error and error.count("\n") == 1
    assert main(["card"]) == 0
    assert capsys.readouterr().out == f"{paths[0]}\n{paths[1]}\n"
    assert "map alibi --length 40" in paths[0].read_text("utf-8")
    assert "2,468" in paths[1].read_text("utf-8")
    assert main(["card", "--check"]) == 0 == main(["card", "rope", "--check"])
    (folder / "rope/training.csv").write_text("step,seconds\n2469,8642\n", "utf-8")
    assert main(["card", "alibi", "--check"]) == 0
    assert main(["card", "--check"]) == 1
    assert "rope/README.md" in capsys.readouterr().err
    assert "2,468" in paths[1].read_text("utf-8")
    assert main(["card", "rope"]) == 0 == main(["card", "--check"])


def test_no_other_file_is_written_over(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = folder / "alibi/README.md"
    own.write_text("# Mine\n", "utf-8")
    assert main(["card", "alibi"]) == 1
    assert own.read_text("utf-8") == "# Mine\n" and "move it away" in capsys.readouterr().err
    (folder / "rope/model.safetensors").rename(folder / "rope/mine.safetensors")
    assert main(["card", str(folder / "rope/mine.safetensors")]) == 2
    assert "mine.safetensors" in capsys.readouterr().err
    (folder / "rope/training.csv").write_bytes(b"\xff")
    assert not (folder / "rope/README.md").exists()


def test_a_log_that_is_no_text_is_an_error_of_one_line(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "rope/training.csv").write_bytes(b"\xff")
    assert main(["card", "rope"]) == 1
    assert "training.csv" in capsys.readouterr().err


@pytest.mark.parametrize("name", sorted(catalogue.scan()[0]))
def test_shipped_cards_are_up_to_date(name: str) -> None:
    checkpoint = catalogue.find(name)
    path = checkpoint.path.with_name("README.md")
    assert path.is_file(), "run `python -m viz_core card`"
    text = path.read_text("utf-8")
    assert text == cards.current(checkpoint), "run `python -m viz_core card`"
    for place in ("/tmp", "/home", "/root", "/work", "/Users", str(Path.home())):
        assert place not in text
    for target in re.findall(r"\]\((?!http)([^)]+)\)", text):
        assert (path.parent / target).exists(), target
