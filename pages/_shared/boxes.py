"""A part of a map: queries and keys."""

from __future__ import annotations

from viz_core.types import Range

Box = tuple[Range, Range]  # queries and keys, the ends excluded


def seen(box: Box) -> bool:
    """Whether some key of the window lies not after some query of it."""
    (_, last), (first, _) = box
    return first < last
