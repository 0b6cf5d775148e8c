"""p-RoPE: transformers' frequencies, its two ends, and a score that knows distance alone."""

from __future__ import annotations

import pytest
import torch

from viz_core.encodings import Geometry, get
from viz_core.encodings.prope import PRoPE
from viz_core.encodings.rope import rotate
from viz_core.errors import UsageError

GEOMETRY = Geometry(heads=2, head_dim=32, width=64, length=64)
SHARES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.99, 1.0)


def prope(share: float, **values: object) -> PRoPE:
    module = get("prope").make(GEOMETRY, {"share": share, **values})
    assert isinstance(module, PRoPE)
    return module


def randn(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.float64)


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("head_dim", [4, 32, 64])
def test_equals_transformers_proportional(head_dim: int, share: float) -> None:
    rope = pytest.importorskip("transformers.modeling_rope_utils")
    from transformers import LlamaConfig

    config = LlamaConfig(hidden_size=head_dim, num_attention_heads=1, head_dim=head_dim)
    config.rope_parameters = {
        "rope_type": "proportional",
        "rope_theta": 5000.0,
        "partial_rotary_factor": share,
    }
    theirs, _ = rope.ROPE_INIT_FUNCTIONS["proportional"](config)
    geometry = Geometry(1, head_dim, head_dim, 64)
    ours, factor = get("prope").make(geometry, {"share": share, "theta": 5000.0}).frequencies(9)
    still = torch.zeros(head_dim // 2 - len(ours), dtype=torch.float64)
    torch.testing.assert_close(torch.cat((ours, still)), theirs.double(), rtol=1e-6, atol=0)
    assert factor == 1


def test_golden_frequencies_are_the_fast_ones_of_the_whole_head() -> None:
    """Partial rotary of the same width has 1, .1, .01, .001 instead."""
    theta, _ = prope(0.25).frequencies(64)
    expected = torch.tensor([1, 0.56234133, 0.31622777, 0.17782794], dtype=torch.float64)
    torch.testing.assert_close(theta, expected, rtol=1e-7, atol=0)


def test_0_is_nope_and_1_is_rope() -> None:
    x, positions = randn(2, 40, 32), torch.arange(40)
    assert torch.equal(prope(0.0).rotate(x, positions, 40), x)
    rope = get("rope").make(GEOMETRY)
    assert torch.equal(prope(1.0).rotate(x, positions, 40), rope.rotate(x, positions, 40))


def test_pairs_in_another_order_give_the_same_scores() -> None:
    """Pairs k and k + D / 2 among all channels, as transformers has them."""
    q, k, positions = randn(2, 40, 32), randn(2, 40, 32), torch.arange(40)
    module = prope(0.5)
    theta = torch.cat((module.frequencies(40)[0], torch.zeros(8).double()))
    angle = positions.double()[:, None] * theta
    theirs = rotate(q, angle) @ rotate(k, angle).transpose(1, 2)
    pairs = torch.arange(8)
    order = torch.cat((pairs, 16 + pairs, 8 + pairs, 24 + pairs))  # turning channels first
    ours = module.rotate(q[..., order], positions, 40) @ module.rotate_key(
        k[..., order], positions, 40
    ).transpose(1, 2)
    torch.testing.assert_close(ours, theirs)


@pytest.mark.parametrize("share", SHARES)
def test_law_is_what_constant_vectors_score(share: float) -> None:
    q, k, count, module = randn(2, 32), randn(2, 32), 60, prope(share)
    query = module.rotate(q[:, None], torch.tensor([count - 1]), count)
    keys = module.rotate_key(k[:, None].expand(2, count, 32), torch.arange(count), count)
    scores = 0.3 * (query @ keys.transpose(1, 2))[:, 0].flip(-1)
    law = module.law(torch.arange(count), q, k, 0.3)
    torch.testing.assert_close(law.double(), scores, atol=1e-5, rtol=1e-5)


def test_an_odd_head_is_refused() -> None:
    with pytest.raises(UsageError, match="Expected an even head width for p-RoPE; got 5"):
        get("prope").make(Geometry(1, 5, 5, 64))
