"""Small pictures of every head of a checkpoint, drawn once for all who look at its wall."""

from __future__ import annotations

from collections.abc import Hashable

from pages._shared.shelf import Shelf
from viz_core import attention
from viz_core.figures import head_wall
from viz_core.figures.spec import Heatmap
from viz_core.render import png
from viz_core.survey import Survey

SIDE = 80  # pixels on a side, about, of a head on the wall
WALL = 2_000_000  # pixels of a whole wall: walls of many heads have smaller pictures

walls: Shelf[list[bytes]] = Shelf(64 << 20)  # of the server, as in `device`


def drawn(key: Hashable, found: Survey, encoding: str, trained: int, linear: bool) -> list[bytes]:
    """The wall of `found`, which `key` identifies: a PNG per layer and head, in that order."""
    images = walls.get((key, linear))
    if images is None:
        heads = sum(len(w.value) for w in found.windows)
        side = min(SIDE, (WALL / heads) ** 0.5)
        factor = max(1, round(max(found.windows[0].count.shape) / side))
        small = [attention.coarser(w, factor) for w in found.windows]
        spec = head_wall.build(small, encoding, trained, linear)
        images = [png.thumbnail(p) for p in spec.panels if isinstance(p, Heatmap)]
        walls.put((key, linear), images, sum(map(len, images)))
    return images
