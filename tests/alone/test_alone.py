"""Encodings by position alone: laws of their own modules, stand-ins, and maps that sum to one."""

from __future__ import annotations

import numpy as np
import pytest

from viz_core import alone
from viz_core.alone import parts
from viz_core.encodings import Geometry
from viz_core.errors import UnknownName, UsageError
from viz_core.figures.encoding_parts import Waves

GEOMETRY = Geometry(heads=4, head_dim=8, width=32, length=64)


def test_alibi_s_law_is_its_slopes_times_distance() -> None:
    law = alone.make("alibi", {}, GEOMETRY, 10).law
    np.testing.assert_allclose(law[:, 3], [-3 / 4, -3 / 16, -3 / 64, -3 / 256], rtol=1e-6)


def test_heads_that_are_alike_are_one_row_and_what_is_all_trained_has_none() -> None:
    assert alone.make("rope", {}, GEOMETRY, 10).law.shape == (1, 10)
    learned = alone.make("learned", {}, GEOMETRY, 10)
    assert learned.law is None and alone.trained(learned.module) == 64 * 32


def test_a_stand_in_is_one_knob_more_and_is_named() -> None:
    made = alone.make("t5", {"fall": 0.5, "buckets": 8, "max_distance": 32}, GEOMETRY, 10)
    np.testing.assert_allclose(made.law[0, :3], [0, -0.5, -1.0])
    assert made.title == "T5 bias, buckets 8, max distance 32, falling by 0.5"
    assert "falls by 0.5 nats" in made.standing and made.of(2).endswith("· every head")


def test_each_row_of_a_map_sums_to_one_and_a_part_is_cut_from_it() -> None:
    made = alone.make("alibi", {}, GEOMETRY, 40)
    whole, part = made.window(1), made.window(1, ((8, 16), (0, 16)))
    np.testing.assert_allclose(np.exp(whole.value[0]).sum(axis=1), 1, rtol=1e-5)
    np.testing.assert_array_equal(part.value[0], whole.value[0, 8:16, :16])


def test_su_s_bound_is_rope_s_at_its_own_frequencies_alone() -> None:
    assert alone.bound(alone.make("rope", {}, GEOMETRY, 10)).shape == (10,)
    for encoding, values in (("alibi", {}), ("rope", {"scaling": "linear", "factor": 2.0})):
        assert alone.bound(alone.make(encoding, values, GEOMETRY, 10)) is None


def test_scaled_waves_stand_beside_what_they_were() -> None:
    part = parts.part(alone.make("rope", {"scaling": "linear", "factor": 2.0}, GEOMETRY, 10))
    assert isinstance(part, Waves)
    np.testing.assert_allclose(part.plain / part.theta, 2)
    assert (part.kind, part.scaling) == ("linear", "PI s = 2")
    assert parts.part(alone.make("nope", {}, GEOMETRY, 10)) is None


def test_what_cannot_be_is_said() -> None:
    with pytest.raises(UnknownName, match="Expected an encoding among"):
        alone.make("cosine", {}, GEOMETRY, 10)
    with pytest.raises(UsageError, match="Expected an even model width"):
        alone.make("sinusoidal", {}, Geometry(3, 7, 21, 64), 10)
    with pytest.raises(UsageError, match="Expected fall between 0 and 2"):
        alone.make("t5", {"fall": 3.0}, GEOMETRY, 10)
