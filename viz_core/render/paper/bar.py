"""The colour bar of a band of maps: beside them, or below where beside would leave them no room."""

from __future__ import annotations

from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from viz_core.figures.spec import Scale
from viz_core.render.paper import cells, maps, style

THICK, AWAY = 5.0, 5.0  # its thickness, and its distance from the maps, points
LEAST_LABEL = 50.0  # along which its label runs at least


@dataclass(frozen=True)
class Bar:
    """A bar being drawn; `flat` ones lie below the maps."""

    ax: Axes
    scale: Scale
    flat: bool
    text: float

    @property
    def beside(self) -> float:
        """Points that it takes right of the maps."""
        return 0.0 if self.flat else AWAY + THICK + cells.margins(self.ax)[1]

    @property
    def below(self) -> float:
        """Points that it takes under the maps."""
        return AWAY + THICK + cells.margins(self.ax)[3] if self.flat else 0.0

    def place(self, left: float, bottom: float, width: float, height: float) -> None:
        """Sets it beside or below maps that take that rectangle, all their words included."""
        length = width if self.flat else height
        label = "\n".join(style.lines(self.scale.label, self.text, max(length, LEAST_LABEL)))
        if self.flat:
            self.ax.set_xlabel(label)
            cells.set_place(self.ax, left, bottom - AWAY - THICK, width, THICK)
        else:
            self.ax.set_ylabel(label, linespacing=1.0)
            cells.set_place(self.ax, left + width + AWAY, bottom, THICK, height)


def draw(figure: Figure, scale: Scale, flat: bool, text: float) -> Bar:
    """The bar of `scale` on `figure`, not yet in its place."""
    ax = figure.add_axes((0.9, 0.1, 0.02, 0.3), label="bar")
    colours = maps.colours(scale)
    ax.imshow(
        colours[None] if flat else colours[:, None],
        interpolation="none",
        aspect="auto",
        origin="lower",
        extent=(scale.low, scale.high, 0.0, 1.0) if flat else (0.0, 1.0, scale.low, scale.high),
    )
    ax.spines[:].set_visible(True)
    places = [value for value, _ in scale.ticks if scale.low <= value <= scale.high]
    labels = [style.typeset(name) for value, name in scale.ticks if value in places]
    if flat:
        ax.set_xticks(places, labels)
        ax.set_yticks([])
    else:
        ax.set_xticks([])
        ax.yaxis.tick_right()
        ax.yaxis.set_label_position("right")
        ax.set_yticks(places, labels)
    return Bar(ax, scale, flat, text)
