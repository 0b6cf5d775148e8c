"""Decay, from the top: the curves of all heads, and their slopes against those that were set."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import streamlit as st

from pages._shared import draw, export, head_grid, terms
from pages.decay import controls, exports, how, portraits
from pages.decay.portraits import Sitter
from viz_core.figures import head_curves, slopes
from viz_core.figures.spec import Chart, FigureSpec
from viz_core.plates.head_curves import HOW, drawable
from viz_core.render import multiples
from viz_core.signatures import slope
from viz_core.words import say

FAR = 128  # tokens: how far the fall that is said in words goes
ACROSS = 4  # small panels in a row; the halves of a row stand one below the other on a narrow page
COLUMNS = 3  # of such rows side by side
MOST = 144  # heads of which all are shown at once


def curves(sitters: Sequence[Sitter]) -> None:
    """Small multiples: a panel per layer and head."""
    s = st.session_state
    st.subheader(
        say("Decay curves of all heads"),
        anchor=False,
        help=terms.of("distance", "log-attention", "nat", "law"),
    )
    st.markdown("\n".join(_fall(one) for one in sitters))
    only = controls.view({one.id: one.name for one in sitters})
    sitters = [one for one in sitters if only in ("", one.id)]
    estimator = exports.ESTIMATORS[s.decay_estimator]
    sides = [
        drawable(one.portrait, one.name, one.accent, estimator, s.decay_sink) for one in sitters
    ]
    sink = sitters[0].portrait.sink
    spec = head_curves.build(
        sides,
        say(HOW[estimator]),
        say("the first {sink} keys in", sink=sink)
        if s.decay_sink
        else say("the first {sink} keys left out", sink=sink),
        s.decay_law,
        s.decay_x_log,
    )
    law = say("the encoding's own law") if s.decay_law else ""
    head_grid.legend([(one.name, one.accent) for one in sitters], law)
    panels = [p for p in spec.panels if isinstance(p, Chart)]
    layers, heads = grid(sitters)
    if any(one.portrait.curve.shape[:2] != (layers, heads) for one in sitters):
        st.caption(say("Drawn are the layers and heads that all of these checkpoints have."))
    if layers * heads > MOST:
        layer = min(s.decay_layer, layers - 1)
        panels = panels[layer * heads : (layer + 1) * heads]
        st.caption(
            say(
                "These are the {heads} heads of layer {layer}; above, choose another.",
                heads=heads,
                layer=layer + 1,
            )
        )
    parts = math.ceil(heads / ACROSS)
    even = parts <= COLUMNS and heads % ACROSS == 0
    count = parts if even else min(parts, 2)  # rows take turns in two columns
    widths = [min(ACROSS, heads - i * ACROSS) for i in range(count)]
    for i, column in enumerate(st.columns(widths, gap="small")):
        part = [p for j, p in enumerate(panels) if j % heads // ACROSS % count == i]
        column.plotly_chart(
            multiples.multiples(part, widths[i], draw.dark()),
            key=f"decay_curves{i}",
            theme=None,
            config={"displayModeBar": False},
            alt=spec.alt,
        )
    _leave(spec, sitters)
    st.caption(spec.caption + _made(sitters))
    how.show("curves")


def grid(sitters: Sequence[Sitter]) -> tuple[int, int]:
    """(layers, heads) that all of `sitters` have."""
    shapes = [one.portrait.curve.shape for one in sitters]
    return min(shape[0] for shape in shapes), min(shape[1] for shape in shapes)


def _leave(spec: FigureSpec, sitters: Sequence[Sitter]) -> None:
    s = st.session_state
    layers = min(len(one.portrait.curve) for one in sitters)
    leaving = exports.shown(
        spec,
        "head-curves",
        sitters,
        layers=list(range(1, layers + 1)),
        estimator=exports.ESTIMATORS[s.decay_estimator],
        sink="in" if s.decay_sink else "out",
        laws="yes" if s.decay_law else "no",
        x_scale="log" if s.decay_x_log else "linear",
    )
    export.row(leaving, "decay_curves")


def _fall(one: Sitter) -> str:
    """How far log-attention falls over the nearest FAR tokens, in words."""
    curve = one.portrait.curve
    far = min(FAR, curve.shape[2] // 2)
    falls = (curve[..., 1] - curve[..., far]).ravel()
    least, middle, most = (portraits.number(v, 1) for v in np.quantile(falls, (0, 0.5, 1)))
    return say(
        "- **{name}**: from distance 1 to {far} log-attention falls by {middle} nats in the "
        "median head ({least} to {most}).",
        name=one.name,
        far=far,
        middle=middle,
        least=least,
        most=most,
    )


def _made(sitters: Sequence[Sitter]) -> str:
    commands = list(dict.fromkeys(one.command for one in sitters if one.command))
    return "".join(say(" Made by `{command}`.", command=command) for command in commands)


def scatter(sitters: Sequence[Sitter]) -> None:
    """Nominal against measured slopes, where an encoding sets them; those of others in words."""
    st.subheader(say("Slopes"), anchor=False, help=terms.of("slope", "interval"))
    sides = [_slopes(one) for one in sitters if one.portrait.nominal.any()]
    st.markdown("\n".join(_said(one) for one in sitters))
    for side in sides:
        spec = slopes.build(side)
        draw.charts(spec, key=f"decay_slopes_{side.name}", height=380)
        one = next(one for one in sitters if one.name == side.name)
        export.row(exports.shown(spec, "slopes", [one]), f"decay_slopes_{side.name}")
        st.caption(spec.caption)
    if not sides:
        st.info(
            say("None of these encodings sets a slope: choose ALiBi to see nominal and measured.")
        )
    how.show("slopes")


def _slopes(one: Sitter) -> slopes.Side:
    p = one.portrait
    found = [slope.compare(p.slope[:, i], p.nominal) for i in range(p.slope.shape[1])]
    relative = np.abs(np.stack([f.relative for f in found]))
    return slopes.Side(
        one.name,
        one.accent,
        p.nominal,
        np.stack([f.value for f in found]),
        np.stack([f.low for f in found]),
        np.stack([f.high for f in found]),
        float(np.nanmedian(relative)),
        p.texts,
        p.length,
    )


def _said(one: Sitter) -> str:
    rows = portraits.statistics(one)
    if one.portrait.nominal.any():
        off = rows.slope_error.abs()
        worst = rows.loc[off.idxmax()]
        return say(
            "- **{name}**: measured and nominal slope differ by {middle} in the median head, at "
            "most by {most} (layer {layer}, head {head}).",
            name=one.name,
            middle=portraits.percent(off.median(), 1),
            most=portraits.percent(off.max()),
            layer=worst.layer,
            head=worst["head"],
        )
    level = int(((rows.slope_low <= 0) & (rows.slope_high >= 0)).sum())
    return say(
        "- **{name}** sets no slope: a straight line through its curves falls by {slope:.4f} nats "
        "per token in the median head; in {level} of {heads} heads the 95 % interval holds 0.",
        name=one.name,
        slope=-rows.slope.median(),
        level=level,
        heads=len(rows),
    )
