"""Extrapolation without a browser: made-up tables in, charts and sentences out."""

import json
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from pages._shared import loaded
from pages.extrapolation import live
from pages.extrapolation import losses as extrapolation_losses
from tests.visiting import visit
from viz_core import results
from viz_core.perplexity import Row

ROUTER = str(Path(__file__).parents[2] / "pages" / "_router.py")


def opened(**query: str) -> AppTest:
    app = AppTest.from_file(ROUTER, default_timeout=300)
    visit(app, "extrapolation")
    for name, value in query.items():
        app.query_params[name] = value
    return app.run()


def charts(app: AppTest) -> list[dict]:
    return [json.loads(c.proto.spec) for c in app.get("plotly_chart")]


def chart(app: AppTest, title: str) -> dict:
    return next(c for c in charts(app) if c["layout"]["title"]["text"] == title)


def names(spec: dict) -> list[str]:
    return [t["name"] for t in spec["data"]]


def words(app: AppTest) -> str:
    parts = (app.markdown, app.caption, app.info, app.warning, app.error)
    return " ".join(e.value for part in parts for e in part)


def test_first_view_has_every_chart(tables_folder: Path) -> None:
    app = opened()
    assert not app.exception
    assert not app.error
    titles = [c["layout"]["title"]["text"] for c in charts(app)]
    for title in (
        "As trained · fixed targets",
        "RoPE rescaled · fixed targets",
        "ALiBi exponents · fixed targets",
        "As trained · by position",
        "Reported · non-overlapping",
        "Measured · non-overlapping",
        "Validation loss while training",
        "Entropy",
        "RoPE's unseen angles",
    ):
        assert title in titles
    drawn = names(chart(app, "As trained · fixed targets"))
    for name in ("ALiBi", "RoPE", "T5 bias", "NoPE", "Sinusoidal", "Learned"):
        assert name in drawn
    assert "Learned: undefined past its 512 trained positions" in words(app)
    assert app.query_params == {"v": ["1"]} or app.query_params == {"v": "1"}


def test_nothing_is_measured_when_the_page_opens(
    tables_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        extrapolation_losses, "losses", lambda *a: pytest.fail("measured without being asked")
    )
    monkeypatch.setattr(loaded, "model", lambda *a: pytest.fail("a model was loaded"))
    assert not opened().exception


def test_costs_are_a_table_in_units_that_read_well(tables_folder: Path) -> None:
    frame = next(
        d.value for d in opened().dataframe if "Encoding" in d.value and "Length" in d.value
    )
    assert frame["Length"].tolist() == [512] * 6 + [4096] * 6
    assert frame["Forward, µs per token"].tolist() == pytest.approx([123.0] * 12)
    assert "Note" not in frame  # empty throughout


def test_who_has_not_learnt_to_use_position_is_named(tables_folder: Path) -> None:
    frame = next(d.value for d in opened().dataframe if "Passed" in d.value)
    assert frame[~frame["Passed"]]["Encoding"].tolist() == ["NoPE"]


@pytest.mark.parametrize(
    ("protocol", "title"),
    [
        ("non-overlapping", "As trained · non-overlapping"),
        ("sliding-window", "As trained · sliding window"),
        ("per-position", "As trained · by position"),
    ],
)
def test_another_protocol_is_another_chart_and_another_address(
    tables_folder: Path, protocol: str, title: str
) -> None:
    app = opened()
    app.button_group(key="lab_protocol").set_value(protocol).run()
    assert not app.exception
    assert chart(app, title)
    assert "As trained · fixed targets" not in [c["layout"]["title"]["text"] for c in charts(app)]
    assert app.query_params["protocol"] in (protocol, [protocol])


def test_an_address_reopens_its_state(tables_folder: Path) -> None:
    app = opened(
        v="1", text="python-docs", measure="difference", settings="none~linear-4", live="alibi",
        setting="exponent-6",
    )  # fmt: skip
    assert not app.exception
    assert not app.warning
    spec = chart(app, "RoPE rescaled · fixed targets")
    assert {"RoPE", "RoPE, PI s = 4"} <= set(names(spec))
    assert "RoPE, dynamic NTK" not in names(spec)
    assert "less that at L" in spec["layout"]["yaxis"]["title"]["text"]
    assert app.selectbox(key="lab_text").value == "python-docs"
    assert app.selectbox(key="lab_live").value == "alibi"
    assert app.number_input(key="lab_exponent").value == 6


def test_other_protocols_have_no_difference(tables_folder: Path) -> None:
    app = opened(measure="difference")
    app.button_group(key="lab_protocol").set_value("sliding-window").run()
    assert not app.exception
    axis = chart(app, "As trained · sliding window")["layout"]["yaxis"]
    assert axis["title"]["text"].startswith("perplexity")


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({"protocol": "guess"}, "protocol"),
        ({"text": "gone"}, "gone"),
        ({"live": "gone"}, "gone"),
        ({"report": "gone"}, "gone"),
    ],
)
def test_what_an_address_asks_in_vain_is_said(
    tables_folder: Path, query: dict[str, str], said: str
) -> None:
    app = opened(**query)
    assert not app.exception
    assert len(app.warning) == 1
    assert said in app.warning[0].value


def test_without_tables_each_part_says_what_makes_them(no_tables: None) -> None:
    app = opened()
    assert not app.exception
    assert not app.error
    assert sum("make results" in i.value for i in app.info) >= 5
    assert chart(app, "Reported · non-overlapping")  # what others report needs no table of ours


def test_a_damaged_table_is_one_sentence(tables_folder: Path) -> None:
    (tables_folder / "perplexity-rope.csv").write_text("no command\n1,2\n")
    app = opened()
    assert not app.exception
    assert sum("perplexity-rope.csv" in e.value for e in app.error) == 1
    results.write(tables_folder / "perplexity-rope.csv", "made up", [{"loss": 1.0}])
    for path in tables_folder.glob("perplexity-[!r]*.csv"):
        path.unlink()
    app = opened()
    assert not app.exception
    assert "Expected the columns checkpoint" in app.error[0].value


def test_no_scaling_chosen_is_no_missing_table(tables_folder: Path) -> None:
    app = opened()
    app.multiselect(key="lab_settings").set_value([]).run()
    assert not app.exception
    assert "Choose a scaling" in words(app)
    assert "make results" not in words(app)


def test_a_measurement_of_one_s_own_is_drawn_beside_that_as_trained(
    tables_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def losses(checkpoint, setting, samples, lengths, progress) -> list[Row]:
        asked.append((checkpoint.id, setting, tuple(lengths), len(samples)))
        progress(0.5)
        value = (4.0, 3.9, 4.1, 4.0, 0.0, -0.1, 0.1)
        numbers = (*value[:3], float(np.exp(value[0])), *value[4:])
        place = ("fixed-targets", 512, None, None, "all")
        return [Row(setting, place[0], n, *place[2:], *numbers, 1024, 4, 0.1) for n in lengths]

    monkeypatch.setattr(extrapolation_losses, "losses", losses)
    app = opened(live="rope", setting="yarn-4", on="python-docs", upto="1024")
    app.button(key="lab_compute").click().run()
    assert not app.exception
    assert not app.error
    assert asked == [("rope", s, (256, 512, 1024), live.DOCUMENTS) for s in ("", "yarn:4")]
    spec = chart(app, "RoPE, YaRN s = 4 · fixed targets")
    assert {"RoPE", "RoPE, YaRN s = 4"} <= set(names(spec))
    app.selectbox(key="lab_report").set_value("article-b-1024-not-stated").run()
    assert chart(app, "RoPE, YaRN s = 4 · fixed targets")  # it stays without being asked again
    app.selectbox(key="lab_kind").set_value("linear").run()
    assert "RoPE, YaRN s = 4 · fixed targets" not in [
        c["layout"]["title"]["text"] for c in charts(app)
    ]


def test_a_text_too_short_is_one_sentence(tables_folder: Path) -> None:
    app = opened(live="rope", on="prose", upto="8192")
    app.button(key="lab_compute").click().run()
    assert not app.exception
    assert len(app.error) == 1
    assert "prose" in app.error[0].value


def test_pages_keep_their_state_while_another_is_open(tables_folder: Path) -> None:
    app = opened(protocol="sliding-window")
    assert not app.exception
    app.query_params.clear()
    visit(app, "compare").run()
    assert not app.exception
    app.selectbox(key="head0").set_value(7).run()
    app.query_params.clear()  # as a browser does when the menu is used
    visit(app, "extrapolation").run()
    assert not app.exception
    assert chart(app, "As trained · sliding window")
    app.query_params.clear()
    visit(app, "compare").run()
    assert not app.exception
    assert app.selectbox(key="head0").value == 7
