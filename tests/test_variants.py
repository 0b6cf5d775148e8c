"""Settings of an encoding by their short words, and models under them."""

from __future__ import annotations

import pytest
import torch

from viz_core import variants
from viz_core.encodings import get
from viz_core.encodings.rope import RoPE
from viz_core.errors import UsageError
from viz_core.model import ModelConfig, Transformer


def model(encoding: str) -> Transformer:
    torch.manual_seed(0)
    config = ModelConfig(encoding, 2, 4, 64, 24, 16)
    return Transformer(config).eval().requires_grad_(False)


TOKENS = torch.arange(20)[None] % 24


@pytest.mark.parametrize(
    ("setting", "length", "values"),
    [
        ("", 64, {}),
        ("none", 64, {}),
        ("linear:4", 64, {"scaling": "linear", "factor": 4.0}),
        ("ntk:fit", 64, {"scaling": "ntk", "factor": 4.0}),
        ("yarn:fit", 8, {"scaling": "yarn", "factor": 1.0}),
        ("dynamic", 64, {"scaling": "dynamic", "factor": 1.0}),
        ("theta:50000", 64, {"theta": 50000.0}),
    ],
)
def test_words_become_parameters(setting: str, length: int, values: dict[str, object]) -> None:
    assert variants.parameters("rope", setting, length, 16) == values


def test_alibi_takes_an_exponent() -> None:
    assert variants.parameters("alibi", "exponent:6", 64, 16) == {"exponent": 6.0}


@pytest.mark.parametrize("setting", variants.examples())
def test_each_example_changes_the_output_and_shares_the_weights(setting: str) -> None:
    plain = model("alibi" if setting.startswith("exponent") else "rope")
    varied = variants.vary(plain, setting, 64)
    ours, theirs = plain.blocks[0].qkv.weight, varied.blocks[0].qkv.weight
    assert ours.data_ptr() == theirs.data_ptr()  # type: ignore[operator, union-attr]
    long = TOKENS.repeat(1, 2)  # dynamic differs past the trained length alone
    assert (plain(long).logits - varied(long).logits).abs().max() > 1e-6


def test_pi_at_1_and_dynamic_within_the_trained_length_are_plain() -> None:
    plain = model("rope")
    for setting in ("linear:1", "ntk:1", "yarn:1", "llama3:1", "linear:fit", "dynamic"):
        varied = variants.vary(plain, setting, 16)
        assert torch.equal(plain(TOKENS[:, :16]).logits, varied(TOKENS[:, :16]).logits), setting


def test_theta_50000_is_ntk_at_its_own_s() -> None:
    """theta 50,000 = 10,000 s^(D/(D-2)) at s = 5^((D-2)/D): the same frequencies."""
    plain = model("rope")
    dim = plain.config.width // plain.config.heads
    ours = variants.vary(plain, "theta:50000", 16).encoding
    same = variants.vary(plain, f"ntk:{5 ** ((dim - 2) / dim)!r}", 16).encoding
    assert isinstance(ours, RoPE) and isinstance(same, RoPE)
    torch.testing.assert_close(ours.frequencies(16)[0], same.frequencies(16)[0], rtol=1e-12, atol=0)


@pytest.mark.parametrize(
    ("encoding", "setting", "words"),
    [
        ("alibi", "linear:4", "RoPE"),
        ("rope", "exponent:6", "ALiBi"),
        ("rope", "longer", "such as"),
        ("rope", "linear", "number"),
        ("rope", "linear:many", "number"),
        ("rope", "linear:inf", "number"),
        ("rope", "linear:0.5", "between 1 and"),
        ("rope", "dynamic:3", "such as"),
        ("alibi", "exponent:0", "between 0.5 and"),
    ],
)
def test_what_is_no_setting_is_refused(encoding: str, setting: str, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        variants.vary(model(encoding), setting, 64)
    assert words in str(caught.value)


def test_titles_name_encoding_and_setting() -> None:
    assert variants.title("rope") == get("rope").name
    assert variants.title("rope", "linear:4") == "RoPE, PI s = 4"
    assert variants.title("rope", "yarn:fit") == "RoPE, YaRN s = N / L"
    assert variants.title("rope", "dynamic") == "RoPE, dynamic NTK"
    assert variants.title("rope", "theta:50000") == "RoPE, θ = 50,000"
    assert variants.title("alibi", "exponent:6.5") == "ALiBi, exponent 6.5"


@pytest.mark.parametrize("encoding", ["nope", "sinusoidal", "learned", "t5", "alibi", "rope"])
def test_off_is_the_same_weights_without_their_encoding(encoding: str) -> None:
    plain = model(encoding)
    bare = variants.vary(plain, "off", 16)
    assert bare.config.encoding == "nope"
    assert bare.embedding.weight.data_ptr() == plain.embedding.weight.data_ptr()
    nope = Transformer(bare.config).eval().requires_grad_(False)
    shared = {n: w for n, w in plain.state_dict().items() if not n.startswith("encoding.")}
    nope.load_state_dict(shared)
    tokens = TOKENS[:, :16]
    torch.testing.assert_close(bare(tokens).logits, nope(tokens).logits)
    same = torch.allclose(bare(tokens).logits, plain(tokens).logits)
    assert same == (encoding == "nope")
