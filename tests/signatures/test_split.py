"""The split against least squares with a dummy per row and distance; nothing where nothing is."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest

from viz_core.encodings.alibi import slopes
from viz_core.errors import LengthError
from viz_core.signatures.split import Split, split

Array = npt.NDArray[np.float64]
Sums = tuple[Array, Array, Array]


def sums(y: Array, distances: int | None = None) -> Sums:
    """What `split` needs, from whole maps [text, head, query, key]; near pairs alone if asked."""
    n = y.shape[-1]
    distances = distances or n
    d = np.subtract.outer(np.arange(n), np.arange(n))
    kept = np.where((d >= 0) & (d < distances), y, 0)
    diagonal = np.stack([np.trace(kept, -k, 2, 3) for k in range(distances)], axis=-1)
    return diagonal, kept.sum(axis=3), (kept**2).sum(axis=(2, 3))


def by_dummies(y: Array, distances: int) -> tuple[float, float]:
    """(adjusted R^2, held-out R^2) of one head's maps [text, query, key], pair by pair."""
    texts, n = y.shape[:2]
    pairs = [(i, i - d) for i in range(n) for d in range(min(i + 1, distances))]
    i, j = np.array(pairs).T
    centre = np.eye(n)[i]
    by = np.eye(distances)[i - j]
    by = by - centre @ np.linalg.lstsq(centre, by, rcond=None)[0]
    rows = [y[t, i, j] for t in range(texts)]
    rows = [r - centre @ np.linalg.lstsq(centre, r, rcond=None)[0] for r in rows]
    total = sum((r**2).sum() for r in rows)
    fits = [np.linalg.lstsq(by, r, rcond=None)[0] for r in rows]
    together = np.mean(fits, axis=0)
    left = sum(((r - by @ together) ** 2).sum() for r in rows)
    freedom = texts * (len(pairs) - n)
    adjusted = 1 - left / (freedom - distances + 1) / (total / freedom)
    others = [np.mean(fits[:t] + fits[t + 1 :], axis=0) for t in range(texts)]
    missed = sum(((r - by @ o) ** 2).sum() for r, o in zip(rows, others, strict=True))
    return float(adjusted), float(1 - missed / total)


def content(texts: int, heads: int, n: int, seed: int, mean: float = 0.0) -> Array:
    """Scores [text, head, query, key] of random queries and keys; keys differ in kind by `mean`."""
    rng = np.random.default_rng(seed)
    q, k = rng.standard_normal((2, texts, heads, n, 16))
    q[..., 0] += mean
    return q @ k.swapaxes(-1, -2) / 4


@pytest.mark.parametrize("distances", [14, 5, 2])
def test_the_shares_are_those_of_least_squares_on_dummies(distances: int) -> None:
    y = content(3, 2, 14, 0) + np.random.default_rng(1).standard_normal((14, 14)) / 3
    found = split(*sums(y, distances))
    assert found.texts == 3
    for head in range(2):
        adjusted, held_out = by_dummies(y[:, head], distances)
        assert found.explained[head] == pytest.approx(adjusted, abs=1e-10)
        assert found.held_out[head] == pytest.approx(held_out, abs=1e-10)


def test_constants_of_a_row_do_not_matter() -> None:
    y = content(2, 3, 40, 0)
    shifted = y + 5 * np.random.default_rng(1).standard_normal((2, 3, 40, 1))
    one, other = split(*sums(y)), split(*sums(shifted))
    np.testing.assert_allclose(one.explained, other.explained, atol=1e-9)
    np.testing.assert_allclose(one.held_out, other.held_out, atol=1e-9)


def alibi(n: int, texts: int = 6) -> Array:
    d = np.subtract.outer(np.arange(n), np.arange(n))
    return np.broadcast_to(-slopes(8).numpy()[:, None, None] * d, (texts, 8, n, n))


def test_a_bias_without_content_is_all_position() -> None:
    found = split(*sums(alibi(60)))
    np.testing.assert_allclose(found.explained, 1)
    np.testing.assert_allclose(found.held_out, 1)
    assert found.p.max() < 0.07  # 1 in 32 of the random signs are all alike


def test_position_has_the_share_that_was_put_in() -> None:
    """Known variances: 1 of content, and (m^2 - 1) / 12 slope^2 of a line in a row of m keys."""
    n, slope = 256, slopes(8).numpy()
    found = split(*sums(content(8, 8, n, 0) + alibi(n, 8)))
    line = slope**2 * sum(m * (m**2 - 1) / 12 for m in range(1, n + 1))
    share = line / (line + n * (n - 1) / 2)
    np.testing.assert_allclose(found.explained, share, atol=0.02)
    np.testing.assert_allclose(found.held_out, share, atol=0.02)
    assert (found.p < 0.05).all()


@pytest.mark.parametrize("mean", [0.0, 3.0])
def test_content_alone_explains_nothing(mean: float, rejected: Callable[[Array], int]) -> None:
    """Also where keys draw attention wherever they stand, so that columns of the map hang
    together."""
    found = split(*sums(content(8, 200, 48, 2, mean)))
    assert abs(found.explained.mean()) < 0.02
    assert abs(found.held_out.mean()) < 0.05
    assert 3 <= rejected(found.p) <= 19


def test_one_text_has_a_share_and_no_more() -> None:
    found = split(*sums(content(1, 2, 30, 0)))
    assert isinstance(found, Split) and np.isfinite(found.explained).all()
    assert np.isnan(found.held_out).all() and np.isnan(found.p).all()


def test_attention_that_does_not_vary_has_no_share() -> None:
    level = np.broadcast_to(np.arange(20.0)[:, None], (3, 1, 20, 20))  # constant within rows
    found = split(*sums(level))
    assert np.isnan([found.explained, found.held_out, found.p]).all()


def test_sums_that_leave_nothing_to_explain_are_refused() -> None:
    for n, distances in ((2, 2), (5, 1)):
        with pytest.raises(LengthError, match="at least 3 rows that hold at least 2 distances"):
            split(*sums(np.ones((1, 1, n, n)), distances))
