"""Published rows as curves: each over its own value at the trained length, quoted as it stands."""

from pathlib import Path

import numpy as np
import pytest

from pages._shared import tables
from pages.extrapolation import reports
from pages.extrapolation.reports import Report
from viz_core import published


def report(name: str) -> Report:
    return reports.reports()[name]


def test_every_report_can_be_drawn_and_says_where_it_is_from() -> None:
    for found in reports.reports().values():
        drawn = reports.curves(found)
        assert drawn
        assert found.source.label in found.title
        for s in drawn:
            assert len(s.times) == len(s.ratio) == len(s.notes)
            assert np.isfinite(s.ratio).any()
            assert np.nanmin(s.ratio) > 0


def test_ratios_are_to_the_value_at_the_trained_length() -> None:
    drawn = {s.name: s for s in reports.curves(report("press-2022-512-non-overlapping"))}
    rope = drawn["RoPE"]
    assert rope.ratio[rope.times == 1].tolist() == [1.0]
    assert rope.ratio[-1] == pytest.approx(79.25 / 20.07)  # ALiBi paper, Table 2
    t5 = drawn["T5 bias"]
    assert np.isnan(t5.ratio[-1])
    assert t5.notes[-1] == "out of memory"


def test_what_is_only_bounded_is_drawn_once_and_said() -> None:
    found = report("chen-2023-2048-sliding-window-s-256")
    plain = next(s for s in reports.curves(found) if s.name == "RoPE (LLaMA 7B)")
    assert np.isfinite(plain.ratio).tolist() == [True, True, False, False, False]
    assert plain.notes[1] == "perplexity more than 1,000"
    assert "only bounded" in found.caption("prose", False)


def test_untuned_scalings_are_over_the_unscaled_model() -> None:
    drawn = reports.curves(report("chen-2023-2048-sliding-window-s-256"))
    untuned = next(s for s in drawn if s.label == "PI s = 8")
    assert untuned.ratio.tolist() == pytest.approx([112.13 / 7.20])  # PI paper, Tables 3 and 1


def test_unverified_sources_are_named_so() -> None:
    found = report("article-a-512-not-stated")
    assert "Unverified." in found.caption("prose", True)
    assert "protocol not stated" in found.title
    assert "Unverified" not in report("press-2022-512-non-overlapping").caption("prose", True)


def test_our_curves_have_the_report_s_protocol_encodings_and_scalings(tables_folder: Path) -> None:
    table = tables.shipped("perplexity")
    names = {s.name for s in reports.ours(table, report("article-a-512-not-stated"), "heldout")}
    assert names == {"ALiBi", "RoPE", "T5 bias", "RoPE, PI s = N / L", "RoPE, NTK s = N / L"}
    sliding = report("press-2022-512-sliding-window-s-1")
    assert sliding.like == "sliding-window"
    for s in reports.ours(table, sliding, "heldout"):
        assert s.ratio[s.times == 1] == pytest.approx(1.0)
    assert reports.ours(table, sliding, "no-such-text") == ()


def test_every_source_of_a_disagreement_is_known() -> None:
    for d in published.DISAGREEMENTS:
        assert set(d.sources) <= set(published.SOURCES)
