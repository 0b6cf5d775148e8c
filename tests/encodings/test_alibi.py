"""ALiBi: golden slopes, BLOOM's and MPT's code beside ours, and what zero content attends to."""

from __future__ import annotations

import math

import pytest
import torch

from viz_core.encodings import Geometry, get
from viz_core.encodings.alibi import ALiBi, slopes

EIGHT = [0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125, 0.00390625]
GOLDEN = {
    1: [0.00390625],
    4: [0.25, 0.0625, 0.015625, 0.00390625],
    6: [0.25, 0.0625, 0.015625, 0.00390625, 0.5, 0.125],
    8: EIGHT,
    12: [*EIGHT, 0.707106781, 0.353553391, 0.176776695, 0.0883883476],
    16: [2 ** (-k / 2) for k in range(1, 17)],
}


def alibi(heads: int, exponent: float = 8.0) -> ALiBi:
    return get("alibi").make(Geometry(heads, 4, 4 * heads, 32), {"exponent": exponent})


@pytest.mark.parametrize("heads", GOLDEN)
def test_golden_slopes(heads: int) -> None:
    expected = torch.tensor(GOLDEN[heads], dtype=torch.float64)
    torch.testing.assert_close(slopes(heads), expected, rtol=1e-8, atol=0)


def test_equals_bloom_for_each_number_of_heads() -> None:
    bloom = pytest.importorskip("transformers.models.bloom.modeling_bloom")
    for heads in range(1, 65):
        theirs = bloom._get_alibi_slopes(heads, torch.device("cpu"))
        torch.testing.assert_close(slopes(heads).float(), theirs, rtol=1e-5, atol=0)
        # BLOOM adds +m j to every row; -m i more, a constant of row i, makes it -m (i - j)
        added = bloom.build_alibi_tensor(torch.ones(1, 9).long(), heads, torch.float32)[:, 0]
        row = added - added[:, -1:]
        ours = alibi(heads).bias(torch.arange(8, -1, -1))
        torch.testing.assert_close(ours, row, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("exponent", [2.0, 8.0, 16.0])
def test_equals_mpt_for_each_number_of_heads(exponent: float) -> None:
    """MPT counts from the last key, so its row is ours; `alibi_bias_max` is our exponent."""
    mpt = pytest.importorskip("transformers.models.mpt.modeling_mpt")
    for heads in range(1, 65):
        theirs = mpt.build_mpt_alibi_tensor(heads, 33, alibi_bias_max=exponent)[:, 0]
        ours = alibi(heads, exponent).bias(torch.arange(32, -1, -1))
        torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=0)


@pytest.mark.parametrize("exponent", [4.0, 8.0, 16.0])
@pytest.mark.parametrize("heads", [3, 6, 12, 20])
def test_the_two_constants_of_the_published_code_move_together(heads: int, exponent: float) -> None:
    """The code's -8 and -4 are one number and its half: the same curve at half steps."""
    lower = 2 ** int(math.log2(heads))
    first = (2 ** (-exponent / lower)) ** torch.arange(1, lower + 1).double()
    odd = torch.arange(1, 2 * (heads - lower), 2).double()
    between = (2 ** (-(exponent / 2) / lower)) ** odd
    torch.testing.assert_close(slopes(heads, exponent), torch.cat((first, between)))


def test_is_not_the_paper_s_sentence_read_literally_for_12_heads() -> None:
    literal = 2 ** (-8 * torch.arange(1, 13).double() / 12)
    assert not torch.allclose(slopes(12).sort().values, literal.sort().values, rtol=0.1)


@pytest.mark.parametrize(
    ("head", "row"),
    [
        (0, [0.0340, 0.0560, 0.0924, 0.1523, 0.2512, 0.4141]),
        (7, [0.1650, 0.1657, 0.1663, 0.1670, 0.1676, 0.1683]),
    ],
)
def test_golden_row_of_attention_without_content(head: int, row: list[float]) -> None:
    attention = alibi(8).bias(torch.arange(5, -1, -1))[head].softmax(-1)
    torch.testing.assert_close(attention, torch.tensor(row), atol=6e-5, rtol=0)


def test_golden_reach_of_each_head_without_content() -> None:
    """Half-life, mean distance and entropy (nats) of the 8 heads over a long context."""
    d = torch.arange(20_000)
    bias = alibi(8).bias(d).double()
    weight = bias.softmax(-1)
    half = math.log(2) / -bias[:, 1]
    mean = (weight * d).sum(-1)
    entropy = torch.special.entr(weight).sum(-1)
    golden = {
        "half": [1.386, 2.773, 5.545, 11.09, 22.18, 44.36, 88.72, 177.4],
        "mean": [1.54, 3.52, 7.51, 15.5, 31.5, 63.5, 127.5, 255.5],
        "entropy": [1.70, 2.39, 3.08, 3.77, 4.47, 5.16, 5.85, 6.55],
    }
    for name, value in (("half", half), ("mean", mean), ("entropy", entropy)):
        expected = torch.tensor(golden[name]).double()
        torch.testing.assert_close(value, expected, rtol=2e-3, atol=5e-3, msg=name)


def test_bias_is_exactly_linear_to_any_distance_even_in_a_bfloat16_model() -> None:
    """In bfloat16 m d would be a staircase, with steps of 16 tokens by distance 2048."""
    d = torch.arange(100_000)
    for module in (alibi(8), alibi(8).bfloat16()):
        bias = module.bias(d)
        assert bias.dtype == torch.float32
        assert torch.equal(bias, -torch.tensor(EIGHT)[:, None] * d)
    assert torch.equal(alibi(12).bfloat16().bias(d), alibi(12).bias(d))


def test_slopes_are_fixed_and_not_stored() -> None:
    assert not list(alibi(8).parameters())
    assert not alibi(8).state_dict()
