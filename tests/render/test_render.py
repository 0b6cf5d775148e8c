"""What reaches the screen is what the figure holds."""

import base64
import io

import numpy as np
import pytest
from PIL import Image

from viz_core import encodings
from viz_core.figures.spec import Chart, Heatmap, Line, Scale
from viz_core.render import canvas, palette, png, screen


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
    lines = (
        Line("measured", x, -x, "rope", strong=True, error=np.ones(5)),
        Line("law", x, -x, "rope", dashed=True, strong=True),
        Line("second law", x, -2 * x, "rope", dashed=True),
        Line("third law", x, -3 * x, "rope", dashed=True),
    )
    panel = Chart("t", "rope", lines, "distance", "nats", (0, 5), (-5, 1), marks=((2.0, "L"),))
    figure = screen.chart(panel)
    faint, band, measured, law = figure.data
    assert (band.name, measured.name, law.name) == (
        "measured, two standard errors",
        "measured",
        "law",
    )
    assert law.line.dash == faint.line.dash == "dash"
    assert all(t.line.color for t in (faint, measured, law))
    # the laws of heads out of focus are one trace with a gap after each
    drawn = np.array(faint.y).reshape(2, 6)
    np.testing.assert_array_equal(drawn[:, :5], [-2 * x, -3 * x])
    assert np.isnan(drawn[:, 5]).all()
    assert figure.layout.template.layout.to_plotly_json() == {}
