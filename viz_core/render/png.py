"""Heatmaps as small palette PNGs: a wall of 32 heads is a few hundred kilobytes."""

from __future__ import annotations

import io

import numpy as np
from PIL import Image

from viz_core.figures.spec import Heatmap
from viz_core.render import palette

_CLEAR = 255  # palette index of empty cells


def thumbnail(panel: Heatmap) -> bytes:
    """The panel's cells, one pixel each, in its scale's colours; empty cells transparent."""
    span = max(panel.scale.high - panel.scale.low, 1e-12)
    level = (panel.value - panel.scale.low) / span
    index = np.full(level.shape, _CLEAR, dtype=np.uint8)
    known = np.isfinite(level)
    index[known] = np.round(level[known].clip(0, 1) * 254)
    image = Image.fromarray(index, mode="P")
    colours = palette.table(panel.scale.colours)[np.linspace(0, 255, 255).round().astype(int)]
    image.putpalette([*colours.flatten().tolist(), 0, 0, 0])
    out = io.BytesIO()
    image.save(out, "PNG", transparency=_CLEAR, optimize=True)
    return out.getvalue()
