"""The model: caching, causality, both attention paths and equal starts, for every encoding."""

from __future__ import annotations

from itertools import pairwise

import pytest
import torch
from torch import Tensor

from viz_core import kernels
from viz_core.encodings import Value, all_encodings
from viz_core.encodings._scalings import SCALINGS
from viz_core.errors import LengthError
from viz_core.model import Layer, ModelConfig, Transformer

COUNT, VOCABULARY = 37, 19
VARIANTS: dict[str, tuple[str, dict[str, Value]]] = {
    **{name: (name, {}) for name in all_encodings()},
    **{f"rope {s}": ("rope", {"scaling": s, "factor": 4.0}) for s in SCALINGS},
    "rope interleaved": ("rope", {"layout": "interleaved"}),
    "t5 small": ("t5", {"buckets": 8, "max_distance": 16}),
}
each_variant = pytest.mark.parametrize("variant", VARIANTS)
CHUNKS = [5, 1, 16, 2, 13]


def model(
    variant: str, length: int = 64, heads: int = 3, dtype: torch.dtype = torch.float64
) -> Transformer:
    """A small model whose logits and positions are large enough for a gap to be seen."""
    encoding, parameters = VARIANTS[variant]
    torch.manual_seed(0)
    made = Transformer(
        ModelConfig(encoding, 2, heads, 8 * heads, VOCABULARY, length, parameters=parameters)
    )
    with torch.no_grad():
        made.embedding.weight.mul_(10)  # from logits of about 0.1 to about 1
    return made.to(dtype).eval()


def tokens(count: int = COUNT, batch: int = 2) -> Tensor:
    generator = torch.Generator().manual_seed(1)
    return torch.randint(VOCABULARY, (batch, count), generator=generator)


def decode(made: Transformer, ids: Tensor, chunks: list[int], trace: bool = False) -> Tensor:
    """Logits of `ids`, computed chunk by chunk with the cache."""
    past: tuple[Layer, ...] | None = None
    parts = []
    for part in ids.split(chunks, dim=1):
        output = made(part, past=past, trace=trace)
        past = output.layers
        parts.append(output.logits)
    return torch.cat(parts, dim=1)


def gap(a: Tensor, b: Tensor) -> float:
    return float((a - b).abs().max())


@pytest.mark.parametrize(
    ("dtype", "tolerance"), [(torch.float64, 1e-9), (torch.float32, 1e-4)], ids=["f64", "f32"]
)
@each_variant
@torch.no_grad()
def test_decoding_with_the_cache_equals_one_full_pass(
    variant: str, dtype: torch.dtype, tolerance: float
) -> None:
    """Also past the trained length, except for dynamic NTK and where positions end there."""
    ends = variant in ("learned", "rope dynamic")
    made = model(variant, length=COUNT if ends else 16, dtype=dtype)
    full = made(tokens()).logits
    assert full.std() > 0.3
    assert gap(decode(made, tokens(), [1] * COUNT), full) < tolerance
    assert gap(decode(made, tokens(), CHUNKS), full) < tolerance
    assert gap(decode(made, tokens(), CHUNKS, trace=True), full) < tolerance


@torch.no_grad()
def test_decoding_with_dynamic_ntk_departs_past_the_trained_length() -> None:
    """Its base grows with the length seen, and the cache holds keys after rotation.

    Keys that were rotated at one base then meet queries rotated at another; a full pass has one
    base for all (YaRN, section 3.3). Up to the trained length there is one base in both.
    """
    made, ids = model("rope dynamic", length=16), tokens()
    full = made(ids)
    assert gap(decode(made, ids, [1] * COUNT), full.logits) > 1e-2
    last = made(ids[:, -1:], past=made(ids[:, :-1]).layers)
    assert gap(last.logits[:, -1], full.logits[:, -1]) > 1e-4  # even with a cache one token old
    bottom, whole = last.layers[0], full.layers[0]  # no attention before it: differs by base alone
    assert gap(bottom.q[:, :, -1], whole.q[:, :, -1]) < 1e-12
    assert gap(bottom.k[:, :, -1], whole.k[:, :, -1]) < 1e-12
    assert gap(bottom.k[:, :, 1:-1], whole.k[:, :, 1:-1]) > 1e-2
    assert gap(decode(made, tokens(16), [1] * 16), made(tokens(16)).logits) < 1e-9


@each_variant
@torch.no_grad()
def test_a_token_changes_nothing_before_itself(variant: str) -> None:
    made, ids, at = model(variant), tokens(), 20
    changed = ids.clone()
    changed[:, at] = (changed[:, at] + 1) % VOCABULARY
    for trace in (False, True):
        a, b = made(ids, trace=trace).logits, made(changed, trace=trace).logits
        assert gap(a[:, :at], b[:, :at]) < 1e-12
        assert all(gap(a[:, i], b[:, i]) > 1e-6 for i in range(at, COUNT))


@pytest.mark.parametrize(
    ("heads", "rows"), [(3, 8), (4, kernels.FUSED_ROWS)], ids=["8 rows", "one block"]
)
@each_variant
@torch.no_grad()
def test_a_trace_computes_what_a_plain_pass_does(
    variant: str, heads: int, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernels, "FUSED_ROWS", rows)
    made = model(variant, heads=heads)
    plain, traced = made(tokens()), made(tokens(), trace=True)
    assert gap(plain.logits, traced.logits) < 1e-10
    for a, b in zip(plain.layers, traced.layers, strict=True):
        assert a.lse is None and b.lse is not None
        assert all(gap(x, y) < 1e-10 for x, y in zip(a[:3], b[:3], strict=True))


def test_what_is_not_kept_changes_nothing() -> None:
    made = model("rope")
    kept, light = made(tokens()), made(tokens(), keep=False)
    assert torch.equal(kept.logits, light.logits) and torch.equal(kept.stream, light.stream)
    assert len(kept.layers) == len(made.blocks) and light.layers == ()


@each_variant
@torch.no_grad()
def test_lse_is_the_log_normaliser_of_dense_logits(
    variant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernels, "FUSED_ROWS", 8)
    made = model(variant)
    distance = torch.arange(COUNT)[:, None] - torch.arange(COUNT)
    bias = made.encoding.bias(distance.clamp(min=0))
    for layer in made(tokens(), trace=True).layers:
        logits = made.config.scale * layer.q @ layer.k.transpose(-1, -2)
        if bias is not None:
            logits = logits + bias
        logits = logits.masked_fill(distance < 0, float("-inf"))
        assert layer.lse is not None
        assert gap(torch.logsumexp(logits, dim=-1), layer.lse) < 1e-12


@pytest.mark.parametrize("rows", [(0, 9), (3, 4), (5, 9)])
@pytest.mark.parametrize("columns", [(0, 9), (2, 5), (8, 9)])
def test_a_block_is_cut_from_the_band_as_from_the_full_matrix(
    rows: tuple[int, int], columns: tuple[int, int]
) -> None:
    encoding = model("alibi", heads=4).encoding
    distance = torch.arange(9)[:, None] - torch.arange(9)
    full = encoding.bias(distance.clamp(min=0))
    assert full is not None
    full = full.masked_fill(distance < 0, float("-inf"))
    block = kernels.cut(kernels.band(encoding, 9, torch.zeros(())), rows, columns)
    assert torch.equal(block, full[:, rows[0] : rows[1], columns[0] : columns[1]])


@each_variant
def test_all_encodings_start_from_equal_shared_weights(variant: str) -> None:
    def shared(name: str) -> dict[str, Tensor]:
        state = model(name).state_dict()
        return {key: w for key, w in state.items() if not key.startswith("encoding.")}

    first, other = shared("nope"), shared(variant)
    assert first.keys() == other.keys()
    assert all(torch.equal(first[key], other[key]) for key in first)


@torch.no_grad()
def test_encodings_differ_in_what_they_compute() -> None:
    logits = [model(variant)(tokens()).logits for variant in all_encodings()]
    assert all(gap(a, b) > 1e-3 for a, b in pairwise(logits))


@torch.no_grad()
def test_without_head_only_the_logits_are_missing() -> None:
    made = model("alibi")
    bare, whole = made(tokens(), trace=True, head=False), made(tokens(), trace=True)
    assert bare.logits.shape == (2, COUNT, 0)
    assert all(torch.equal(a.q, b.q) for a, b in zip(bare.layers, whole.layers, strict=True))


@torch.no_grad()
def test_learned_positions_end_with_an_error_in_a_full_pass_and_in_decoding() -> None:
    made = model("learned", length=16)
    past = made(tokens(16)).layers
    for act in (lambda: made(tokens(17)), lambda: made(tokens(1), past=past)):
        with pytest.raises(LengthError) as caught:
            act()
        assert caught.value.largest == 16


@each_variant
def test_every_weight_learns(variant: str) -> None:
    made = model(variant)
    made(tokens()).logits.logsumexp(-1).sum().backward()
    for name, weight in made.named_parameters():
        assert weight.grad is not None and weight.grad.abs().sum() > 0, name
