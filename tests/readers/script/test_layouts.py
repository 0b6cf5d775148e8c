"""Which files are taken, which are left to other readers, and what is said of those in between."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor

from tests.readers.script import modules
from tests.readers.script.reading import IDS, described, opened, saved
from viz_core import kernels
from viz_core.errors import AtlasError, DamagedCheckpoint
from viz_core.model import ModelConfig, Transformer
from viz_core.readers import native, script

State = dict[str, Tensor]
NEW = torch.randn(32)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    torch.manual_seed(0)
    return tmp_path / "model.safetensors"


def test_what_is_anothers_is_left(path: Path, tmp_path: Path) -> None:
    convolution = {"conv.weight": torch.randn(4, 4, 3, 3), "fc.weight": torch.randn(4, 4)}
    assert script.describe(saved(convolution, path), {}) is None
    native.save(Transformer(ModelConfig("rope", 1, 2, 16, 30, 24)), path, {})
    assert script.describe(path, {}) is None
    (tmp_path / "weights.pt").write_bytes(b"")
    assert script.describe(tmp_path / "weights.pt", {}) is None
    assert script.describe(tmp_path / "nothing", {}) is None
    (tmp_path / "second.safetensors").write_bytes(b"")
    assert script.describe(tmp_path, {}) is None


def test_the_families(path: Path) -> None:
    expected = {
        "attention-layer": modules.Attention(32, 4),
        "attention-stack": modules.Model(),
        "nanogpt": modules.GPT(nano=True),
        "torch-encoder": modules.Encoder(True),
        "attention-atlas": Transformer(ModelConfig("rope", 2, 4, 32, 40, 24)),
    }
    for family, module in expected.items():
        found = described(saved(module, path))
        assert (found.format, found.family) == ("state-dict", family)


def test_names_are_found_under_any_prefix(path: Path) -> None:
    state = {f"net.core.{name}": t for name, t in modules.Model(layers=12).state_dict().items()}
    assert described(saved(state, path)).config.layers == 12  # 10 after 9, not after 1
    single = {f"attn.{n}": t for n, t in modules.Attention(32, 4, bias=True).state_dict().items()}
    assert described(saved(single, path)).config.layers == 1
    one = modules.Model(layers=1).state_dict()
    bare = {name.replace("layers.0.", ""): t for name, t in one.items()}
    found = described(saved(bare, path))
    assert (found.config.layers, found.config.vocabulary) == (1, 50)


def test_a_head_that_predicts_no_token_is_left_out(path: Path) -> None:
    state = {**modules.Model().state_dict(), "lm_head.weight": torch.randn(3, 32)}
    state["lm_head.bias"] = torch.randn(3)
    found = described(saved(state, path))
    assert any("'lm_head.weight'" in f.words and "left out" in f.words for f in found.findings)
    assert "head" in {q.name for q in found.questions}


def without(state: State, end: str) -> State:
    return {name: t for name, t in state.items() if not name.endswith(end)}


def changed(state: State, name: str, tensor: Tensor) -> State:
    return {**state, name: tensor}


def half_known() -> dict[str, tuple[State, str]]:
    model = dict(modules.Model().state_dict())
    gated = dict(modules.Gated().state_dict())
    layer = "layers.1."
    twice = {f"decoder.{n}": t for n, t in modules.Model().state_dict().items()}
    return {
        "no queries": (without(model, "q_proj.weight"), "a projection of queries"),
        "no output": (without(model, "out_proj.weight"), "queries, keys, values and the output"),
        "no values": (without(model, "v_proj.weight"), "queries, keys, values and the output"),
        "one layer short of a part": (without(model, "1.mlp.fc2.bias"), "same parts in every"),
        "a layer too few": (
            {n: t for n, t in model.items() if not n.startswith("layers.0.")},
            "layers numbered from 0 on",
        ),
        "two stacks": (
            {**{f"encoder.{n}": t for n, t in model.items() if "layers" in n}, **twice},
            "a single stack",
        ),
        "a third norm": (changed(model, f"{layer}ln3.weight", NEW), "such as ln_1 and ln_2"),
        "norms of queries": (changed(model, f"{layer}attn.q_norm.weight", NEW), "such as ln_1"),
        "a mixture of MLPs": (
            changed(model, f"{layer}mlp.router.weight", torch.randn(2, 32)),
            "gate, up and down",
        ),
        "an unknown tensor": (
            changed(model, "memory", torch.randn(5, 32)),
            "a known place for every tensor",
        ),
        "a second norm at the end": (
            changed(model, "ln_post.weight", NEW),
            "a known place for every tensor",
        ),
        "a shape": (
            changed(model, f"{layer}attn.k_proj.weight", torch.randn(16, 32)),
            r"the shape \[32, 32\] of 'layers.1.attn.k_proj.weight'",
        ),
        "keys that don't divide queries": (
            {
                n: torch.randn(24, 32) if "k_proj" in n or "v_proj" in n else t
                for n, t in gated.items()
            },
            "a multiple of the keys' channels",
        ),
        "an encoding of other heads": (
            changed(without(modules.Lecture().state_dict(), "table.weight"), "slopes", NEW[:8]),
            "an encoding of 4 heads",
        ),
        "whole numbers": (
            changed(model, "lm_head.weight", torch.ones(50, 32, dtype=torch.int8)),
            "floating point",
        ),
    }


@pytest.mark.parametrize("name", half_known())
def test_what_is_known_in_part_is_told_in_one_sentence(name: str, path: Path) -> None:
    state, said = half_known()[name]
    with pytest.raises(DamagedCheckpoint, match=said) as caught:
        script.describe(saved(state, path), {})
    message = str(caught.value)
    assert path.name in message and message.count(". ") == 0 and len(message) < 600


def test_weights_that_arent_finite_are_refused(path: Path) -> None:
    model = dict(modules.Model().state_dict())
    model["layers.1.attn.k_proj.weight"][0, 0] = float("nan")
    with pytest.raises(DamagedCheckpoint, match=r"finite weights.*k_proj"):
        opened(saved(model, path))
    ours = Transformer(ModelConfig("rope", 1, 4, 32, 40, 24))
    ours.norm.weight.data[0] = float("inf")
    with pytest.raises(DamagedCheckpoint, match="finite weights"):
        opened(saved(ours, path))


def test_a_file_that_is_no_safetensors_is_refused(path: Path) -> None:
    path.write_bytes(b"\x10" * 40)
    with pytest.raises(DamagedCheckpoint, match="can't be read"):
        script.describe(path, {})
    with pytest.raises(AtlasError, match="no such file"):
        script.describe(path.with_name("other.safetensors"), {})


def test_a_file_of_any_state_dict_is_read_or_refused_in_one_line(path: Path) -> None:
    """A fixed budget of changes to good files: nothing else may be raised, and sizes hold."""
    makes = (modules.Model, modules.Gated, modules.Lecture, modules.Vision)
    known = [dict(make().state_dict()) for make in makes]
    known += [dict(modules.GPT(nano=True).state_dict()), dict(modules.Encoder(True).state_dict())]
    known.append(dict(modules.RoPEAttention(32, 4, "half").state_dict()))
    ours = (Transformer(ModelConfig(name, 2, 4, 32, 40, 24)) for name in ("learned", "t5"))
    known += [dict(model.state_dict()) for model in ours]
    dice, read = random.Random(0), 0
    words = ["bias", "mask", "slopes", "alibi", "pe", "cos", "inv_freq", "heads", "0", "9" * 12]
    words += ["norm", "table", "freqs_cis", "head", "", "²", "x" * 200, "relative_attention_bias"]
    for _ in range(400):
        state = dict(dice.choice(known))
        name = dice.choice(list(state))
        tensor = state[name]
        shape = [dice.choice((0, 1, 4, 32)) for _ in range(dice.randint(0, 4))]
        match dice.randint(0, 5):
            case 0:
                del state[name]
            case 1:
                state[name] = torch.randn(shape)
            case 2:
                state[name] = tensor.to(dice.choice((torch.int8, torch.bool, torch.complex64)))
            case 3:
                state[f"{name}.{dice.choice(words)}"] = state.pop(name)
            case 4:
                state[dice.choice(words) or "w"] = torch.randn(shape)
            case 5:
                state[name] = tensor[: len(tensor) // 2].clone() if tensor.ndim else tensor
        save_file({n: t.contiguous().clone() for n, t in state.items()}, path)
        try:
            found = script.describe(path, {})
            if found is None:
                continue
            subject = script.load(found, torch.device("cpu"))
            ids = IDS % (found.config.vocabulary or 10)
            layers = [trace for trace, _ in subject.passes(ids, kernels.ignore)]
        except AtlasError as error:
            assert "\n" not in str(error) and len(str(error)) < 900
            continue
        sizes, n = found.config, len(IDS)
        assert len(layers) == sizes.layers
        for q, k, lse in layers:
            assert q.shape == (sizes.heads, n, sizes.head_dim) and lse.shape == (sizes.heads, n)
            assert k.shape == (sizes.kv_heads, n, sizes.head_dim)
        read += 1
    assert read > 20
