"""Curves by distance against dense sums and least squares; slopes that are known in advance."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import pytest
import torch

from viz_core import decay, kernels
from viz_core import trace as traces
from viz_core.decay.pairs import ROWS
from viz_core.encodings import Geometry, PositionEncoding, Value, all_encodings, get
from viz_core.encodings._scalings import SCALINGS
from viz_core.encodings.alibi import slopes
from viz_core.errors import LengthError
from viz_core.model import ModelConfig, Transformer
from viz_core.subject import LayerTrace
from viz_core.trace import Trace
from viz_core.types import SINK

Array = npt.NDArray[np.float64]
VARIANTS: dict[str, tuple[str, dict[str, Value]]] = {
    **{name: (name, {}) for name in all_encodings()},
    **{f"rope {s}": ("rope", {"scaling": s, "factor": 4.0}) for s in SCALINGS},
    "rope interleaved": ("rope", {"layout": "interleaved"}),
}
each_variant = pytest.mark.parametrize("variant", VARIANTS)


def traced(variant: str, length: int, seed: int = 1) -> Trace:
    encoding, parameters = VARIANTS[variant]
    torch.manual_seed(0)
    config = ModelConfig(encoding, 2, 3, 24, 50, 64, parameters=parameters)
    made = Transformer(config).double().eval().requires_grad_(False)
    made.embedding.weight *= 10
    generator = torch.Generator().manual_seed(seed)
    return traces.trace(made, torch.randint(50, (length,), generator=generator).tolist())


def made(
    encoding: PositionEncoding, q: torch.Tensor, k: torch.Tensor, scale: float = 32**-0.5
) -> Trace:
    """The trace of one layer whose queries and keys [head, position, channel] are given."""
    _, lse = kernels.blocked(q, k, k, kernels.band(encoding, q.shape[1], q), scale)
    return Trace.alike([LayerTrace(q, k, lse)], encoding, scale)


def content(encoding: str, heads: int = 8, length: int = 512, seed: int = 0) -> Trace:
    """iid N(0, 1) queries and keys of 32 channels: position acts through the bias alone."""
    generator = torch.Generator().manual_seed(seed)
    q, k = torch.randn(2, heads, length, 32, generator=generator)
    return made(get(encoding).make(Geometry(heads, 32, heads * 32, 512)), q, k)


def parts(some: Iterable[Trace], layer: int = 0, sink: int = SINK) -> list[decay.Part]:
    return [decay.part(t, layer, sink) for t in some]


def law(trace: Trace, distances: int) -> Array | None:
    return decay.law(parts([trace]), trace.scores[0], distances)


def logs(trace: Trace, layer: int) -> Array:
    n = trace.length
    whole: Array = trace.log_attention(layer, (0, n), (0, n), slice(None)).numpy()
    return whole


@pytest.mark.parametrize("sink", [0, 1, 4])
@each_variant
def test_the_fit_is_least_squares_on_a_dummy_per_row_and_per_distance(
    variant: str, sink: int
) -> None:
    n, trace = 23, traced(variant, 23)
    pairs = [(i, d) for i in range(sink, n) for d in range(i - sink + 1)]
    dummies = np.zeros((len(pairs), 2 * n))
    for row, (i, d) in enumerate(pairs):
        dummies[row, i] = dummies[row, n + d] = 1
    full = logs(trace, 1)
    y = np.array([full[:, i, i - d] for i, d in pairs])
    expected = np.linalg.lstsq(dummies, y, rcond=None)[0][n : 2 * n - sink].T
    curve = decay.by_distance(parts([trace], 1, sink), floor=0)
    assert curve.sink == sink and curve.texts == 1
    assert (curve.pairs == np.arange(n - sink, 0, -1)).all()
    np.testing.assert_allclose(
        curve.value - curve.value[:, :1], expected - expected[:, :1], atol=1e-9
    )
    assert np.abs(np.average(curve.value, axis=1, weights=curve.pairs)).max() < 1e-9


@each_variant
def test_the_slope_is_least_squares_on_distance_within_rows(variant: str) -> None:
    n, sink = 23, 4
    some = [traced(variant, n, seed) for seed in (1, 2)]
    top = bottom = 0.0
    for trace in some:
        full = logs(trace, 1)
        for i in range(sink, n):
            d = np.arange(i - sink, -1, -1.0)
            d -= d.mean()
            top, bottom = top + full[:, i, sink : i + 1] @ d, bottom + d @ d
    np.testing.assert_allclose(decay.slope(parts(some, 1, sink)), top / bottom, atol=1e-9)


@pytest.mark.parametrize("queries", [1, 10, ROWS])
@each_variant
def test_mean_probability_is_that_of_dense_diagonals(
    variant: str, queries: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("viz_core.decay.pairs.ROWS", queries)
    trace = traced(variant, 37)
    full = np.exp(logs(trace, 1))
    expected = np.stack([np.diagonal(full, -d, 1, 2).mean(-1) for d in range(37)], 1)
    np.testing.assert_allclose(decay.mean_probability(trace, 1), expected, atol=1e-12)


def test_the_slopes_of_all_eight_alibi_heads_come_back() -> None:
    measured = decay.slope(parts([content("alibi")]))
    assert np.abs(measured / -slopes(8).numpy() - 1).max() < 0.02


def test_without_bias_the_plain_mean_shows_a_slope_and_the_fit_shows_none() -> None:
    """Short rows have larger probabilities and only small distances: about -0.0040 at N = 512,
    the size of the eighth ALiBi head's."""
    some = [content("nope", seed=seed) for seed in range(4)]
    plain = np.log(np.mean([decay.mean_probability(t, 0) for t in some], axis=0))
    false = [np.polyfit(np.arange(256), y[:256], 1)[0] for y in plain]  # the nearer half
    assert np.mean(false) == pytest.approx(-0.0040, abs=2e-4)
    assert np.abs(decay.slope(parts(some))).max() < 2e-4


@pytest.mark.parametrize("name", [v for v in VARIANTS if v.startswith("rope")])
@pytest.mark.parametrize("shown", [512, 400])
def test_with_constant_q_and_k_ropes_law_is_the_curve(name: str, shown: int) -> None:
    """Also where the text is longer than trained, and the curve shorter than the text."""
    encoding = get("rope").make(Geometry(4, 32, 128, 64), VARIANTS[name][1])
    vectors = torch.randn(2, 4, 1, 32, dtype=torch.float64, generator=torch.manual_seed(0))
    q, k = (encoding.rotate(v.repeat(1, 512, 1), torch.arange(512), 512) for v in vectors)
    trace = made(encoding, q, k)
    curve = decay.by_distance(parts([trace], sink=0), floor=513 - shown)
    expected = law(trace, curve.value.shape[1])
    assert expected is not None and expected.shape == curve.value.shape == (4, shown)
    np.testing.assert_allclose(curve.aligned(expected), curve.value, atol=1e-5)
    assert np.ptp(curve.value, axis=1).min() > 0.5  # not flat


def test_laws_of_biases_are_the_curves_of_constant_content() -> None:
    for name in ("alibi", "t5", "nope"):
        encoding = get(name).make(Geometry(4, 32, 128, 64)).double().requires_grad_(False)
        q = torch.ones(4, 200, 32, dtype=torch.float64)
        trace = made(encoding, q, q)
        curve = decay.by_distance(parts([trace]), floor=0)
        expected = law(trace, curve.value.shape[1])
        assert expected is not None
        np.testing.assert_allclose(curve.aligned(expected), curve.value, atol=1e-5)
    assert law(traced("learned", 20), 10) is None
    assert law(traced("sinusoidal", 20), 10) is None


def test_a_curve_over_texts_is_their_mean_with_its_standard_error() -> None:
    some = [traced("alibi", 40, seed) for seed in (1, 2, 3)]
    each = np.stack([decay.by_distance(parts([t], 1), floor=0).value for t in some])
    curve = decay.by_distance(parts(some, 1), floor=0)
    assert curve.texts == 3 and (curve.pairs == 3 * np.arange(36, 0, -1)).all()
    np.testing.assert_allclose(curve.value, each.mean(0), atol=1e-12)
    np.testing.assert_allclose(curve.error, each.std(0, ddof=1) / 3**0.5, atol=1e-12)
    assert np.isnan(decay.by_distance(parts(some[:1], 1)).error).all()


def test_distances_with_few_pairs_are_left_out() -> None:
    """Below `floor`, or in a short text below a quarter of the pairs at distance 0."""
    some = [traced("nope", 40), traced("nope", 40, seed=2)]
    for floor, least in ((0, 2), (12, 12), (200, 2 * 36 // 4)):
        curve = decay.by_distance(parts(some, 1), floor=floor)
        assert curve.pairs.min() == least and curve.pairs.max() == 2 * 36
        assert curve.value.shape[1] == 36 - least // 2 + 1


@pytest.mark.parametrize("sink", [0, 4])
def test_a_text_with_no_two_keys_after_the_sink_has_no_curve(sink: int) -> None:
    assert decay.part(traced("nope", sink + 2), 1, sink).fit.shape == (3, 2)
    short = traced("nope", max(2, sink + 1))
    if short.length < sink + 2:
        with pytest.raises(LengthError, match=f"at least {sink + 2} tokens"):
            decay.part(short, 1, sink)


def test_row_means_without_a_sink_are_over_all_keys() -> None:
    trace = traced("rope", 20)
    full = logs(trace, 1)
    expected = np.stack([full[:, i, : i + 1].mean(-1) for i in range(20)], 1)
    np.testing.assert_allclose(decay.row_means(trace, 1, sink=0).numpy(), expected, atol=1e-9)
