"""The tray as one figure, and its picture: drawn once for all who ask, one at a time."""

from __future__ import annotations

from collections.abc import Hashable

from pages._shared import device
from pages._shared.shelf import Shelf
from viz_core import catalogue, results
from viz_core.errors import AtlasError
from viz_core.export import Export, data
from viz_core.plates import Plot, tray
from viz_core.plates.tray import Pin, Tray
from viz_core.progress import Progress
from viz_core.words import language

SHARP = 192  # dots per inch of the picture: two for each pixel of a screen at true size

# Of the server, as in `device`.
plots: Shelf[Plot] = Shelf(256 << 20)
pictures: Shelf[bytes] = Shelf(32 << 20)


class PinError(AtlasError):
    """What stands in the way of one pin, `word`."""

    def __init__(self, word: str, reason: AtlasError) -> None:
        super().__init__(str(reason))
        self.word = word


def composed(one: Tray, name: str, dpi: float, progress: Progress) -> Export:
    """The figure of all pins, ready to be written as `name`.

    Raises PinError for a pin that can't be drawn, and AtlasError for an empty tray or no such
    paper. `progress` may raise, which cancels.
    """

    def drawn(pin: Pin, part: Progress) -> Plot:
        return plot(pin, part, progress)

    return tray.export(one, name, dpi, progress, drawn)


def plot(pin: Pin, progress: Progress, wait: Progress) -> Plot:
    """One pin's figure, from the shelf or drawn now, when its turn has come. Raises PinError.

    `progress` hears of the drawing, `wait` of the wait for it.
    """
    key = pin.word(), language(), _marks()
    found = plots.get(key)
    if found is None:
        try:
            with device.turn(wait):
                found = plots.get(key) or device.computed("figure", lambda: pin.draw(progress))
        except AtlasError as error:
            raise PinError(pin.word(), error) from None
        plots.put(key, found, _size(found))
    return found


def picture(one: Tray, progress: Progress) -> tuple[bytes, Export]:
    """A PNG of the figure for a screen, and the figure. Raises as `composed`."""
    figure = composed(one, "figure", SHARP, progress)
    key = one.to_json(), one.target.language, _marks()
    found = pictures.get(key)
    if found is None:
        (found,) = figure.files("png").values()
        pictures.put(key, found, len(found))
    return found, figure


def _marks() -> Hashable:
    """Differs once a file differs from which figures are drawn."""
    paths = [*results.FOLDER.glob("*"), *catalogue.SHIPPED.glob("*/*.*")]
    return tuple((p.name, p.stat().st_mtime_ns) for p in sorted(paths))


def _size(plot: Plot) -> int:
    return sum(array.nbytes for array in data.arrays(plot.spec).values())
