"""RoPE's frequencies under each scaling: golden numbers, transformers' functions, identities."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from viz_core.encodings._scalings import SCALINGS, Scaling, frequencies
from viz_core.errors import UsageError

DEFAULT = [10 ** (-k / 4) for k in range(16)]  # D = 32, base 10 000
LINEAR = [x / 4 for x in DEFAULT]
NTK = [
    *(1, 0.51269925, 0.26286051, 0.13476838, 0.069095641, 0.035425283, 0.018162515),
    *(0.0093119079, 0.0047742077, 0.0024477327, 0.0012549507, 0.00064341223),
    *(0.00032987699, 0.00016912767, 8.6711632e-5, 4.4456981e-5),
]
YARN_512 = [0.28234622, 0.13972194, 0.067857139, 0.032133788, 0.014682004, 0.0063509978]
YARN_512_EXACT = [0.30140647, 0.14734088, 0.070398636, 0.032582846, 0.014383359, 0.0058731129]
YARN_2048 = [0.050209042, 0.02484647, 0.012066896, 0.0057142857, 0.0026108704, 0.001129385]
GOLDEN = {  # (scaling, trained length L, seen N): frequencies at D = 32, factor 4
    "none": (Scaling(), 512, None, DEFAULT),
    "linear": (Scaling("linear", 4), 512, None, LINEAR),
    "ntk": (Scaling("ntk", 4), 512, None, NTK),
    "dynamic at L": (Scaling("dynamic", 4), 512, 512, DEFAULT),
    "dynamic at 4 L": (Scaling("dynamic"), 512, 2048, NTK),
    "yarn": (Scaling("yarn", 4), 512, None, DEFAULT[:2] + YARN_512 + LINEAR[8:]),
    "yarn, no truncation": (
        Scaling("yarn", 4, truncate=False),
        512,
        None,
        DEFAULT[:2] + YARN_512_EXACT + LINEAR[8:],
    ),
    "yarn, L 2048": (Scaling("yarn", 4), 2048, None, DEFAULT[:5] + YARN_2048 + LINEAR[11:]),
    "llama3": (
        Scaling("llama3", 4),
        512,
        None,
        [*DEFAULT[:6], 0.020371834, 0.0064421394, *LINEAR[8:]],
    ),
}
NTK_BASES = {  # by head width, then factor
    32: {2: 20945.882, 4: 43872.9992, 8: 91895.868, 16: 192484.006},
    64: {2: 20452.229, 4: 41829.366, 8: 85550.376},
    128: {2: 20221.262, 4: 40889.942, 8: 82684.623},
}
WIDTHS, BASES, FACTORS = (4, 32, 64, 128), (10_000.0, 50_000.0, 500_000.0), (1.0, 1.5, 4.0, 16.0)


def same(a: Tensor, b: Tensor | list[float], rtol: float = 1e-12) -> None:
    torch.testing.assert_close(a, torch.as_tensor(b, dtype=torch.float64), rtol=rtol, atol=0)


def base_of(theta: Tensor) -> float:
    """The base b of theta_k = b^(-2k/D), from its second frequency."""
    return float(theta[1]) ** -len(theta)


@pytest.mark.parametrize("name", GOLDEN)
def test_golden_frequencies(name: str) -> None:
    scaling, length, seen, expected = GOLDEN[name]
    same(frequencies(32, 10_000, scaling, length, seen)[0], expected, rtol=1e-6)


@pytest.mark.parametrize("head_dim", NTK_BASES)
def test_golden_bases_of_ntk(head_dim: int) -> None:
    for factor, base in NTK_BASES[head_dim].items():
        theta, on_cos = frequencies(head_dim, scaling=Scaling("ntk", factor))
        assert base_of(theta) == pytest.approx(base, rel=1e-7)
        assert on_cos == 1


@pytest.mark.parametrize(("seen", "base"), [(1024, 55663.1788), (2048, 154243.2766)])
def test_golden_bases_of_dynamic_with_factor_4(seen: int, base: float) -> None:
    """alpha = f N / L - (f - 1), so that the factor is not the target extension."""
    theta, _ = frequencies(32, scaling=Scaling("dynamic", 4), length=512, seen=seen)
    assert base_of(theta) == pytest.approx(base, rel=1e-8)


def test_dynamic_keeps_no_memory_of_longer_inputs() -> None:
    """transformers' module does: it keeps the base of the longest input until one is < L."""
    lengths = [256, 1024, 2048, 1024, 512, 511, 1024]
    bases = [
        base_of(frequencies(32, scaling=Scaling("dynamic"), length=512, seen=n)[0]) for n in lengths
    ]
    golden = [10_000, 20945.8825, 43872.9992, 20945.8825, 10_000, 10_000, 20945.8825]
    assert bases == pytest.approx(golden, rel=1e-8)


@pytest.mark.parametrize(
    ("factor", "on_cos", "on_logits"),
    [(1, 1, 1), (4, 1.138629, 1.296477), (8, 1.207944, 1.459129), (16, 1.277259, 1.631390)],
)
def test_golden_temperatures_of_yarn(factor: float, on_cos: float, on_logits: float) -> None:
    got = frequencies(32, scaling=Scaling("yarn", factor))[1]
    assert (got, got**2) == pytest.approx((on_cos, on_logits), rel=1e-6)


@pytest.mark.parametrize(
    ("base", "longest"),
    [
        (1e4, (35333, 47117, 54410)),
        (5e4, (159759, 224030, 265295)),
        (5e5, (1.38e6, 2.08e6, 2.56e6)),
    ],
)
def test_golden_longest_wavelengths(base: float, longest: tuple[float, ...]) -> None:
    got = [2 * math.pi / float(frequencies(d, base)[0][-1]) for d in (32, 64, 128)]
    assert got == pytest.approx(longest, rel=3e-3 if base == 5e5 else 2e-5)


@pytest.mark.parametrize("length", [64, 512, 2048, 8192])
@pytest.mark.parametrize(
    ("kind", "truncate"),
    [("linear", True), ("dynamic", True), ("yarn", True), ("yarn", False), ("llama3", True)],
)
def test_equals_transformers(kind: str, length: int, truncate: bool) -> None:
    rope = pytest.importorskip("transformers.modeling_rope_utils")
    from transformers import LlamaConfig

    extra = {
        "yarn": {"original_max_position_embeddings": length, "truncate": truncate},
        "llama3": {
            "original_max_position_embeddings": length,
            "low_freq_factor": 1.0,
            "high_freq_factor": 4.0,
        },
    }.get(kind, {})
    lengths = (None, length // 2, length, 2 * length, 5 * length) if kind == "dynamic" else (None,)
    for head_dim in WIDTHS:
        config = LlamaConfig(
            hidden_size=head_dim,
            num_attention_heads=1,
            num_key_value_heads=1,
            head_dim=head_dim,
            max_position_embeddings=length,
        )
        for base in BASES:
            for factor in FACTORS:
                config.rope_parameters = {
                    "rope_type": kind,
                    "rope_theta": base,
                    "factor": factor,
                    **extra,
                }
                for seen in lengths:
                    theirs, their_factor = rope.ROPE_INIT_FUNCTIONS[kind](config, seq_len=seen)
                    ours, our_factor = frequencies(
                        head_dim, base, Scaling(kind, factor, truncate=truncate), length, seen
                    )
                    same(ours, theirs.double(), rtol=3e-6)  # theirs in float32
                    assert our_factor == pytest.approx(their_factor, rel=1e-12)


@pytest.mark.parametrize("kind", SCALINGS)
@pytest.mark.parametrize("head_dim", WIDTHS)
def test_factor_1_is_plain(kind: str, head_dim: int) -> None:
    theta, on_cos = frequencies(head_dim, scaling=Scaling(kind, 1.0), length=512, seen=300)
    same(theta, frequencies(head_dim)[0])
    assert on_cos == 1


@pytest.mark.parametrize("kind", SCALINGS[1:])
@pytest.mark.parametrize("head_dim", WIDTHS)
def test_no_scaling_speeds_a_pair_up_or_slows_it_more_than_the_factor(
    kind: str, head_dim: int
) -> None:
    theta, _ = frequencies(head_dim, scaling=Scaling(kind, 4.0), length=512, seen=512)
    ratio = theta / frequencies(head_dim)[0]
    assert (ratio <= 1 + 1e-12).all() and (ratio >= 1 / 4 - 1e-12).all()


@pytest.mark.parametrize("factor", [2.0, 4.0, 7.5])
@pytest.mark.parametrize("head_dim", WIDTHS)
def test_ntk_keeps_the_first_pair_and_divides_the_last_by_the_factor(
    head_dim: int, factor: float
) -> None:
    plain, _ = frequencies(head_dim)
    theta, _ = frequencies(head_dim, scaling=Scaling("ntk", factor))
    assert theta[0] == plain[0]
    same(theta[-1], plain[-1] / factor)


@pytest.mark.parametrize("head_dim", WIDTHS)
def test_theta_50_000_is_ntk_in_disguise(head_dim: int) -> None:
    disguised = Scaling("ntk", 5 ** ((head_dim - 2) / head_dim))
    same(frequencies(head_dim, 50_000)[0], frequencies(head_dim, 10_000, disguised)[0])


@pytest.mark.parametrize("seen", [None, 1, 511, 512, 513, 1024, 5000])
def test_dynamic_with_factor_1_is_ntk_at_the_ratio_of_lengths(seen: int | None) -> None:
    ratio = max(seen or 0, 512) / 512
    dynamic, _ = frequencies(32, scaling=Scaling("dynamic"), length=512, seen=seen)
    same(dynamic, frequencies(32, scaling=Scaling("ntk", ratio))[0])


@pytest.mark.parametrize("seen", [1, 300, 512])
def test_dynamic_is_plain_up_to_the_trained_length_whatever_its_factor(seen: int) -> None:
    for factor in FACTORS:
        theta, _ = frequencies(32, scaling=Scaling("dynamic", factor), length=512, seen=seen)
        same(theta, DEFAULT)


def test_only_dynamic_depends_on_the_length_seen() -> None:
    for kind in SCALINGS:
        a, b = (frequencies(32, scaling=Scaling(kind, 4.0), seen=n)[0] for n in (512, 4096))
        assert torch.equal(a, b) == (kind != "dynamic")


@pytest.mark.parametrize("length", [1, 5, 64, 1 << 20])
@pytest.mark.parametrize("base", [2.0, 10_000.0, 1e9])
@pytest.mark.parametrize("kind", SCALINGS)
def test_corners_give_finite_positive_frequencies(kind: str, base: float, length: int) -> None:
    for head_dim in WIDTHS:
        theta, on_cos = frequencies(head_dim, base, Scaling(kind, 8.0), length, 3 * length)
        assert torch.isfinite(theta).all() and (theta > 0).all() and math.isfinite(on_cos)
        assert (theta <= frequencies(head_dim, base)[0] * (1 + 1e-12)).all()


def test_an_unknown_scaling_is_named_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match="none, linear, ntk, dynamic, yarn, llama3; got 'su'"):
        frequencies(32, scaling=Scaling("su"))
