"""RoPE: golden vectors, Llama's and GPT-J's code beside ours, and what scores depend on."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from viz_core.encodings import Geometry, get
from viz_core.encodings._scalings import SCALINGS
from viz_core.encodings.rope import (
    LAYOUTS,
    RoPE,
    envelope,
    frequencies,
    rotate,
    to_half,
    to_interleaved,
)
from viz_core.errors import UsageError

GOLDEN = {  # x = [1, 2, 3, 4] at base 10 000, by (layout, position)
    ("interleaved", 1): [-1.14264, 1.92208, 2.95985, 4.02980],
    ("interleaved", 2): [-2.23474, 0.07700, 2.91941, 4.05920],
    ("half", 1): [-1.98411, 1.95990, 2.46238, 4.01980],
    ("half", 2): [-3.14404, 1.91961, -0.33914, 4.03920],
}
ENVELOPE = {  # by head width, "distance:value"
    32: "0:8.5 1:8.1459 2:7.226 4:5.4221 8:4.9701 16:3.5713 32:3.8343 64:3.4351 128:3.4202 "
    "256:3.2139 512:2.4527 1024:1.8206 2048:2.384 4096:1.7684",
    64: "0:16.5 1:15.9478 4:11.1427 16:7.6497 64:5.6999 256:3.8436 1024:3.0651 4096:5.2871",
    128: "0:32.5 1:31.5382 4:22.604 16:15.775 64:10.0899 256:6.5431 1024:4.0241 4096:4.8828",
}
ALL_ONES = (
    "1:.9571 4:.7288 16:.4953 32:.6016 64:.5373 128:.2457 256:.4163 512:.0167 1024:.2638 "
    "4096:-.0357"
)


def curve(text: str) -> tuple[Tensor, Tensor]:
    """Distances and values of a golden curve."""
    pairs = [pair.split(":") for pair in text.split()]
    return torch.tensor([int(d) for d, _ in pairs]), torch.tensor([float(v) for _, v in pairs])


def rope(head_dim: int = 32, length: int = 512, **values: object) -> RoPE:
    return get("rope").make(Geometry(2, head_dim, 2 * head_dim, length), values)


def randn(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(0))


def close(a: Tensor, b: Tensor, atol: float = 1e-10) -> None:
    torch.testing.assert_close(a, b, atol=atol, rtol=0)


@pytest.mark.parametrize(("layout", "position"), GOLDEN)
def test_golden_vectors(layout: str, position: int) -> None:
    x = torch.tensor([[1.0, 2.0, 3.0, 4.0]]).double()
    turned = rope(4, layout=layout).rotate(x, torch.tensor([position]), position + 1)
    close(turned, torch.tensor([GOLDEN[layout, position]]).double(), atol=1e-5)


def test_equals_llama() -> None:
    llama = pytest.importorskip("transformers.models.llama.modeling_llama")
    q, k, positions = randn(1, 3, 40, 32), randn(1, 3, 40, 32), torch.arange(40)
    angle = positions.double()[:, None] * frequencies(32)[0]
    double = torch.cat((angle, angle), dim=-1)[None]
    theirs = llama.apply_rotary_pos_emb(q, k, double.cos(), double.sin())
    for x, their in zip((q, k), theirs, strict=True):
        close(rope().rotate(x, positions, 40), their)


def test_equals_gptj() -> None:
    gptj = pytest.importorskip("transformers.models.gptj.modeling_gptj")
    x, positions = randn(1, 40, 3, 32), torch.arange(40)  # position before head there
    angle = (positions.double()[:, None] * frequencies(32)[0])[None]
    theirs = gptj.apply_rotary_pos_emb(x, angle.sin(), angle.cos()).transpose(1, 2)
    close(rope(layout="interleaved").rotate(x.transpose(1, 2), positions, 40), theirs)


def test_layouts_agree_once_queries_and_keys_are_both_converted() -> None:
    q, k = randn(2, 20, 32)
    angle = torch.arange(20).double()[:, None] * frequencies(32)[0]

    def scores(q: Tensor, k: Tensor, layout: str) -> Tensor:
        return rotate(q, angle, layout) @ rotate(k, angle, layout).T

    expected = scores(q, k, "interleaved")
    close(scores(to_half(q), to_half(k), "half"), expected)
    close(to_half(rotate(q, angle, "interleaved")), rotate(to_half(q), angle, "half"))
    for unconverted in (scores(q, k, "half"), scores(to_half(q), k, "half")):
        assert (unconverted - expected).abs().max() > 1
    assert torch.equal(to_interleaved(to_half(q)), q)


def test_conversion_of_weights_is_transformers_permutation() -> None:
    heads, head_dim, width = 3, 8, 5
    weight = randn(heads * head_dim, width)
    theirs = weight.view(heads, head_dim // 2, 2, width).transpose(1, 2).reshape(-1, width)
    per_head = weight.view(heads, head_dim, width).transpose(1, 2)
    assert torch.equal(to_half(per_head).transpose(1, 2).reshape(-1, width), theirs)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("scaling", SCALINGS)
@pytest.mark.parametrize("offset", [1, 5000, 100_000])
def test_scores_depend_on_distance_only(offset: int, scaling: str, layout: str) -> None:
    module, positions = rope(scaling=scaling, factor=4, layout=layout), torch.arange(30)
    q, k = randn(2, 30, 32)

    def scores(start: int) -> Tensor:
        turned = (module.rotate(x, positions + start, 200_000) for x in (q, k))
        return next(turned) @ next(turned).T

    close(scores(offset), scores(0), atol=1e-9)


def test_float32_keeps_its_digits_at_far_positions() -> None:
    """Angles taken in float32 would be off by up to 0.004 at position 100 000."""
    module, positions = rope(), torch.arange(100_000, 100_030)
    x = randn(30, 32)
    single, double = (module.rotate(y, positions, 100_030) for y in (x.float(), x))
    close(single.double(), double, atol=3e-6)


@pytest.mark.parametrize("scaling", SCALINGS)
def test_rotation_keeps_norms_up_to_the_temperature(scaling: str) -> None:
    module, x = rope(scaling=scaling, factor=4), randn(2, 50, 32)
    factor = 1.138629436 if scaling == "yarn" else 1.0
    for turned in module.rotate(x, torch.arange(50), 50):
        assert turned.shape == (50, 32)
    close(module.rotate(x, torch.arange(50), 50).norm(dim=-1), x.norm(dim=-1) * factor, atol=1e-7)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("scaling", SCALINGS)
def test_law_is_the_score_of_the_rotated_mean_vectors(scaling: str, layout: str) -> None:
    module = rope(scaling=scaling, factor=4, layout=layout, length=64)
    q, k = randn(2, 2, 32)  # [head, channel] each
    count, scale = 300, 32**-0.5
    last = torch.tensor([count - 1])
    query = module.rotate(q[:, None], last, count)
    keys = module.rotate(k[:, None].expand(2, count, 32), torch.arange(count), count)
    scores = scale * (query @ keys.transpose(1, 2))[:, 0].flip(-1)  # by distance
    law = module.law(torch.arange(count), q, k, scale)
    close(law.double(), scores, atol=1e-5)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("scaling", SCALINGS)
def test_partial_rotary_turns_the_first_channels_as_a_narrower_head_would(
    scaling: str, layout: str
) -> None:
    """The exponent counts in the width that turns; the other channels stay as they are."""
    values: dict[str, object] = {"scaling": scaling, "factor": 4, "layout": layout}
    module, narrow = rope(rotary=12, **values), rope(12, **values)
    x, positions = randn(2, 40, 32), torch.arange(40)
    turned = module.rotate(x, positions, 40)
    assert torch.equal(turned[..., :12], narrow.rotate(x[..., :12], positions, 40))
    assert torch.equal(turned[..., 12:], x[..., 12:])
    close(module.unrotate(turned, positions, 40), x)
    whole, none = rope(rotary=32, **values), rope(**values)
    assert torch.equal(whole.rotate(x, positions, 40), none.rotate(x, positions, 40))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_law_of_partial_rotary_is_exact_too(layout: str) -> None:
    module, (q, k) = rope(layout=layout, rotary=12), randn(2, 2, 32)
    count, scale = 100, 32**-0.5
    query = module.rotate(q[:, None], torch.tensor([count - 1]), count)
    keys = module.rotate(k[:, None].expand(2, count, 32), torch.arange(count), count)
    scores = scale * (query @ keys.transpose(1, 2))[:, 0].flip(-1)  # by distance
    close(module.law(torch.arange(count), q, k, scale).double(), scores, atol=1e-5)


@pytest.mark.parametrize(("rotary", "words"), [(34, "at most the head's 32"), (7, "got 7")])
def test_a_width_that_cannot_turn_is_refused(rotary: int, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        rope(rotary=rotary)


def test_golden_law_of_constant_vectors() -> None:
    """mean_k cos(d theta_k): the curve for queries and keys of ones."""
    distance, expected = curve(ALL_ONES)
    law = rope().law(distance, torch.ones(2, 32), torch.ones(2, 32), 1 / 32)
    close(law[0], expected, atol=6e-5)
    assert torch.equal(law[0], law[1])


@pytest.mark.parametrize("head_dim", ENVELOPE)
def test_golden_envelope(head_dim: int) -> None:
    distance, expected = curve(ENVELOPE[head_dim])
    close(envelope(distance, head_dim), expected.double(), atol=6e-5)


def test_parameters_reach_the_frequencies() -> None:
    close(rope(theta=50_000).frequencies(1)[0], frequencies(32, 50_000)[0])
    for kind in SCALINGS:
        module = rope(scaling=kind, factor=4, length=128)
        theta, factor = module.frequencies(1024)
        scaled, on_cos = frequencies(32, 10_000, module.scaling, 128, 1024)
        assert torch.equal(theta, scaled) and factor == on_cos
        assert (module.scaling.kind, module.scaling.factor) == (kind, 4)


@pytest.mark.parametrize(("head_dim", "scaling"), [(5, "none"), (2, "ntk"), (2, "dynamic")])
def test_a_head_width_without_meaning_is_refused(head_dim: int, scaling: str) -> None:
    """Odd: a channel without a partner. 2 with NTK: the one pair is both first and last."""
    with pytest.raises(UsageError, match=f"got {head_dim}"):
        rope(head_dim, scaling=scaling)
    rope(2).rotate(randn(3, 2), torch.arange(3), 3)
