"""Texts begin and end as a model's own tokenizer has it, wherever they are read, and that is said.

The reference is what transformers makes of the same folder.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import AutoTokenizer

from tests.conftest import Cli
from tests.readers.huggingface import gguf_files
from tests.readers.huggingface.families import Saved, eager, ids, save
from viz_core import attention, catalogue, perplexity, probes, texts
from viz_core.catalogue import Checkpoint
from viz_core.errors import LengthError, UnknownName
from viz_core.perplexity.protocols import FIXED, PIECES, POSITIONS, SLIDING
from viz_core.trace import trace

PLAIN = {"<pad>": 0, "<bos>": 1, "<eos>": 2}
WORDS = [*PLAIN, *(f"w{i}" for i in range(3, 64))]
TEXT = " ".join(f"w{i}" for i in ids(30).tolist() if i > 2)


def template(single: str) -> processors.TemplateProcessing:
    return processors.TemplateProcessing(single=single, special_tokens=[("<bos>", 1), ("<eos>", 2)])


def tokenizer(single: str = "") -> Tokenizer:
    made = Tokenizer(models.WordLevel({w: i for i, w in enumerate(WORDS)}, "<pad>"))
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    made.add_special_tokens([*PLAIN])
    if single:
        made.post_processor = template(single)
    return made


def written(folder: Path, single: str = "", **said: Any) -> None:
    """A tokenizer.json, and a tokenizer_config.json that says `said`."""
    tokenizer(single).save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(
        json.dumps(
            {
                "tokenizer_class": "PreTrainedTokenizerFast",
                "bos_token": "<bos>",
                "eos_token": "<eos>",
                "pad_token": "<pad>",
                "unk_token": "<pad>",
                **said,
            }
        )
    )


@pytest.fixture
def gemma(tmp_path: Path) -> Saved:
    """A model whose tokenizer begins texts with <bos>."""
    saved = save(tmp_path / "gemma", "gemma")
    written(tmp_path / "gemma", "<bos> $A")
    return saved


def read(checkpoint: Checkpoint, text: str = TEXT, length: int = 512) -> list[int]:
    return texts.tokens(texts.PASTED, length, checkpoint.tokenizer(), text).ids


def bert(folder: Path) -> None:
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *WORDS[4:]]
    (folder / "vocab.txt").write_text("\n".join(pieces))
    (folder / "tokenizer_config.json").write_text('{"tokenizer_class": "BertTokenizer"}')


def opt(folder: Path) -> None:
    """Pieces of bytes, as OPT's, whose tokenizer_config.json has texts begin with </s>."""
    pieces = ["<s>", "<pad>", "</s>", *"w0123456789", "Ġ"]
    (folder / "vocab.json").write_text(json.dumps({p: i for i, p in enumerate(pieces)}))
    (folder / "merges.txt").write_text("#version: 0.2\n")
    said = {"tokenizer_class": "GPT2Tokenizer", "add_bos_token": True, "bos_token": "</s>"}
    (folder / "tokenizer_config.json").write_text(
        json.dumps({**said, "eos_token": "</s>", "pad_token": "<pad>", "unk_token": "</s>"})
    )


def cut_off(folder: Path) -> None:
    made = tokenizer("<bos> $A <eos>")
    made.enable_truncation(8)
    made.enable_padding(length=8)
    made.save(str(folder / "tokenizer.json"))


FOLDERS: dict[str, Callable[[Path], None]] = {
    "nothing said": written,
    "a template": lambda f: written(f, "<bos> $A"),
    "a template of both ends": lambda f: written(f, "<bos> $A <eos>"),
    "add_bos_token": lambda f: written(f, add_bos_token=True),
    "add_bos_token, against a template": lambda f: written(f, "<bos> $A", add_bos_token=False),
    "add_eos_token": lambda f: written(f, add_bos_token=False, add_eos_token=True),
    "both, in long form": lambda f: written(
        f,
        add_bos_token=True,
        add_eos_token=True,
        bos_token={"__type": "AddedToken", "content": "<bos>"},
    ),
    "OPT's": opt,
    "BERT's": bert,
}


@pytest.mark.parametrize("kind", FOLDERS)
def test_tokens_are_those_of_the_library(kind: str, tmp_path: Path) -> None:
    save(tmp_path / "m", "bert" if kind == "BERT's" else "gemma")
    FOLDERS[kind](tmp_path / "m")
    theirs = AutoTokenizer.from_pretrained(str(tmp_path / "m"))
    text = TEXT.replace(" ", "") if kind == "OPT's" else TEXT
    found = catalogue.find(str(tmp_path / "m"))
    whole = theirs(text).input_ids
    assert read(found, text) == whole
    assert read(catalogue.find(f"{tmp_path / 'm'}?special_tokens=off"), text) == (
        theirs(text, add_special_tokens=False).input_ids
    )
    for length in (len(whole) // 2, len(whole)):  # a part of the text, between the same ends
        part = read(found, text, length)
        first, last = (len(tokens) for tokens in found.around)
        assert len(part) == length and part[: length - last] == whole[: length - last]
        assert part[length - last :] == whole[len(whole) - last :]
        assert first + last == len(whole) - len(theirs(text, add_special_tokens=False).input_ids)


def test_a_tokenizer_that_cuts_off_or_fills_up_does_neither(tmp_path: Path) -> None:
    save(tmp_path / "m", "gemma")
    cut_off(tmp_path / "m")
    found = catalogue.find(str(tmp_path / "m"))
    assert len(read(found)) == len(TEXT.split()) + 2
    assert read(found, "w3") == [1, 3, 2]


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({}, [1, 5]),  # as llama.cpp has it for this kind
        ({"add_bos_token": True}, [1, 5]),
        ({"add_bos_token": False}, [5]),
        ({"add_bos_token": False, "add_eos_token": True}, [5, 2]),
        ({"bos_token_id": 9, "add_bos_token": True}, [9, 5]),
    ],
)
def test_a_gguf_says_it_in_its_keys(
    keys: dict[str, object], expected: list[int], tmp_path: Path
) -> None:
    model = save(tmp_path / "m", "llama").model
    tokens = [f"<{i}>" for i in range(64)]
    tokens[5:8] = ["a", "b", "ab"]
    said = {"pre": "llama-bpe", **keys}
    path = gguf_files.write(tmp_path / "m.gguf", model, tokens=tokens, about_tokens=said)
    found = catalogue.find(str(path))
    assert not found.numbered and read(found, "a") == expected


def test_the_map_is_the_library_s_on_the_library_s_tokens(
    gemma: Saved, tmp_path: Path, cli: Cli
) -> None:
    (tmp_path / "words.txt").write_text(TEXT)
    whole = [1, *(int(w[1:]) for w in TEXT.split())]
    n = len(whole)

    def mapped(name: str, length: int) -> tuple[np.ndarray, str]:
        text = ("--text-file", tmp_path / "words.txt", "--length", length, "--pixels", length)
        status, out, err = cli("map", name, *text, "--out", tmp_path / "a.npz", "--json")
        assert status == 0, err
        note = json.loads(out)["note"]
        assert note and f"note: {note}" in err
        return np.exp(np.load(tmp_path / "a.npz")["log_probability"]), note

    folder = str(tmp_path / "gemma")
    theirs = torch.stack(eager(gemma, torch.tensor(whole)).attentions)[:, 0].numpy()
    found, note = mapped(folder, n)
    assert np.abs(found - theirs).max() < 1e-5
    assert note == "Texts begin with <bos>, as the tokenizer of gemma has it."
    (tmp_path / "words.txt").write_text(f"<bos> {TEXT}")  # written out, it isn't there twice
    assert np.abs(mapped(folder, n)[0] - theirs).max() < 1e-5
    (tmp_path / "words.txt").write_text(TEXT)
    found, note = mapped(f"{folder}?special_tokens=off", n - 1)
    plain = torch.stack(eager(gemma, torch.tensor(whole[1:])).attentions)[:, 0].numpy()
    assert np.abs(found - plain).max() < 1e-5
    assert "without the special tokens that the tokenizer of gemma" in note and "<bos>" in note


def test_every_kind_of_text_begins_so(gemma: Saved, tmp_path: Path) -> None:
    pieces = catalogue.find(str(tmp_path / "gemma")).tokenizer()
    for text in (texts.RANDOM, texts.REPEATED):
        for found in texts.passages(text, 40, 3, pieces):
            assert len(found.ids) == 40 and found.ids[0] == 1 and 1 not in found.ids[1:]
    spread = texts.passages(texts.PASTED, 6, 3, pieces, TEXT)
    assert [p.ids[0] for p in spread] == [1, 1, 1]
    own = [i for p in spread for i in p.ids[1:]]
    assert len({tuple(p.ids) for p in spread}) == 3 and own[:5] == read_plain(tmp_path)[:5]
    later = texts.tokens(texts.PASTED, 6, pieces, TEXT, start=4)
    assert later.ids == [1, *read_plain(tmp_path)[4:9]]
    short = texts.tokens(texts.PASTED, 9, pieces, "w3 w4 w5")
    assert short.ids == [1, 3, 4, 5] and "has 4 tokens, fewer than 9" in short.note
    again = texts.tokens(texts.PASTED, 9, pieces, "w3 w4 w5", repeat=True)
    assert again.ids == [1, 3, 4, 5, 3, 4, 5, 3, 4]
    with pytest.raises(LengthError, match="2 tokens or more"):
        texts.tokens(texts.PASTED, 1, pieces, TEXT)


def read_plain(folder: Path) -> list[int]:
    return read(catalogue.find(f"{folder / 'gemma'}?special_tokens=off"))


@pytest.mark.parametrize("before", [(1,), (1, 2)])
@pytest.mark.parametrize("protocol", [FIXED, PIECES, SLIDING, POSITIONS])
def test_losses_are_of_windows_that_begin_so(
    protocol: str, before: tuple[int, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"TARGETS": 8, "STRIDE": 4, "SCORED": 12}.items():
        monkeypatch.setattr(perplexity.protocols, name, value)
    monkeypatch.setattr(texts, "SPAN", 60)
    save(tmp_path / "m", "gemma")
    single = "<bos> $A" if before == (1,) else "<bos> <eos> $A"
    tokenizer(single).save(str(tmp_path / "m" / "tokenizer.json"))
    found = catalogue.find(str(tmp_path / "m"))
    (sample,) = texts.samples(texts.RANDOM, 20, found.tokenizer(), 1)
    assert sample.before == before and not {1, 2} & set(sample.ids)
    plain = texts.samples(
        texts.RANDOM, 20, catalogue.find(f"{tmp_path / 'm'}?special_tokens=off").tokenizer(), 1
    )[0]
    assert plain.ids == sample.ids and plain.before == () and plain.sha256 != sample.sha256
    model = found.load()
    for n in (12, 20):
        rows = perplexity.measure(model, [sample], [n], protocol)
        total, count = 0.0, 0
        for start, length, last in perplexity.protocols.windows(
            protocol, len(sample.ids), n, sample.sha256
        ):
            window = [*before, *sample.ids[start + len(before) : start + length + 1]]
            logits = model.logits(model.stream(torch.tensor([window[:-1]])))[0].double()
            for place in range(max(length - last, len(before) - 1), length):
                total -= float(logits[place].log_softmax(-1)[window[place + 1]])
                count += 1
        assert sum(row.tokens for row in rows) == count
        loss = sum(row.loss * row.tokens for row in rows if row.loss is not None) / count
        assert loss == pytest.approx(total / count, abs=1e-6)


def test_prefixes_are_matched_after_the_beginning(gemma: Saved, tmp_path: Path) -> None:
    """Against plain sums over whole maps."""
    found = catalogue.find(str(tmp_path / "gemma"))
    model, pieces = found.load(), found.tokenizer()
    score = probes.induction(model, pieces, seeds=1)
    (drawn,) = texts.passages(texts.RANDOM, 26, 1, pieces)
    whole = [1, *drawn.ids[1:] * 4]
    passed = trace(model, whole)
    total, base = np.zeros((2, 4)), []
    for layer in range(2):
        for head, a in enumerate(np.exp(attention.window(passed, layer).value)):
            for query in range(26, 101):
                keys = [query - r + 1 for r in (25, 50, 75) if query - r >= 1]
                total[layer, head] += a[query, keys].sum()
                base.append(len(keys) / (query + 1))
    assert score.value == pytest.approx(total / 75, abs=1e-6)
    assert score.baseline == pytest.approx(float(np.mean(base)))


def test_captions_and_provenance_say_it(gemma: Saved, tmp_path: Path, cli: Cli) -> None:
    name = f"--checkpoints={tmp_path / 'gemma'}"
    status, _, err = cli(
        "figure", "head-wall", name, "--length=32", "--text=random", "--out", tmp_path / "a.zip"
    )
    assert status == 0, err
    with zipfile.ZipFile(tmp_path / "a.zip") as bundle:
        caption = bundle.read("caption.txt").decode()
        sources = json.loads(bundle.read("provenance.json"))["sources"]
    said = "Texts begin with <bos>, as the tokenizer of gemma has it."
    assert said in caption and sources[0]["caveat"] == said


def test_the_option_is_a_question_about_the_checkpoint(
    gemma: Saved, tmp_path: Path, cli: Cli
) -> None:
    folder = str(tmp_path / "gemma")
    status, out, _ = cli("inspect", folder, "--answer", "special_tokens=off", "--json")
    about = json.loads(out)
    assert status == 0 and about["answers"] == {"special_tokens": "off"}
    assert [q["name"] for q in about["questions"]] == ["special_tokens"]
    with pytest.raises(UnknownName, match="on, off"):
        catalogue.find(f"{folder}?special_tokens=perhaps")
    on, off = catalogue.find(folder), catalogue.find(f"{folder}?special_tokens=off")
    assert on.sha256 == off.sha256  # the same weights; its texts are others


def test_the_shipped_ones_read_texts_as_they_are_written() -> None:
    for found in catalogue.shipped().values():
        assert found.caveat == "" and found.questions == ()
        plain = found.tokenizer().encode("A text.", add_special_tokens=False).ids
        assert read(found, "A text.") == plain
