"""Ripples of Decay: spectra with RoPE's wavelengths marked, and which frequencies heads use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import streamlit as st

from pages._shared import draw, export, terms
from pages.decay import controls, exports, how, portraits, rescaled_peaks, stairs
from pages.decay.portraits import Sitter
from viz_core.catalogue import Checkpoint
from viz_core.errors import LengthError
from viz_core.figures import frequency_use, spectra
from viz_core.signatures import pairs, spectrum
from viz_core.words import mark, say

BASE, PAIRS = 10_000.0, 16  # plain RoPE, for encodings that have no frequencies of their own
OWN = mark(
    "- **{name}**: {clear} of {heads} heads ripple at RoPE's frequencies (p ≤ {p:g}; chance alone: "
    "{chance:.1f}); in the median head R² is {middle}, {even} for random ones."
)
OTHERS = mark(
    "- **{name}**: {clear} of {heads} heads ripple at plain RoPE's frequencies, not theirs "
    "(p ≤ {p:g}; chance alone: {chance:.1f}); in the median head R² is {middle}, {even} for random "
    "ones."
)
CELL = mark("explained {value:.3f}, p {p:.3f}")


def theta(one: Sitter) -> np.ndarray:
    """The frequencies that are tested on this checkpoint, radians per token: its own, or RoPE's."""
    own = one.portrait.theta
    return own if len(own) else BASE ** (-np.arange(PAIRS) / PAIRS)


def swings(sitters: Sequence[Sitter], place: tuple[int, int]) -> None:
    """Spectra of a layer's heads, and how much RoPE's own frequencies explain in every head."""
    st.subheader(say("Ripples"), anchor=False, help=terms.of("ripple", "wavelength"))
    st.markdown("\n".join(_said(one) for one in sitters))
    _draw(sitters, place, "decay_spectra")
    stairs.grid(sitters, "ripple", "ripple_p", CELL)
    st.caption(
        say(
            "Share of the detrended curve that RoPE's frequencies explain (adjusted R²), by layer "
            "(rows) and head (columns); bold: p ≤ {p:g} against random frequencies.",
            p=portraits.CLEAR,
        )
    )
    how.show("ripples")


def _said(one: Sitter) -> str:
    return stairs.passed(one, "ripple", OWN if len(one.portrait.theta) else OTHERS)


def _draw(sitters: Sequence[Sitter], place: tuple[int, int], key: str) -> None:
    sides = []
    for one in sitters:
        p = one.portrait
        try:
            found = spectrum.spectrum(p.curve[place[0]], p.pairs, theta(one))
        except LengthError as error:
            st.info(say("{name}: {reason}", name=one.name, reason=error))
            continue
        row = portraits.row(one, place)
        words = say("R² {value:.2f} (p {p:.3f})", value=row.ripple, p=row.ripple_p)
        sides.append(
            spectra.Side(
                one.name,
                one.accent,
                found.frequency,
                found.amplitude,
                theta(one),
                words,
                p.texts,
                p.length,
            )
        )
    if sides:
        marked = say(
            "RoPE's wavelengths, under each panel's own setting; plain RoPE's where it has none"
        )
        spec = spectra.build(sides, *place, marked)
        draw.charts(spec, key=key, height=340, across=3)
        some = [one for one in sitters if one.name in {side.name for side in sides}]
        leaving = exports.shown(spec, "spectra", some, **_where(place))
        export.row(leaving, key)
        st.caption(spec.caption)


def rotation(
    sitters: Sequence[Sitter], checkpoint: Checkpoint | None, place: tuple[int, int]
) -> None:
    """Which frequencies heads use, and whether ripples follow them; for `sitters` that rotate.

    The control runs `checkpoint`. Raises AtlasError where its texts or its length won't do.
    """
    left, right = st.columns(2, gap="medium")
    with left:
        _use(sitters, place)
    moved = list[Sitter]()
    if checkpoint is not None:
        with right:
            moved = rescaled_peaks.show(controls.state(), checkpoint)
    if moved:
        _draw(moved, place, "decay_control_spectra")


def _use(sitters: Sequence[Sitter], place: tuple[int, int]) -> None:
    sides = []
    for one in sitters:
        p, (layer, head) = one.portrait, place
        used = pairs.use(p.query_norm[layer], p.key_norm[layer], p.theta, p.trained)
        share = float(used.incomplete[head])
        about = (p.trained, share, used.incomplete_even, p.texts, p.length)
        sides.append(
            frequency_use.Side(one.name, one.accent, used.share, used.even, p.theta, *about)
        )
    spec = frequency_use.build(sides, *place)
    draw.charts(spec, key="decay_use", height=340, across=1)
    leaving = exports.shown(spec, "frequency-use", sitters, **_where(place))
    export.row(leaving, "decay_use")
    st.caption(spec.caption)


def _where(place: tuple[int, int]) -> dict[str, Any]:
    """The place of one head as the options of a plate."""
    return {"layer": place[0] + 1, "heads": [place[1] + 1]}
