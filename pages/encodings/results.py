"""The encodings of Encodings' state by position alone, each computed once."""

from __future__ import annotations

from functools import lru_cache

from pages.encodings.state import AtlasSide, AtlasState
from viz_core.alone import PIXELS, Alone, bound, make, trained, vectors, window
from viz_core.encodings import Geometry

__all__ = ["PIXELS", "Alone", "alone", "bound", "trained", "vectors", "window"]


def alone(side: AtlasSide, state: AtlasState) -> Alone:
    """The encoding of `side` at the sizes of `state`; UsageError where it can't have them."""
    width = state.heads * state.width
    return _alone(side, Geometry(state.heads, state.width, width, state.trained), state.length)


@lru_cache(maxsize=8)
def _alone(side: AtlasSide, geometry: Geometry, length: int) -> Alone:
    return make(side.encoding, dict(side.values), geometry, length)
