"""A picture as others will see it: printed in grey, or by eyes that lack one kind of cone."""

from __future__ import annotations

import io

import numpy as np
from PIL import Image

from viz_core.render import paper
from viz_core.words import mark

PLAIN, GREY = "plain", "grey"
# Of linear RGB, at full severity: Machado, Oliveira & Fernandes 2009, "A Physiologically-based
# Model for Simulation of Color Vision Deficiency", the authors' own table.
CONES = {
    "protan": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deutan": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritan": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}
NAMES = {
    PLAIN: mark("Colour"),
    GREY: mark("Grey"),
    "protan": mark("Protan"),
    "deutan": mark("Deutan"),
    "tritan": mark("Tritan"),
}
WORDS = {
    GREY: mark("As a printer without colour prints it: luminance, ITU-R 601."),
    "protan": mark(
        "As eyes without cones for red see it, simulated after Machado, Oliveira & Fernandes 2009, "
        "at full severity, in linear RGB."
    ),
    "deutan": mark(
        "As eyes without cones for green see it, simulated after Machado, Oliveira & Fernandes "
        "2009, at full severity, in linear RGB."
    ),
    "tritan": mark(
        "As eyes without cones for blue see it, simulated after Machado, Oliveira & Fernandes "
        "2009, at full severity, in linear RGB."
    ),
}


def seen(png: bytes, sight: str) -> bytes:
    """The PNG as `sight` (NAMES) sees it."""
    if sight == PLAIN:
        return png
    if sight == GREY:
        return paper.grey(png)
    with Image.open(io.BytesIO(png), formats=("PNG",)) as image:
        rgb = np.asarray(image.convert("RGB"))
    out = io.BytesIO()
    Image.fromarray(transformed(rgb, sight)).save(out, "PNG")
    return out.getvalue()


def transformed(rgb: np.ndarray, sight: str) -> np.ndarray:
    """sRGB bytes [..., 3] as eyes without the cones of `sight` (CONES) see them, as sRGB bytes."""
    levels = np.arange(256) / 255
    linear = np.where(levels <= 0.04045, levels / 12.92, ((levels + 0.055) / 1.055) ** 2.4)
    light = linear[rgb] @ np.array(CONES[sight]).T
    light = light.clip(0, 1)
    coded = np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)
    return np.round(255 * coded).astype(np.uint8)
