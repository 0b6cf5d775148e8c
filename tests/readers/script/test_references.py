"""Models of every layout, read back: their maps and logits are those of the modules themselves."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from tests.readers.script import modules, reading
from tests.readers.script.reading import IDS, maps, opened, same, saved
from viz_core.encodings import all_encodings
from viz_core.model import ModelConfig, Transformer

Made = tuple[nn.Module, Callable[[], tuple[Tensor, modules.Maps]], dict[str, object]]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    torch.manual_seed(0)
    return tmp_path / "model.safetensors"


def vectors(width: int) -> Tensor:
    """What enters a model without an embedding: of each id the same normal vector."""
    made = [torch.Generator().manual_seed(int(i)) for i in IDS]
    return torch.stack([torch.randn(width, generator=g) for g in made])


def layers() -> dict[str, tuple[Callable[[], nn.Module], dict[str, object]]]:
    """Models whose input are vectors, and what has to be answered."""
    return {
        "alibi": (lambda: modules.ALiBiAttention(32, 4), {}),
        "rope-half": (lambda: modules.RoPEAttention(32, 4, "half", 500.0), {"heads": 4}),
        "rope-interleaved": (
            lambda: modules.RoPEAttention(32, 2, "interleaved"),
            {"heads": 2, "layout": "interleaved"},
        ),
        "by-head": (
            modules.Vision,
            {"heads": 3, "encoding": "nope", "order": "by-head", "attention": "bidirectional"},
        ),
        "t5-causal": (lambda: modules.Bucketed(True), {"max_distance": 20}),
        "t5-both-ways": (
            lambda: modules.Bucketed(False),
            {"max_distance": 20, "attention": "bidirectional"},
        ),
    }


@pytest.mark.parametrize("name", layers())
@torch.no_grad()
def test_a_layer_of_vectors(name: str, path: Path) -> None:
    make, answers = layers()[name]
    made = make()
    found, subject = opened(saved(made, path), **answers)
    out, expected = made(vectors(found.config.width))
    same(maps(subject), expected if isinstance(expected, list) else [expected])
    if found.config.layers > 1:
        same([subject.stream(IDS[None])[0]], [out])


def models() -> dict[str, tuple[Callable[[], nn.Module], dict[str, object]]]:
    """Models that predict tokens, and what has to be answered."""
    return {
        "stack": (modules.Model, {"heads": 4, "encoding": "alibi"}),
        "minGPT": (lambda: modules.GPT(nano=False), {"heads": 4}),
        "nanoGPT": (lambda: modules.GPT(nano=True), {"heads": 4}),
        "nanoGPT-without-biases": (lambda: modules.GPT(nano=True, bias=False), {"heads": 4}),
        "lecture": (modules.Lecture, {"divisor": "sqrt-width", "activation": "relu"}),
        "gated": (modules.Gated, {"heads": 4}),
    }


@pytest.mark.parametrize("name", models())
@torch.no_grad()
def test_a_model_of_tokens(name: str, path: Path) -> None:
    make, answers = models()[name]
    made = make()
    found, subject = opened(saved(made, path), **answers)
    logits, expected = made(IDS)
    same(maps(subject), expected)
    stream = subject.stream(torch.stack((IDS, IDS.flip(0))))
    same(subject.logits(stream), [logits, made(IDS.flip(0))[0]])
    assert found.config.vocabulary == logits.shape[-1]
    assert found.weights == sum(p.numel() for p in made.parameters())  # a tie counts once


@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("causal", [False, True])
@torch.no_grad()
def test_torchs_own_encoder(norm_first: bool, causal: bool, path: Path) -> None:
    made = modules.Encoder(norm_first).eval()
    answers = {"heads": 4, "embedding_scale": "sqrt-width", "norms": "before"}
    answers |= {} if norm_first else {"norms": "after"}
    answers |= {"attention": "causal" if causal else "bidirectional"}
    _, subject = opened(saved(made, path), **answers)
    logits, expected = made(IDS, causal)
    same(maps(subject), expected)
    if causal:
        same(subject.logits(subject.stream(IDS[None])), [logits])


@pytest.mark.parametrize("wrapper", ["", "_orig_mod."])
@pytest.mark.parametrize("encoding", sorted({*all_encodings()} - {"kerple"}))  # no names for it
@torch.no_grad()
def test_our_own_trainers_state_dict(encoding: str, wrapper: str, path: Path) -> None:
    made = Transformer(ModelConfig(encoding, 2, 4, 32, 40, 24, mlp=3))
    state = {f"{wrapper}{name}": t for name, t in made.state_dict().items()}
    answers: dict[str, object] = {} if encoding == "t5" else {"heads": 4}
    if encoding not in ("t5", "learned"):
        answers["encoding"] = encoding
    found, subject = opened(saved(state, path), **answers)
    assert isinstance(subject, Transformer) and found.family == "attention-atlas"
    assert subject.config.mlp == 3 and subject.config.encoding == encoding
    same(subject(IDS[None]).logits, made(IDS[None]).logits)


@torch.no_grad()
def test_our_own_names_around_another_mlp_make_a_stack(path: Path) -> None:
    made = Transformer(ModelConfig("rope", 2, 4, 32, 40, 24, mlp=1))
    for block in made.blocks:
        block.up, block.down = nn.Linear(32, 40, bias=False), nn.Linear(40, 32, bias=False)
    _, subject = opened(saved(made, path), heads=4, encoding="rope")
    assert not isinstance(subject, Transformer)
    same(subject.logits(subject.stream(IDS[None])), made(IDS[None]).logits)


@torch.no_grad()
def test_gpt2s_own_orientation(path: Path) -> None:
    made = modules.GPT(nano=False)
    turned = ("c_attn.weight", "c_proj.weight", "c_fc.weight")
    state = {n: t.T if n.endswith(turned) else t for n, t in made.state_dict().items()}
    state = {n.removeprefix("transformer."): t.contiguous() for n, t in state.items()}
    found, subject = opened(saved(state, path), heads=4)
    assert reading.asked(found) == {"heads"}  # GPT-2's activation is known
    logits, expected = made(IDS)
    same(maps(subject), expected)
    same(subject.logits(subject.stream(IDS[None])), [logits])


@torch.no_grad()
def test_fewer_keys_than_queries_in_a_fused_projection(path: Path) -> None:
    made = modules.Gated()
    state = dict(made.state_dict())
    for i in range(2):
        inside = f"layers.{i}.self_attn."
        parts = [state.pop(f"{inside}{n}_proj.weight") for n in "qkv"]
        state[f"{inside}qkv_proj.weight"] = torch.cat(parts)
    found, subject = opened(saved(state, path), heads=4)
    assert (found.config.heads, found.config.kv_heads) == (4, 2)
    same(maps(subject), made(IDS)[1])
