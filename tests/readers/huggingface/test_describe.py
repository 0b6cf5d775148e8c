"""What is said of a folder before a weight is read, what the weights add, and other layouts."""

from __future__ import annotations

import json
import math
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from tests.readers.huggingface.conftest import Model
from tests.readers.huggingface.families import eager, ids, save
from tests.readers.huggingface.test_attention import check, read
from viz_core import readers
from viz_core.encodings import get
from viz_core.errors import DamagedCheckpoint
from viz_core.readers.description import Description, Finding
from viz_core.readers.huggingface import audit, describe
from viz_core.readers.huggingface.families import FAMILIES
from viz_core.trace import trace


def described(path: Path, **answers: str) -> Description:
    found = describe(path, answers)
    assert found is not None
    return found


def lines(findings: tuple[Finding, ...]) -> dict[str, Finding]:
    return {line.about: line for line in findings}


def change(path: Path, how: Callable[[dict[str, Any]], None]) -> None:
    """Changes config.json in the folder `path`."""
    said = json.loads((path / "config.json").read_text())
    how(said)
    (path / "config.json").write_text(json.dumps(said))


def rename(path: Path, change: dict[str, str] | None = None, prefix: str = "") -> None:
    """Gives the tensors in a folder other names."""
    file = path / "model.safetensors"
    old = {name.removeprefix(prefix): t for name, t in load_file(file).items()}
    for before, after in (change or {}).items():
        old = {name.replace(before, after): t for name, t in old.items()}
    save_file(old, file)


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_sizes_and_encoding(model: Model, family: str) -> None:
    saved = model(family)
    found = described(saved.path)
    assert (found.format, found.family, found.path) == ("huggingface", family, saved.path)
    c = found.config
    assert c.vocabulary == 64 and c.layers in (2, 4) and c.heads % c.kv_heads == 0
    get(c.encoding).settings(c.parameters)
    named = saved.model.named_parameters()
    held = {id(p): p.numel() for name, p in named if "pooler" not in name}
    if FAMILIES[family].positions != "t5":  # where half of them are the other stack's
        assert found.weights == sum(held.values())
    assert all(line.words.endswith(".") for line in found.findings)
    assert {line.verdict for line in found.findings} <= {"note", "unknown"}
    assert "encoding" in lines(found.findings)


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_the_audit_of_a_good_model_agrees(model: Model, family: str) -> None:
    saved = model(family)
    found = described(saved.path)
    said = audit(read(saved.path), found)
    assert said and {line.verdict for line in said if line.about != "window"} == {"agrees"}
    expected = {
        "rope": "inverse frequencies",
        "learned": "learned table",
        "alibi": "ALiBi slopes",
        "t5": "T5 buckets",
    }
    assert expected[found.config.encoding] in lines(said)


def test_words_of_the_findings(model: Model) -> None:
    said = lines(described(model("gemma2").path).findings)
    assert said["trained length"].words == "1,024 tokens, by max_position_embeddings."
    assert said["key heads"].words == "4 query heads, 2 to each key head."
    assert said["soft-cap"].words == "Logits of attention are bounded by 3 nats."
    assert "sinks" in lines(described(model("gpt_oss").path).findings)
    assert lines(described(model("smollm3").path).findings)["NoPE layers"].words.startswith(
        "1 of 2"
    )
    assert lines(described(model("gpt_neox").path).findings)["rotary width"].words == (
        "2 of a head's 8 channels turn."
    )
    assert lines(described(model("bloom").path).findings)["trained length"].verdict == "unknown"
    buckets = lines(audit(read(model("t5").path, stack="decoder"), described(model("t5").path)))
    assert "from 113 on" in buckets["T5 buckets"].words


def test_frequencies_without_a_formula_are_said_to_be(tmp_path: Path) -> None:
    save(tmp_path, "llama", rope_parameters={"rope_type": "proportional", "rope_theta": 1e4,
                                             "partial_rotary_factor": 0.5})  # fmt: skip
    line = lines(audit(read(tmp_path), described(tmp_path)))["inverse frequencies"]
    assert line.verdict == "differs" and "by up to 100%" in line.words


@pytest.mark.parametrize(("base", "verdict"), [(1e4, "agrees"), (5e5, "differs")])
def test_frequencies_that_an_old_file_saved(tmp_path: Path, base: float, verdict: str) -> None:
    save(tmp_path, "llama", rope_parameters={"rope_type": "default", "rope_theta": base})
    file = tmp_path / "model.safetensors"
    old = (1e4 ** (-torch.arange(0, 8, 2) / 8)).half()
    save_file({**load_file(file), "model.layers.0.self_attn.rotary_emb.inv_freq": old}, file)
    said = lines(audit(read(tmp_path), described(tmp_path)))
    assert said["saved frequencies"].verdict == verdict


def test_another_exponent_of_mpt(tmp_path: Path) -> None:
    save(tmp_path, "mpt", attn_config={"alibi_bias_max": 4})
    line = lines(audit(read(tmp_path), described(tmp_path)))["ALiBi slopes"]
    assert line.verdict == "differs" and "exponent is 4" in line.words
    assert "transformers' own code has 8" in line.words


def test_a_bias_that_is_rounded_is_said_to_differ(tmp_path: Path) -> None:
    save(tmp_path, "falcon", alibi=True, max_position_embeddings=1000)
    line = lines(audit(read(tmp_path), described(tmp_path)))["ALiBi slopes"]
    steps = torch.arange(1000.0).bfloat16().float() - torch.arange(1000.0)
    most = float((steps - steps[-1]).abs().max()) / 4 / 8**0.5  # 4 is the steepest slope's inverse
    assert line.verdict == "differs" and f"{most:.2g} nats at 1,000 tokens" in line.words


@pytest.mark.parametrize(
    ("family", "settings", "words"),
    [
        ("gemma2", {}, "1 of 2 layers see the last 24 tokens."),
        ("gpt_neo", {"window_size": 24}, "1 of 2 layers see the last 24 tokens."),
        ("modernbert", {"local_attention": 16}, "see 8 tokens to each side."),
        ("gemma3_text", {"use_bidirectional_attention": True}, "see 12 tokens to each side."),
    ],
)
def test_a_window_is_told_by_the_mask(
    tmp_path: Path, family: str, settings: dict[str, object], words: str
) -> None:
    saved = save(tmp_path, family, **settings)
    assert words in lines(audit(read(tmp_path), described(tmp_path)))["window"].words
    row = [a[0, 0, 48] for a in eager(saved, ids(96)).attentions]
    first = max(int((r > 0).nonzero().min()) for r in row)
    said = int(words.split(" tokens")[0].split()[-1])
    assert 48 - first == (said if "side" in words else said - 1)


@pytest.mark.parametrize(
    ("attention", "words"),
    [
        ({"alibi": False}, "alibi to 'False'"),
        ({"alibi": False, "rope": True}, "alibi to 'False'"),
        ({"rope": True}, "rope to 'True'"),
        ({"prefix_lm": True}, "prefix_lm to 'True'"),
        ({"sliding_window_size": 64}, "sliding_window_size to '64'"),
    ],
)
def test_an_mpt_with_other_attention(
    tmp_path: Path, attention: dict[str, object], words: str
) -> None:
    save(tmp_path, "mpt")
    change(tmp_path, lambda said: said["attn_config"].update(attention))
    with pytest.raises(DamagedCheckpoint, match=words):
        described(tmp_path)


YARN = {"rope_type": "yarn", "rope_theta": 1e4, "factor": 16.0}
YARN["original_max_position_embeddings"] = 64


@pytest.mark.parametrize(
    "more", [{"attention_factor": 1.0}, {"mscale": 1.0, "mscale_all_dim": 1.0}]
)
def test_frequencies_of_yarn_with_another_factor(tmp_path: Path, more: dict[str, float]) -> None:
    saved, tokens = save(tmp_path, "llama", rope_parameters={**YARN, **more}), ids(96)
    subject = read(tmp_path)
    check(subject, trace(subject, tokens.tolist()), eager(saved, tokens).attentions)
    said = lines(audit(subject, described(tmp_path)))
    assert said["inverse frequencies"].verdict == "agrees"
    assert said["attention factor"].words == (
        "cos and sin are multiplied by 1, as the configuration says; the formula of yarn has 1.277."
    )


def test_the_formulas_own_factor_is_not_another(tmp_path: Path) -> None:
    save(tmp_path, "llama", rope_parameters={**YARN, "attention_factor": 0.1 * math.log(16) + 1})
    assert "attention factor" not in lines(audit(read(tmp_path), described(tmp_path)))


@pytest.mark.parametrize("base", [3580165449, 3580165449.0])
def test_a_base_beyond_a_thousand_million(tmp_path: Path, base: float) -> None:
    save(tmp_path, "llama")
    change(tmp_path, lambda said: said.update(rope_parameters=None, rope_theta=base))
    line = lines(audit(read(tmp_path), described(tmp_path)))["inverse frequencies"]
    assert line.verdict == "agrees" and "3,580,165,449" in line.words


@pytest.mark.parametrize("kind", ["su", "mrope", "ntk"])
def test_a_kind_of_scaling_that_is_not_known(tmp_path: Path, kind: str) -> None:
    save(tmp_path, "llama")
    scaling = {"type": kind, "factor": 2.0}
    change(tmp_path, lambda said: said.update(rope_parameters=None, rope_scaling=scaling))
    with pytest.raises(DamagedCheckpoint, match=f"its RoPE scaling is of kind '{kind}'"):
        described(tmp_path)


def test_code_that_a_config_names_is_left_alone(tmp_path: Path) -> None:
    save(tmp_path, "llama")
    file = tmp_path / "config.json"
    (tmp_path / "evil.py").write_text("raise SystemExit('ran')")
    more = {
        "auto_map": {"AutoConfig": "evil.C", "AutoModelForCausalLM": "evil.M"},
        "attn_implementation": "someone/kernel",
        "_attn_implementation": "someone/kernel",
        "fusion_config": {"x": True},
        "transformers_weights": "evil.bin",
    }
    file.write_text(json.dumps(json.loads(file.read_text()) | more))
    line = lines(described(tmp_path).findings)["code"]
    assert "auto_map" in line.words and "not run" in line.words
    trace(read(tmp_path), ids(20).tolist())
    assert "evil" not in sys.modules


def test_nothing_is_asked_of_a_network(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    def connect(*_: object) -> None:
        raise AssertionError("asked for a connection")

    monkeypatch.setattr(socket.socket, "connect", connect)
    for family in ("llama", "bert", "bloom", "t5"):
        trace(read(model(family).path), ids(20).tolist())


def test_weights_without_a_place_are_said(tmp_path: Path) -> None:
    save(tmp_path, "llama")
    file = tmp_path / "model.safetensors"
    extra = {n: torch.zeros(4) for n in ("model.layers.0.self_attn.q_norm.weight", "score.weight")}
    save_file({**load_file(file), **extra}, file)
    said = lines(described(tmp_path).findings)
    assert said["weights"].verdict == "differs" and "q_norm" in said["weights"].words
    assert said["heads"].words.endswith("left out: 1.")


def test_the_head_of_a_reward_model_is_one_for_another_task(tmp_path: Path) -> None:
    save(tmp_path, "llama")
    file = tmp_path / "model.safetensors"
    save_file({**load_file(file), "v_head.summary.weight": torch.zeros(1, 32)}, file)
    said = lines(described(tmp_path).findings)
    assert said["heads"].words.endswith("left out: 1.")
    assert "differs" not in {f.verdict for f in said.values()}


@pytest.mark.parametrize("around", ["_orig_mod.", "module.", "module._orig_mod."])
@pytest.mark.parametrize("shards", [False, True])
def test_what_training_puts_around_names_is_taken_off(
    tmp_path: Path, around: str, shards: bool
) -> None:
    """In one file and in several, whose index has those names too."""
    saved, tokens = save(tmp_path, "llama"), ids(48)
    if shards:
        (tmp_path / "model.safetensors").unlink()
        saved.model.save_pretrained(tmp_path, max_shard_size="20KB")
    for file in tmp_path.glob("*.safetensors"):
        save_file({around + n: t for n, t in load_file(file).items()}, file)
    for index in tmp_path.glob("*.index.json"):
        named = json.loads(index.read_text())
        named["weight_map"] = {around + n: f for n, f in named["weight_map"].items()}
        index.write_text(json.dumps(named))
    subject = read(tmp_path)
    check(subject, trace(subject, tokens.tolist()), eager(saved, tokens).attentions)
    assert not [f for f in described(tmp_path).findings if f.verdict == "differs"]


LAYOUTS: dict[str, tuple[str, dict[str, Any]]] = {
    "without the prefix": ("gpt2", {"prefix": "transformer."}),
    "from TensorFlow": ("bert", {"change": {"LayerNorm.weight": "LayerNorm.gamma",
                                            "LayerNorm.bias": "LayerNorm.beta"}}),
    "old NeoX": ("gpt_neox", {"change": {"lm_head.": "embed_out."}}),
    "base in a masked model": ("bert", {"made": "BertForMaskedLM"}),
    "a classifier": ("llama", {"made": "LlamaForSequenceClassification"}),
    "T5 with a head": ("t5", {"made": "T5ForConditionalGeneration"}),
    "T5's encoder alone": ("t5", {"made": "T5EncoderModel"}),
}  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
def test_other_layouts_of_names(tmp_path: Path, layout: str) -> None:
    family, how = LAYOUTS[layout]
    saved, tokens = save(tmp_path, family, made=how.get("made", "")), ids(48)
    if "made" not in how:
        rename(tmp_path, how.get("change"), how.get("prefix", ""))
    both = {"decoder_input_ids": tokens[None]} if layout == "T5 with a head" else {}
    inner = saved.model.base_model if layout == "a classifier" else saved.model
    expected = eager(type(saved)(inner, tmp_path, family), tokens, **both)
    attentions = expected.encoder_attentions if both else expected.attentions
    subject = read(tmp_path)
    check(subject, trace(subject, tokens.tolist()), attentions)
    assert not [f for f in described(tmp_path).findings if f.verdict == "differs"]


def test_shards_and_names_of_converted_files(tmp_path: Path) -> None:
    saved, tokens = save(tmp_path / "a", "llama"), ids(48)
    expected = eager(saved, tokens).attentions
    saved.model.save_pretrained(tmp_path / "b", max_shard_size="20KB")
    assert len(list((tmp_path / "b").glob("*.safetensors"))) > 1
    (tmp_path / "a/model.safetensors").rename(tmp_path / "a/pytorch_model.safetensors")
    for folder in ("a", "b"):
        subject = read(tmp_path / folder)
        check(subject, trace(subject, tokens.tolist()), expected)


def test_half_precision_is_read_as_float32(tmp_path: Path) -> None:
    saved = save(tmp_path, "llama")
    saved.model.to(torch.bfloat16).save_pretrained(tmp_path)
    subject = read(tmp_path)
    assert {w.dtype for w in subject.base.parameters()} == {torch.float32}
    assert trace(subject, ids(20).tolist()).layers[0].q.dtype == torch.float32


def test_the_tokenizer_beside_it(tmp_path: Path) -> None:
    save(tmp_path, "llama")
    assert described(tmp_path).tokenizer is None
    (tmp_path / "tokenizer.json").write_text("{}")
    assert described(tmp_path).tokenizer == tmp_path / "tokenizer.json"


def test_the_choice_of_a_stack(model: Model) -> None:
    (question,) = described(model("t5").path).questions
    assert (question.name, question.default) == ("stack", "encoder")
    found = described(model("t5").path, stack="decoder")
    assert found.answers == {"stack": "decoder"} and found.config.causal
    assert "both read the same text" in lines(found.findings)["text"].words


def test_readers_find_a_folder(model: Model) -> None:
    path = model("llama").path
    found = readers.describe(path)
    assert found.format == "huggingface"
    subject = readers.load(found)
    assert {line.verdict for line in readers.audit(subject, found)} <= {"agrees", "note"}
    assert subject.config == found.config
