"""What a run's results become: promises kept or not, a page, a figure; and one quick run of all."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks import figure, machine, markdown, processes, reach, report, steps
from benchmarks.__main__ import succeeded

ROOT = Path(__file__).parents[1]
Row = dict[str, Any]


def results(
    speed: float = 10.0, lean: float = 20.0, power: float = 2.0, growth: float = 1.0
) -> Row:
    """A full run's results: eager is `speed` times slower and `lean` times larger at 8,192."""
    rows: list[Row] = []
    for length in (2048, 8192, 16_384, 32_768, 65_536):
        ours = {
            "seconds": 2 * (length / 8192) ** power,
            "peak_bytes": round(4e8 + 2e4 * length**growth),
            "bytes_before": 3 * 10**8,
        }
        rows.append({"way": "ours", "length": length, **ours})
        if length <= 8192:
            for way, factor in (("weights", 1.0), ("reduced", 1.5)):
                peer = {"seconds": factor * speed * ours["seconds"], "bytes_before": 4 * 10**8}
                peer["peak_bytes"] = round(lean * ours["peak_bytes"])
                rows.append({"way": way, "length": length, **peer})
            rows.append({"way": "patterns", "length": length, "exceeded_bytes": 21 * 10**9})
        elif length == 16_384:
            lack = {"needs_bytes": 44 * 10**9, "free_bytes": 2 * 10**10}
            rows += [{"way": way, "length": length, **lack} for way in ("weights", "reduced")]
            rows.append({"way": "patterns", "length": length, "note": processes.ABSENT})
    sides = [
        {"tokens": n, "seconds": s, "first_seconds": s} for n, s in ((16_384, 0.3), (512, 1e-3))
    ]
    page = {"page_bytes": 2 * 10**6, "seconds": 1.0, "peak_bytes": 1, "version": "1.0"}
    found = {
        "command": "make bench",
        "date": "2026-01-01",
        "quick": False,
        "machine": machine.describe(),
        "versions": {"torch": "2"},
        "model": {"layers": 4, "heads": 8, "width": 256, "mlp": 2},
        "limits": {
            "threads": 2,
            "exponentials": 1.5e10,
            "narrow_products": 1e11,
            "wide_products": 1.2e11,
            "bytes_summed": 2e11,
            "bytes_copied": 4e10,
        },
        "maps": rows,
        "windows": {"length": 16_384, "rows": sides},
        "pages": [{"tool": tool, "length": 64, **page} for tool in steps.TOOLS],
        "homes": [{"path": "/", "frame_bytes": 2e6, "response_bytes": 2000, "static_bytes": 8e6}],
        "gpu": {"note": "no GPU here"},
        "losses": [
            {
                "encoding": "rope",
                "length": 8192,
                "seconds": 1.2,
                "plain_seconds": 1.0,
                "peak_bytes": 5 * 10**8,
                "at_most": 1.5,
                "met": True,
            }
        ],
    }
    return found | {"reach": reach.rows(found)}


def without(length: int, way: str = "ours") -> Row:
    """Results of a run in which `way` could not be at `length`."""
    found = results()
    row = reach.of(found, way, length)
    for key in ("seconds", "peak_bytes", "bytes_before"):
        del row[key]
    row["exceeded_bytes"] = 10**9
    return found | {"reach": reach.rows(found)}


def test_what_is_promised_is_met_or_not_or_not_measured() -> None:
    found = results()
    met = [row["met"] for row in found["reach"]]
    assert met == [True] * 9 + [None]  # there is no GPU
    assert [row["value"] for row in found["reach"][:3]] == pytest.approx([10, 20, 10])
    assert found["reach"][0]["measured"] == "10.0 times (15.0 once it has made the same of them)"
    assert found["reach"][4]["value"] == pytest.approx(64)
    assert succeeded(found)


@pytest.mark.parametrize(
    ("change", "missed"),
    [
        ({"speed": 7.9}, [0]),
        ({"speed": 2.9}, [0, 2]),
        ({"lean": 9.9}, [1]),
        ({"power": 2.1}, [4]),
        ({"growth": 1.2}, [3, 5]),
    ],
)
def test_a_missed_promise_fails_the_run(change: dict[str, float], missed: list[int]) -> None:
    found = results(**change)
    assert [i for i, row in enumerate(found["reach"]) if row["met"] is False] == missed
    assert not succeeded(found)


def test_seconds_alone_do_not_fail_a_run_but_losses_do() -> None:
    found = results()
    found["windows"]["rows"][1]["seconds"] = 0.2
    found["reach"] = reach.rows(found)
    assert found["reach"][7]["met"] is False and succeeded(found)
    found["losses"][0]["met"] = False
    assert not succeeded(found)


def test_the_browser_and_the_gpu_are_judged_where_there_are_any() -> None:
    found = results()
    found["homes"][0]["frame_bytes"] = 4_000_000
    found["gpu"] = {
        "device": "a GPU",
        "maps_seconds": 3.0,
        "forward_seconds": 1.0,
        "flash_seconds": 0.5,
    }
    rows = reach.rows(found)
    assert rows[8]["met"] is False and rows[8]["value"] == 4_002_000
    assert rows[9]["met"] is True and "6.0 times the flash kernel" in rows[9]["bound"]
    found["homes"] = [{"path": "/", "note": "no Chromium or Chrome here"}]
    row = reach.rows(found)[8]
    assert row["met"] is None and row["bound"] == "no Chromium or Chrome here"
    assert "no Chromium" in report.markdown(found)


def test_the_longest_text_has_to_finish_and_a_peer_that_does_not_is_no_ratio() -> None:
    far = without(65_536)["reach"]
    assert [row["met"] for row in far[3:6]] == [False, None, None]
    assert "did not finish" in far[3]["measured"]
    eager = without(8192, "weights")["reach"]
    assert [row["met"] for row in eager[:3]] == [None, None, True]
    assert "more memory than was free" in eager[0]["bound"]


def test_the_page_holds_every_section_and_number() -> None:
    page = report.markdown(results())
    titles = [line for line in page.splitlines() if line.startswith("#")]
    assert len(titles) == 10 and page.endswith("\n")
    for text in (
        "would hold 44 GB",
        "more than 21 GB",
        processes.ABSENT,
        "time grows as N^2.00",
        "20 kB a token",
        "CircuitsVis 1.0",
        "| 16,384 | 0.3 s | 0.3 s |",
    ):
        assert text in page
    widths = [line.count("|") for line in page.splitlines() if line.startswith("|")]
    assert min(widths) > 2
    assert "**not met**" in report.markdown(results(speed=1.0))


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.0000791, "0.0791 ms"), (0.1, "0.1 s"), (128.4, "128 s")]
)
def test_durations(seconds: float, words: str) -> None:
    assert markdown.duration(seconds) == words


@pytest.mark.parametrize(
    ("count", "words"), [(950, "0.95 kB"), (621_300_000, "621 MB"), (2_170_000_000, "2.17 GB")]
)
def test_sizes(count: int, words: str) -> None:
    assert markdown.size(count) == words


def test_the_figure_shows_every_way_and_is_the_same_each_time(tmp_path: Path) -> None:
    found = results()
    found["maps"] = [r for r in found["maps"] if r["way"] != "patterns"]
    first, again = tmp_path / "first.svg", tmp_path / "again.svg"
    figure.draw(found, first)
    figure.draw(found, again)
    drawn = first.read_text("utf-8")
    assert drawn == again.read_text("utf-8")
    for way in ("ours", "weights", "reduced"):
        assert report.WAYS[way] in drawn
    assert report.WAYS["patterns"] not in drawn
    assert "65,536" in drawn


@pytest.mark.browser
def test_a_quick_run_has_every_row_and_writes_what_it_prints(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "benchmarks", "--quick", "--json", "--out", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True)
    found = json.loads(done.stdout)
    assert json.loads((tmp_path / "benchmarks.json").read_text("utf-8")) == found
    assert (tmp_path / "benchmarks.md").read_text("utf-8") == report.markdown(found)
    assert (tmp_path / "benchmarks.svg").read_text("utf-8").startswith("<?xml")
    assert found.keys() == results().keys()
    assert found["reach"] == reach.rows(found)
    places = [(row["way"], row["length"]) for row in found["maps"]]
    assert places == [(way, n) for n in (512, 1024) for way in steps.WAYS]
    for row in found["maps"]:
        assert "seconds" in row or (row["way"] == "patterns" and row["note"] == processes.ABSENT)
    assert [row["tool"] for row in found["pages"]] == list(steps.TOOLS)
    assert found["homes"][0].get("note") or found["homes"][0]["frame_bytes"] > 10**5
    assert len(found["reach"]) == 10 and len(found["losses"]) == 1


def test_the_committed_page_is_made_from_the_committed_numbers() -> None:
    found = json.loads((ROOT / "docs/benchmarks.json").read_text("utf-8"))
    assert not found["quick"]
    assert found["reach"] == reach.rows(found)
    assert (ROOT / "docs/benchmarks.md").read_text("utf-8") == report.markdown(found)
