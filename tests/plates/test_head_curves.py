"""The curves of a portrait as the figure of all heads takes them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tests.pages.decay_portraits import LENGTH, SINK, made
from viz_core import decay
from viz_core.figures import head_curves
from viz_core.plates.head_curves import drawable
from viz_core.signatures.portrait import Portrait


def side(portrait: Portrait, estimator: str, sink: bool = False) -> head_curves.Side:
    return drawable(portrait, "RoPE", "rope", estimator, sink)


def test_estimators_differ_by_what_they_are() -> None:
    portrait = made("rope")
    plain = side(portrait, "row-fixed-effects")
    end = plain.curve.shape[-1]
    np.testing.assert_array_equal(plain.curve, portrait.curve[..., :end])
    np.testing.assert_array_equal(plain.error, portrait.error[..., :end])
    whole = side(portrait, "row-fixed-effects", sink=True)
    logit = side(portrait, "mean-logit")
    np.testing.assert_array_equal(whole.curve, portrait.with_sink[..., :end])
    np.testing.assert_array_equal(logit.curve, portrait.logit[..., :end])
    assert whole.error is None and logit.error is None


def test_a_mean_that_underflows_is_a_gap_not_minus_infinity() -> None:
    portrait = made("rope")
    lost = replace(portrait, probability=np.where(portrait.probability > 0.01, 0.02, 0.0))
    curve = side(lost, "mean-probability").curve
    assert set(np.unique(curve[np.isfinite(curve)])) == {np.log(0.02)}
    assert np.isnan(curve).any() and not np.isinf(curve).any()


def test_distances_of_few_pairs_are_not_drawn() -> None:
    portrait = made("rope")
    drawn = side(portrait, "row-fixed-effects")
    assert drawn.pairs[-1] >= decay.FLOOR > portrait.pairs[len(drawn.pairs)]
    assert drawn.curve.shape[-1] == drawn.law.shape[-1] == len(drawn.pairs) < LENGTH - SINK
    few = side(replace(portrait, pairs=portrait.pairs // 8), "row-fixed-effects")
    assert few.pairs[-1] >= few.pairs[0] // 4  # of a short text a quarter is enough
