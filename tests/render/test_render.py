"""What reaches the screen is what the figure holds."""

import base64
import io
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from viz_core import encodings
from viz_core.figures.spec import Axis, Band, Chart, Heatmap, Line, Scale
from viz_core.render import canvas, labels, palette, png, screen


def heatmap() -> Heatmap:
    value = np.array([[0.0, np.nan], [0.5, 1.0]], dtype=np.float32)
    scale = Scale("cividis", 0.0, 1.0, "A", ((0.0, "0"), (1.0, "1")))
    count = np.array([[1, 0], [1, 1]])
    return Heatmap("map", "alibi", value, count, (0, 2), (0, 2), 1, "A", scale)


def test_the_message_holds_the_cells_that_have_pairs_exactly() -> None:
    message = canvas.message(heatmap(), ["a", "b"])
    values = np.frombuffer(base64.b64decode(message["values"]), "<f4")
    filled = np.frombuffer(base64.b64decode(message["filled"]), "<u4")
    np.testing.assert_array_equal(values, np.array([0.0, 0.5, 1.0], np.float32))
    np.testing.assert_array_equal(filled, [1, 2])
    assert len(base64.b64decode(message["colours"])) == 768


def test_the_message_holds_the_words_of_its_cells_and_no_others() -> None:
    labels = [f"t{i}." for i in range(1000)]
    panel = replace(heatmap(), rows=(500, 514), columns=(90, 97), cell=7, where="here", of="mean A")
    message = canvas.message(panel, labels)
    assert message["row_words"][0] == "t500.t501.t502.t503.t504.t505.…"
    assert message["column_words"] == ["t90.t91.t92.t93.t94.t95.…"]
    assert (message["where"], message["of"]) == ("here", "mean A")
    single = canvas.message(replace(panel, rows=(2, 4), columns=(0, 2), cell=1), labels)
    assert single["row_words"] == ["t2.", "t3."]
    cut = canvas.message(replace(panel, rows=(2, 7), columns=(0, 5), cell=3), labels)
    assert cut["row_words"] == ["t2.t3.t4.", "t5.t6."]
    assert canvas.message(panel, [])["row_words"] == []


def test_a_thumbnail_has_the_scale_s_colours_and_holes() -> None:
    image = Image.open(io.BytesIO(png.thumbnail(heatmap()))).convert("RGBA")
    table = palette.table("cividis")
    assert image.getpixel((0, 0)) == (*table[0], 255)
    assert image.getpixel((1, 1)) == (*table[-1], 255)
    assert image.getpixel((1, 0))[3] == 0


def test_every_encoding_has_its_own_accent_on_light_and_dark() -> None:
    for dark in (False, True):
        accents = [palette.accent(e, dark) for e in encodings.all_encodings()]
        assert len(set(accents)) == len(accents)


def contrast(colour: str, page: str) -> float:
    def light(c: str) -> float:
        rgb = [int(c[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        lin = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in rgb]
        return 0.2126 * lin[0] + 0.7152 * lin[1] + 0.0722 * lin[2]

    a, b = sorted((light(colour), light(page)))
    return (b + 0.05) / (a + 0.05)


@pytest.mark.parametrize(("dark", "page"), [(False, "#FCFCFA"), (True, "#14161A")])
def test_accents_can_be_read_as_headings(dark: bool, page: str) -> None:
    for encoding in palette.ACCENTS:
        assert contrast(palette.accent(encoding, dark), page) >= 3.0, encoding  # WCAG, large text


def test_the_diverging_map_is_symmetric_in_lightness() -> None:
    grey = palette.table("balance") @ np.array([0.2126, 0.7152, 0.0722])
    assert np.abs(grey - grey[::-1]).max() < 40
    assert grey[:110].max() < grey[128]
    assert np.all(np.diff(grey[:120]) > -1)


def test_a_chart_holds_every_line_with_explicit_colours() -> None:
    x = np.arange(5.0)
    band = Band(-x - 2, -x + 2, "two standard errors")
    lines = (
        Line("measured", x, -x, "rope", strong=True, band=band),
        Line("law", x, -x, "ink", dash="dash", strong=True),
        Line("second law", x, -2 * x, "ink", dash="dash", group="other laws"),
        Line("third law", x, -3 * x, "ink", dash="dash", group="other laws"),
    )
    axes = Axis("distance", (0, 5)), Axis("nats", (-5, 1))
    panel = Chart("t", "rope", lines, *axes, marks=((2.0, "L"),))
    figure = screen.chart(panel)
    faint, shade, measured, law = figure.data
    assert [t.name for t in figure.data] == [
        "other laws",
        "measured, two standard errors",
        "measured",
        "law",
    ]
    assert (shade.y.min(), shade.y.max()) == (-6, 2)
    assert measured.line.color == palette.accent("rope")
    assert law.line.dash == faint.line.dash == "dash"
    assert all(t.line.color for t in (faint, measured, law))
    # a group is one trace with a gap after each line
    drawn = np.array(faint.y).reshape(2, 6)
    np.testing.assert_array_equal(drawn[:, :5], [-2 * x, -3 * x])
    assert np.isnan(drawn[:, 5]).all()
    assert figure.layout.template.layout.to_plotly_json() == {}


def rising(**change: object) -> Chart:
    x = np.array([256.0, 512.0, 1024.0])
    lines = (
        Line("up", x, 10.0 * x, "rope", markers=True, label="up", notes=("a", "b\nb", "c")),
        Line("down", x, 10.1 * x, "alibi", markers=True, label="down"),
        Line("short", x, np.array([10.0, 20.0, np.nan]), "learned", label="short"),
    )
    values = {
        "title": "t",
        "accent": "ink",
        "lines": lines,
        "x": Axis("N", (200, 1200), True, ((256.0, "256"), (1024.0, "1,024"))),
        "y": Axis("perplexity", (5.0, 20000.0), True, ((10.0, "10"),)),
        "marks": ((512.0, "trained length 512"),),
        "read": "N = {x:,.0f}\n{y:.2f} nats",
    }
    return Chart(**{**values, **change})


def test_a_logarithmic_axis_has_its_limits_marks_and_labels_as_logarithms() -> None:
    figure = screen.chart(rising())
    assert figure.layout.xaxis.range == pytest.approx(np.log10([200, 1200]))
    assert list(figure.layout.xaxis.tickvals) == [256.0, 1024.0]
    assert list(figure.layout.xaxis.ticktext) == ["256", "1,024"]
    placed = {a.text: a.x for a in figure.layout.annotations}
    assert placed["trained length 512"] == pytest.approx(np.log10(512))
    assert placed["up"] == pytest.approx(np.log10(1024))
    assert placed["short"] == pytest.approx(np.log10(512))  # at its last value, not the axis's end


def test_labels_of_curves_that_meet_stand_apart_in_their_colours() -> None:
    figure = screen.chart(rising(), height=400)
    notes = {a.text: a for a in figure.layout.annotations}
    up, down = notes["up"], notes["down"]
    room = (400 - screen.TOP - screen.BOTTOM) / np.log10(20000 / 5)  # pixels per decade
    assert (up.y - down.y) * room + (down.ay - up.ay) == pytest.approx(-screen.LINE)
    assert up.font.color == palette.accent("rope")
    assert figure.layout.margin.r > screen.RIGHT


def test_the_words_of_a_point_are_the_chart_s_and_the_line_s() -> None:
    up, down, _ = screen.chart(rising()).data
    assert up.hovertemplate == "up<br>N = %{x:,.0f}<br>%{y:.2f} nats<br>%{text}<extra></extra>"
    assert list(up.text) == ["a", "b<br>b", "c"]
    assert "text" not in down.hovertemplate


def test_words_of_marks_stand_where_the_chart_wants_them() -> None:
    for top, expected in ((False, 0.02), (True, 0.99)):
        figure = screen.chart(rising(marks_on_top=top))
        assert figure.layout.annotations[0].y == expected


def test_a_band_leaves_out_points_without_an_interval() -> None:
    x = np.arange(3.0)
    band = Band(np.array([0.0, np.nan, 1.0]), np.array([2.0, np.nan, 3.0]), "95 %")
    panel = Chart("t", "ink", (Line("a", x, x, "rope", band=band),), Axis("x"), Axis("y"))
    np.testing.assert_array_equal(screen.chart(panel).data[0].x, [0, 2, 2, 0])


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ([10, 50, 90], [10, 50, 90]),  # apart already
        ([50, 50], [45, 55]),
        ([50, 52, 54, 90], [42, 52, 62, 90]),
        ([90, 10], [90, 10]),  # the order of the sequence is kept
        ([0, 0, 0], [0, 10, 20]),  # the edge holds
        ([100, 100], [90, 100]),
        ([], []),
    ],
)
def test_labels_move_as_little_as_they_must(wanted: list[float], expected: list[float]) -> None:
    assert labels.spread(wanted, 10, 0, 100) == pytest.approx(expected)


def test_accents_of_scalings_differ_from_each_other_and_from_rope_s() -> None:
    for dark in (False, True):
        names = ["rope", *palette.SCALINGS]
        assert len({palette.accent(n, dark) for n in names}) == len(names)
        page = "#14161A" if dark else "#FCFCFA"
        assert all(contrast(palette.accent(n, dark), page) >= 3.0 for n in [*names, "ink"])


@pytest.mark.parametrize(("low", "below"), [(5.0, True), (19.0, False)])
def test_the_label_of_a_curve_that_ends_early_stays_within_the_axes(
    low: float, below: bool
) -> None:
    panel = rising(y=Axis("perplexity", (low, 20000.0), True))
    notes = {a.text: a for a in screen.chart(panel).layout.annotations}
    assert (notes["short"].ay > 0) == below
