"""A control of Decay's ripples: under PI and NTK peaks must move by known factors."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pandas as pd
import streamlit as st

from pages._shared import setting_choices
from pages._shared.waiting import Waiting
from pages.decay import how, portraits
from pages.decay.portraits import Sitter
from pages.decay.state import DecayState
from viz_core import series
from viz_core.catalogue import Checkpoint
from viz_core.errors import LengthError
from viz_core.signatures import frequencies, ripple, spectrum
from viz_core.words import say

SETTINGS = ("", "linear:4", "ntk:4")


def show(state: DecayState, checkpoint: Checkpoint) -> list[Sitter]:
    """The button; once pressed, in words, how far the peaks moved.

    Returns `checkpoint` under each of SETTINGS, measured on the texts of `state`; none before.
    Raises AtlasError where texts or length won't do.
    """
    st.markdown(say("**Control: do the peaks move with the rotation?**"))
    if not setting_choices.ours(checkpoint):
        st.caption(say(setting_choices.FOREIGN))
        return []
    wanted = (checkpoint.sha256, state.text, state.length, state.texts)
    done = st.session_state.setdefault("decay_controlled", set())  # what this visitor has computed
    pressed = st.button(say("Measure under PI and NTK"), key="decay_control")
    if not pressed and wanted not in done:
        name = series.name(checkpoint.config.encoding, "", checkpoint.id)
        st.caption(
            say(
                "Runs {name} as trained, under PI and under NTK (s = 4) over {texts} texts of "
                "{length:,} tokens: seconds. PI makes every wavelength 4 times as long, NTK the "
                "slow ones alone; ripples of rotation must follow.",
                name=name,
                texts=state.texts,
                length=state.length,
            )
        )
        return []
    portraits.notes(some := portraits.passages(state, checkpoint), [checkpoint])
    waiting = Waiting(bar := st.empty())
    sitters = [portraits.measured(checkpoint, s, state.text, some, waiting) for s in SETTINGS]
    bar.empty()
    done.add(wanted)
    st.markdown("\n".join(_said(sitters[0], one) for one in sitters[1:]))
    how.show("control")
    return sitters


def _said(before: Sitter, after: Sitter) -> str:
    rows = moved(before, after)
    if rows.empty:
        return say(
            "- **{name}**: no head ripples clearly as trained, so there is none to follow.",
            name=after.name,
        )
    new, old = (portraits.number(rows[name].median(), 2) for name in ("new", "old"))
    return say(
        "- **{name}**: of the {heads} heads that ripple clearly as trained, {there} have their "
        "highest peak where its pair turns now; had peaks stayed, {stayed} would. The new "
        "frequencies explain {new} of the new curves (R², median head), those of training {old}.",
        name=after.name,
        heads=len(rows),
        there=rows.there.sum(),
        stayed=rows.stayed.sum(),
        new=new,
        old=old,
    )


@lru_cache(maxsize=16)
def moved(before: Sitter, after: Sitter) -> pd.DataFrame:
    """A row per head that ripples clearly `before`: whether its highest peak followed its pair.

    `period`, `expected`, `found`: of the highest peak before, tokens; of the same pair `after`; of
    the highest peak then. Peaks are sought among pairs that are told from the trend under both
    settings. `there`: the last two are one peak at the spectrum's resolution; `stayed`: whether
    the first two would be. `new`, `old`: R² of the frequencies after and before in the new curve.
    Raises LengthError where no pair is left.
    """
    old, new = before.portrait, after.portrait
    size = old.curve.shape[2]
    both = frequencies.fast(old.theta, size) & frequencies.fast(new.theta, size)
    if not both.any():
        raise LengthError(
            say(
                "Expected a text in which RoPE's fastest pair turns twice under {name} too; got "
                "one of {length:,} tokens. Measure a longer one.",
                name=after.name,
                length=old.length,
            )
        )
    slowest = np.flatnonzero(both)[-1]
    rows = []
    for layer in range(len(old.curve)):
        clear = ripple.fit(old.curve[layer], old.pairs, old.theta).p <= portraits.CLEAR
        fits = [
            ripple.fit(new.curve[layer], new.pairs, t).explained for t in (new.theta, old.theta)
        ]
        peaks = [_peak(p.curve[layer], p, slowest) for p in (old, new)]
        pair = frequencies.number(old.theta, 2 * np.pi * peaks[0]).round().astype(int)
        pair = pair.clip(0, slowest)
        expected = new.theta[pair] / (2 * np.pi)
        near = 1 / size  # half of the spectrum's resolution
        for h in np.flatnonzero(clear):
            rows.append(
                {
                    "period": 1 / peaks[0][h],
                    "expected": 1 / expected[h],
                    "found": 1 / peaks[1][h],
                    "there": abs(peaks[1][h] - expected[h]) <= near,
                    "stayed": abs(peaks[0][h] - expected[h]) <= near,
                    "new": fits[0][h],
                    "old": fits[1][h],
                }
            )
    return pd.DataFrame(rows)


def _peak(curve: np.ndarray, portrait: portraits.Portrait, slowest: int) -> np.ndarray:
    """The frequency of each head's highest swing among pairs up to `slowest`, cycles per token."""
    found = spectrum.spectrum(curve, portrait.pairs, portrait.theta)
    least = frequencies.at(portrait.theta, np.array([slowest + 0.5]))[0] / (2 * np.pi)
    first = int(np.searchsorted(found.frequency, least))
    return np.asarray(found.frequency[first + found.amplitude[:, first:].argmax(axis=1)])
