"""The mechanism against maps held whole, closed forms and ALiBi's golden numbers; RoPE's angles."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch import Tensor

from viz_core import encodings, kernels, mechanism
from viz_core.encodings import Geometry, PositionEncoding, Value
from viz_core.encodings.rope import RoPE
from viz_core.errors import LengthError
from viz_core.mechanism import unseen_phases
from viz_core.subject import LayerTrace
from viz_core.trace import Trace

SCALED: dict[str, dict[str, Value]] = {
    "plain": {},
    "PI": {"scaling": "linear", "factor": 3.0},
    "ntk": {"scaling": "ntk", "factor": 4.0},
    "dynamic": {"scaling": "dynamic"},
    "yarn": {"scaling": "yarn", "factor": 2.0},
    "llama3": {"scaling": "llama3", "factor": 8.0},
    "theta": {"theta": 50000.0},
}


def encoding(name: str, heads: int, length: int, **values: Value) -> PositionEncoding:
    geometry = Geometry(heads, 8, 8 * heads, length)
    return encodings.get(name).make(geometry, values).requires_grad_(False)


def logits(made: PositionEncoding, q: Tensor, k: Tensor) -> Tensor:
    """[head, query, key], float64, -inf at later keys; the scale is 1."""
    at = torch.arange(q.shape[1])
    distance = at[:, None] - at
    scores = q.double() @ k.double().transpose(-1, -2)
    if (bias := made.bias(distance.clamp(min=0))) is not None:
        scores = scores + bias
    return scores.masked_fill(distance < 0, -math.inf)


def traced(made: PositionEncoding, layers: list[tuple[Tensor, Tensor]]) -> Trace:
    parts = (LayerTrace(q, k, logits(made, q, k).logsumexp(-1).float()) for q, k in layers)
    return Trace.alike(list(parts), made, 1.0)


def content(heads: int, length: int, layers: int = 1) -> list[tuple[Tensor, Tensor]]:
    torch.manual_seed(0)
    return [(torch.randn(heads, length, 8), torch.randn(heads, length, 8)) for _ in range(layers)]


@pytest.mark.parametrize("cells", [1, kernels.BLOCK_CELLS])
@pytest.mark.parametrize("rows", [1, 13, 39, 500])
@pytest.mark.parametrize("name", ["nope", "alibi", "t5"])
def test_every_mean_is_that_of_the_whole_map(
    name: str, rows: int, cells: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernels, "BLOCK_CELLS", cells)
    n, trained = 40, 16
    made, layers = encoding(name, 2, trained), content(2, n, 3)
    found = mechanism.measure(traced(made, layers), rows)
    used = range(max(1, n - rows), n)
    assert found.queries == len(used)
    for layer, (q, k) in enumerate(layers):
        full = logits(made, q, k).softmax(-1).numpy()
        for head in range(2):
            h, share, sink, far, far_share, beyond = (list[float]() for _ in range(6))
            for i in used:
                p = full[head, i, : i + 1]
                h.append(-sum(x * math.log(x) for x in p))
                share.append(h[-1] / math.log(i + 1))
                sink.append(sum(p[:4]))
                far.append(sum((i - j) * p[j] for j in range(i + 1)))
                far_share.append(far[-1] / (i / 2))
                beyond.append(sum(p[j] for j in range(i + 1) if i - j >= trained))
            expected = [np.mean(x) for x in (h, share, sink, far, far_share, beyond)]
            values = (
                found.entropy,
                found.entropy_share,
                found.sink_mass,
                found.mean_distance,
                found.mean_distance_share,
                found.beyond_trained,
            )
            measured = [v[layer, head] for v in values]
            np.testing.assert_allclose(measured, expected, rtol=1e-5, atol=1e-7)


def test_uniform_attention_has_all_of_what_uniform_attention_has() -> None:
    n, nothing = 300, torch.zeros(2, 300, 8)
    found = mechanism.measure(traced(encoding("nope", 2, 100), [(nothing, nothing)]), 200)
    i = np.arange(100, 300)
    for head in range(2):
        assert found.entropy_share[0, head] == pytest.approx(1, abs=1e-6)
        assert found.mean_distance_share[0, head] == pytest.approx(1, abs=1e-6)
        assert found.sink_mass[0, head] == pytest.approx((4 / (i + 1)).mean())
        assert found.beyond_trained[0, head] == pytest.approx(((i - 99) / (i + 1)).mean())
    assert found.queries == 200 < n


def test_alibi_without_content_has_its_golden_entropies_and_distances() -> None:
    """Slopes 2^-1 .. 2^-8 with a context without end: reference numbers of the closed forms."""
    n = 6000
    made = encoding("alibi", 8, n)
    nothing = torch.zeros(8, n, 8)
    bias = made.bias(torch.arange(n))
    assert bias is not None
    lse = bias.double().logcumsumexp(-1).float()
    found = mechanism.measure(Trace.alike([LayerTrace(nothing, nothing, lse)], made, 1.0), 20)
    entropy = [1.70, 2.39, 3.08, 3.77, 4.47, 5.16, 5.85, 6.55]
    distance = [1.54, 3.52, 7.51, 15.5, 31.5, 63.5, 127.5, 255.5]
    np.testing.assert_allclose(found.entropy[0], entropy, atol=0.0051)
    np.testing.assert_allclose(found.mean_distance[0], distance, rtol=3e-3)


def test_certainty_has_no_entropy() -> None:
    """Probabilities of exactly 0 count as nothing, not as NaN."""
    n = 30
    k = torch.zeros(1, n, 8)
    k[0, 2, 0] = 500.0
    found = mechanism.measure(traced(encoding("nope", 1, 8), [(torch.ones(1, n, 8), k)]), 10)
    assert found.entropy[0, 0] == 0
    assert found.sink_mass[0, 0] == found.beyond_trained[0, 0] == 1
    assert found.mean_distance[0, 0] == np.mean(np.arange(20, 30) - 2)


def test_blocks_stay_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "BLOCK_CELLS", 1 << 10)
    sizes = list[int]()
    whole = Trace.log_attention

    def seen(*given: object) -> Tensor:
        block = whole(*given)  # type: ignore[arg-type]
        sizes.append(block.numel())
        return block

    monkeypatch.setattr(Trace, "log_attention", seen)
    mechanism.measure(traced(encoding("alibi", 2, 64), content(2, 400)), 256)
    assert len(sizes) == 32
    assert max(sizes) <= 8 * 2 * 400


def test_progress_may_cancel_and_no_rows_are_refused() -> None:
    passed = traced(encoding("nope", 1, 8), content(1, 12, 4))
    told = list[float]()
    mechanism.measure(passed, 5, told.append)
    assert told == [0, 0.25, 0.5, 0.75, 1]

    def stop(done: float) -> None:
        if done >= 0.5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        mechanism.measure(passed, 5, stop)
    with pytest.raises(LengthError, match="got 0"):
        mechanism.measure(passed, 0)


def brute(made: RoPE, length: int, trained: int, theta: float) -> float:
    """The same share, over every pair of tokens and of channels one by one."""
    channels = made.geometry.head_dim
    present = made.frequencies(length)[0].tolist()
    seen = total = 0
    for i in range(length):
        for j in range(i + 1):
            for k in range(channels // 2):
                arc = trained * theta ** (-2 * k / channels)
                angle = math.fmod((i - j) * present[k], 2 * math.pi)
                seen += arc >= 2 * math.pi or angle < arc
                total += 1
    return 1 - seen / total


@pytest.mark.parametrize("theta", [30.0, 10000.0])  # with 30, slow pairs come round past L
@pytest.mark.parametrize("length", [1, 12, 16, 17, 41, 90])
@pytest.mark.parametrize("name", SCALED)
def test_unseen_phases_are_counted_as_one_by_one(name: str, length: int, theta: float) -> None:
    values = {"theta": theta, **SCALED[name]}
    made = encoding("rope", 2, 16, **values)
    assert isinstance(made, RoPE)
    expected = brute(made, length, 16, theta)
    assert unseen_phases(made, length, 16, theta) == pytest.approx(expected, abs=1e-12)


def test_unseen_phases_of_two_pairs_by_hand() -> None:
    """theta = 1 turned round in 16 tokens; theta = 0.01 sees d = 16 .. 19 for the first time."""
    made = RoPE(Geometry(1, 4, 4, 16))
    assert unseen_phases(made, 20, 16) == (4 + 3 + 2 + 1) / (2 * 210)


@pytest.mark.parametrize("trained", [16, 100, 512])
def test_no_phase_is_new_within_the_trained_length_or_under_interpolation(trained: int) -> None:
    for length in (2, trained - 1, trained):
        assert unseen_phases(RoPE(Geometry(1, 32, 32, trained)), length, trained) == 0
    for length in (trained + 1, 2 * trained, 3 * trained + 7, 16 * trained):
        plain = RoPE(Geometry(1, 32, 32, trained))
        interpolated = RoPE(plain.geometry, scaling="linear", factor=length / trained)
        assert unseen_phases(interpolated, length, trained) == 0
        new = unseen_phases(plain, length, trained)
        assert new is not None and new > 0


@pytest.mark.parametrize("name", ["nope", "sinusoidal", "learned", "t5", "alibi"])
def test_other_encodings_have_no_phases(name: str) -> None:
    assert unseen_phases(encoding(name, 2, 16), 40, 16) is None
