"""What is true of every figure on paper, checked from what is drawn."""

from __future__ import annotations

from itertools import combinations

from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox

SLACK = 0.5  # points: letters' boxes reach a little beyond their ink


def words(figure: Figure) -> list[tuple[Text, Bbox]]:
    """Every text that is drawn, with its box in points from the page's lower left corner."""
    figure.draw_without_rendering()  # a key finds its place only now
    found = []
    for text in figure.findobj(Text):
        if text.get_visible() and text.get_text().strip():
            pixels = Text.get_window_extent(text)  # an annotation's own holds its arrow too
            found.append((text, Bbox(pixels.get_points() * 72 / figure.dpi)))
    return found


def assert_legible(figure: Figure) -> None:
    """No text is smaller than 6 points, cut by the page or over another one."""
    wide, high = 72 * figure.get_size_inches()
    found = words(figure)
    assert found, "a figure without any word"
    for text, box in found:
        assert text.get_fontsize() >= 6, text.get_text()
        inside = box.x0 > -SLACK and box.y0 > -SLACK
        inside = inside and box.x1 < wide + SLACK and box.y1 < high + SLACK
        assert inside, f"{text.get_text()!r} at {box} on a page of {wide:.1f} x {high:.1f}"
    for (one, a), (other, b) in combinations(found, 2):
        across = min(a.x1, b.x1) - max(a.x0, b.x0)
        up = min(a.y1, b.y1) - max(a.y0, b.y0)
        apart = across <= SLACK or up <= SLACK
        assert apart, f"{one.get_text()!r} over {other.get_text()!r} by {across:.1f} x {up:.1f}"
