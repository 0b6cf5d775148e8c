"""What is read out of each family beside its own eager attention: maps, losses, long texts."""

from __future__ import annotations

import math
import threading
from pathlib import Path

import pytest
import torch
from torch import Tensor

from tests.readers.huggingface.conftest import Model
from tests.readers.huggingface.families import CONFIGS, LONG, eager, ids, save
from viz_core import kernels
from viz_core.encodings.alibi import slopes
from viz_core.errors import UsageError
from viz_core.readers.huggingface import describe, load
from viz_core.readers.huggingface.families import FAMILIES
from viz_core.readers.huggingface.foreign import Foreign
from viz_core.trace import Trace, trace

CPU = torch.device("cpu")
TWO_STACKS = ("t5", "mt5", "umt5")
LAYOUTS = {  # Falcon's three, by their settings
    "one key": {"multi_query": True},
    "a key each": {"multi_query": False},
    "groups": {"new_decoder_architecture": True, "num_kv_heads": 2},
}


def read(path: Path, **answers: str) -> Foreign:
    description = describe(path, answers)
    assert description is not None
    return load(description, CPU)


def maps(found: Trace) -> list[Tensor]:
    """A [head, query, key] of each layer."""
    n = found.length
    return [
        found.log_attention(i, (0, n), (0, n), slice(None)).exp() for i in range(len(found.layers))
    ]


def check(subject: Foreign, found: Trace, expected: tuple[Tensor, ...]) -> None:
    assert len(found.layers) == len(expected) == subject.config.layers
    for ours, theirs in zip(maps(found), expected, strict=True):
        torch.testing.assert_close(ours, theirs[0], atol=1e-5, rtol=0)
    k = found.layers[0].k
    assert (len(k), k.shape[2]) == (subject.config.kv_heads, subject.config.head_dim)
    assert {s.causal for s in found.scores} == {subject.config.causal}


def test_every_family_has_a_model_here() -> None:
    assert set(CONFIGS) == set(FAMILIES)


@pytest.mark.parametrize("family", sorted(set(FAMILIES) - set(TWO_STACKS)))
def test_maps_and_logits_equal_eager(model: Model, family: str) -> None:
    saved, tokens = model(family), ids(96)
    subject, expected = read(saved.path), eager(saved, tokens)
    check(subject, trace(subject, tokens.tolist()), expected.attentions)
    if FAMILIES[family].head is None:
        with pytest.raises(UsageError, match="predicts masked tokens"):
            subject.stream(tokens[None])
    else:
        logits = subject.logits(subject.stream(tokens[None]))
        torch.testing.assert_close(logits, expected.logits, atol=2e-5, rtol=0)


@pytest.mark.parametrize("family", TWO_STACKS)
def test_both_stacks_equal_eager(model: Model, family: str) -> None:
    """The decoder reads the text on both sides; its losses would say nothing."""
    saved, tokens = model(family), ids(96)
    expected = eager(saved, tokens, decoder_input_ids=tokens[None])
    for stack in ("encoder", "decoder"):
        subject = read(saved.path, stack=stack)
        check(subject, trace(subject, tokens.tolist()), expected[f"{stack}_attentions"])
        with pytest.raises(UsageError):
            subject.stream(tokens[None])


@pytest.mark.parametrize("family", ["bert", "gemma2", "gpt_oss", "llama", "mistral", "bloom"])
def test_long_maps_equal_eager(model: Model, family: str) -> None:
    saved, tokens = model(family), ids(LONG)
    subject = read(saved.path)
    check(subject, trace(subject, tokens.tolist()), eager(saved, tokens).attentions)


@pytest.mark.parametrize(
    ("family", "windows"),
    [("mistral", [24, 24]), ("gemma2", [24, None]), ("gpt_neo", [None, 24]), ("llama", [None] * 2)],
)
def test_windows_are_learnt_from_the_mask(
    model: Model, family: str, windows: list[int | None]
) -> None:
    """A window as long as the text hides nothing, and isn't one."""
    subject = read(model(family).path)
    assert [s.window for s in trace(subject, ids(96).tolist()).scores] == windows
    assert [s.window for s in trace(subject, ids(24).tolist()).scores] == [None, None]


def test_a_window_in_both_directions(model: Model) -> None:
    found = trace(read(model("modernbert").path), ids(96).tolist())
    assert [s.window for s in found.scores] == [None, 9, 9, None]


def test_sinks_take_their_part(model: Model) -> None:
    for layer in maps(trace(read(model("gpt_oss").path), ids(96).tolist())):
        assert (layer.sum(-1) < 1).all() and layer.sum(-1).min() < 0.9


@pytest.mark.parametrize("layout", LAYOUTS)
def test_falcon_with_rope_in_its_three_layouts(tmp_path: Path, layout: str) -> None:
    saved, tokens = save(tmp_path, "falcon", **LAYOUTS[layout]), ids(96)
    subject = read(tmp_path)
    check(subject, trace(subject, tokens.tolist()), eager(saved, tokens).attentions)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_falcon_with_alibi_follows_the_formula(tmp_path: Path, layout: str) -> None:
    """softmax((q . k + m j) / sqrt(D)), as its authors have it.

    Not beside eager attention: that of transformers 5.24 adds the bias twice when it has ALiBi.
    """
    save(tmp_path, "falcon", alibi=True, num_hidden_layers=1, **LAYOUTS[layout])
    subject = read(tmp_path)
    found = trace(subject, ids(96).tolist())
    q, k, _ = found.take(0)
    j = torch.arange(96)
    logits = (q @ k.transpose(1, 2) + slopes(4).float()[:, None, None] * j) / math.sqrt(8)
    expected = logits.masked_fill(j[:, None] < j, -torch.inf).softmax(-1)
    torch.testing.assert_close(maps(found)[0], expected, atol=1e-5, rtol=0)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_falcon_rounds_its_bias(tmp_path: Path, layout: str) -> None:
    """At 600 tokens, beside its eager attention with half of the bias that it adds twice."""
    from transformers.models.falcon import modeling_falcon as falcon

    saved, tokens = save(tmp_path, "falcon", alibi=True, **LAYOUTS[layout]), ids(600)
    subject = read(tmp_path)
    once = falcon.build_alibi_tensor
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(falcon, "build_alibi_tensor", lambda *a, **k: once(*a, **k) / 2)
        theirs = eager(saved, tokens).attentions
    for ours, own in zip(maps(trace(subject, tokens.tolist())), theirs, strict=True):
        torch.testing.assert_close(ours, own[0], atol=1e-5, rtol=0)


def test_a_checkpoint_without_a_head_shows_maps_alone(tmp_path: Path) -> None:
    saved, tokens = save(tmp_path, "llama", made="LlamaModel"), ids(96)
    subject = read(tmp_path)
    check(subject, trace(subject, tokens.tolist()), eager(saved, tokens).attentions)
    with pytest.raises(UsageError, match="holds none"):
        subject.stream(tokens[None])


def test_several_texts_at_once_have_the_logits_of_each(model: Model) -> None:
    subject = read(model("gemma2").path)
    both = torch.stack((ids(40, seed=1), ids(40, seed=2)))
    together = subject.logits(subject.stream(both))
    for i in range(2):
        alone = subject.logits(subject.stream(both[i : i + 1]))
        torch.testing.assert_close(together[i], alone[0], atol=1e-5, rtol=0)


@pytest.mark.parametrize("family", ["mistral", "t5", "gptj"])
def test_a_text_of_8192_tokens(tmp_path: Path, family: str) -> None:
    """Eager attention would take a gigabyte for each layer; rows sum to 1 all the same."""
    n = 8192
    layers = {"mistral": "num_hidden_layers", "t5": "num_layers", "gptj": "n_layer"}[family]
    heads = {"mistral": "num_attention_heads", "t5": "num_heads", "gptj": "n_head"}[family]
    save(tmp_path, family, **{layers: 1, heads: 2})
    found = trace(read(tmp_path), ids(n).tolist())
    for a in (0, n // 2, n - 8):
        rows = found.log_attention(0, (a, a + 8), (0, n), slice(None)).exp()
        torch.testing.assert_close(rows.sum(-1), torch.ones(2, 8), atol=1e-4, rtol=0)


def test_two_at_once_get_what_each_gets_alone(model: Model) -> None:
    families, found = ("gemma2", "bloom"), dict[tuple[str, int], Trace]()
    subjects = {family: read(model(family).path) for family in families}
    tokens = {family: ids(300, seed=i).tolist() for i, family in enumerate(families)}
    start = threading.Barrier(4)

    def work(family: str, turn: int) -> None:
        start.wait()
        found[family, turn] = trace(subjects[family], tokens[family])

    threads = [threading.Thread(target=work, args=(f, turn)) for f in families for turn in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for (family, _), together in found.items():
        alone = trace(subjects[family], tokens[family])
        for ours, theirs in zip(together.layers, alone.layers, strict=True):
            assert all(torch.equal(a, b) for a, b in zip(ours, theirs, strict=True))
    assert len(found) == 4


def test_work_is_told_as_it_is_done_and_can_be_cancelled(model: Model) -> None:
    subject, done = read(model("llama").path), list[int]()
    list(subject.passes(ids(96), done.append))
    assert sum(done) == subject.config.layers * kernels.pairs(96, 96)

    def stop(_: int) -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        list(subject.passes(ids(96), stop))
    assert len(list(subject.passes(ids(96), kernels.ignore))) == subject.config.layers
