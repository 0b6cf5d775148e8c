"""A portrait's statistics as a table: one row per layer and head, each number with its null."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from viz_core.errors import LengthError
from viz_core.signatures import kinds, pairs, reach, ripple, slope, spectrum, staircase
from viz_core.signatures.portrait import Array, Portrait

Value = float | int | str | None
Column = npt.NDArray[Any] | float  # [head], or one value for all


def rows(portrait: Portrait) -> list[dict[str, Value]]:
    """One row per layer and head (both counted from 1); None where a statistic doesn't exist.

    - slope, slope_low, slope_high, slope_nominal, slope_error (relative; None without a nominal);
    - reach_50, reach_90, reach_99 (tokens) and what uniform attention has (`reach_90_even`);
    - stairs (score on T5's bucket edges) and stairs_p; ripple (adjusted R^2 of RoPE's frequencies
      in the detrended curve), ripple_even (of random ones) and ripple_p; period of the highest
      peak, tokens; incomplete: share of q and k's norm in pairs that never turned once in
      training, incomplete_even for pairs used alike;
    - position (share of log-attention that distance explains among near keys, adjusted),
      position_held_out (by the other texts' curve) and position_p;
    - kind, and the scores that it was told by, each with `_even`: what uniform attention has;
    - entropy as a share of uniform attention's; shift: the change when all positions move.
    """
    found = list[dict[str, Value]]()
    for layer in range(len(portrait.curve)):
        columns = _layer(portrait, layer)
        for head in range(portrait.curve.shape[1]):
            row: dict[str, Value] = {"layer": layer + 1, "head": head + 1}
            for name, values in columns.items():
                row[name] = _plain(values[head] if isinstance(values, np.ndarray) else values)
            found.append(row)
    return found


def windowed(portrait: Portrait) -> bool:
    """Whether its curves end before its texts do, where some layers see a window alone.

    Kinds and reach need every distance, so `rows` leaves them blank then.
    """
    return bool(portrait.probability.shape[2] + portrait.sink < portrait.length)


def scores(portrait: Portrait, layer: int) -> dict[str, kinds.Score]:
    """What the heads of a layer are sorted by kind with."""
    probability = portrait.probability[layer]
    if windowed(portrait):
        blank = kinds.Score(np.full(len(probability), math.nan), math.nan)
        found = dict.fromkeys((kinds.DIAGONAL, kinds.PREVIOUS, kinds.LOCAL, kinds.LONG), blank)
    else:
        found = kinds.by_distance(probability, portrait.sink)
    found[kinds.SINK] = kinds.Score(portrait.sink_mass[layer], portrait.sink_even)
    if not math.isnan(portrait.induction_even):
        found[kinds.INDUCTION] = kinds.Score(portrait.induction[layer], portrait.induction_even)
    return found


def reaches(portrait: Portrait, layer: int) -> tuple[Array, Array]:
    """([head, share], [share]): reach of the heads of a layer, and of uniform attention."""
    size = portrait.probability.shape[2]
    mass = reach.mass(portrait.probability[layer], portrait.pairs)
    even = reach.reach(reach.geometric(np.zeros(1), size))
    return reach.reach(mass), even[0]


def _layer(portrait: Portrait, layer: int) -> dict[str, Column]:
    """The columns of one layer."""
    p, curve = portrait, portrait.curve[layer]
    slopes = slope.compare(p.slope[:, layer], p.nominal)
    far, even = reaches(p, layer)
    told = scores(p, layer)
    kind: Column = np.array(kinds.sort(told)) if not windowed(p) else math.nan
    if windowed(p):  # the far keys of full layers are missing, and with them both of these
        far, even = np.full_like(far, math.nan), np.full_like(even, math.nan)
    columns: dict[str, Column] = {
        "slope": slopes.value,
        "slope_low": slopes.low,
        "slope_high": slopes.high,
        "slope_nominal": np.where(p.nominal != 0, p.nominal, np.nan),
        "slope_error": slopes.relative,
        **{f"reach_{share:.0%}".rstrip("%"): far[:, i] for i, share in enumerate(reach.SHARES)},
        "reach_90_even": even[reach.SHARES.index(0.9)],
        **_stairs(p, curve),
        **_ripples(p, curve),
        **_norms(p, layer),
        "position": p.explained[layer],
        "position_held_out": p.held_out[layer],
        "position_p": p.chance[layer],
        "kind": kind,
    }
    for name, score in told.items():
        columns[name.replace(" ", "_")] = score.value
        columns[f"{name.replace(' ', '_')}_even"] = score.baseline
    columns |= {"entropy": p.entropy_share[layer], "shift": p.shift[layer]}
    return columns


def _stairs(p: Portrait, curve: Array) -> dict[str, Column]:
    try:
        found = staircase.climb(curve, p.edges)
    except LengthError:
        return {"stairs": math.nan, "stairs_p": math.nan}
    return {"stairs": found.score, "stairs_p": found.p}


def _ripples(p: Portrait, curve: Array) -> dict[str, Column]:
    """RoPE's frequencies; for other encodings those of plain RoPE with as many channels: a null."""
    theta = p.theta if len(p.theta) else 10000.0 ** (-np.arange(16) / 16)
    try:
        found = ripple.fit(curve, p.pairs, theta)
        swings = spectrum.spectrum(curve, p.pairs, theta)
    except LengthError:
        return dict.fromkeys(("ripple", "ripple_even", "ripple_p", "period"), math.nan)
    return {
        "ripple": found.explained,
        "ripple_even": found.expected,
        "ripple_p": found.p,
        "period": 1 / swings.peak,
    }


def _norms(p: Portrait, layer: int) -> dict[str, Column]:
    if not len(p.theta):
        return {"incomplete": math.nan, "incomplete_even": math.nan}
    used = pairs.use(p.query_norm[layer], p.key_norm[layer], p.theta, p.trained)
    return {"incomplete": used.incomplete, "incomplete_even": used.incomplete_even}


def _plain(value: Any) -> Value:
    if isinstance(value, str):
        return str(value)
    number = float(value)
    return None if math.isnan(number) else number
