"""Spectrum: how strongly a head's curve swings at each frequency, and where it swings most."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from viz_core.errors import LengthError
from viz_core.signatures import frequencies, trend
from viz_core.words import say

FINE = 8  # bins per resolved frequency: the curve is padded with zeros to FINE times its length

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Spectrum:
    """Amplitudes of the detrended curves by frequency.

    frequency [bin], cycles per token, from 2 turns over the curve to 1/2; amplitude [head, bin],
    nats: what a lone wave of that frequency has. peak [head], cycles per token, to a fraction of a
    bin: the highest; every curve has one, so it says something only where `ripple.fit` does. Two
    waves nearer than `resolution`, cycles per token, are one peak.
    """

    frequency: Array
    amplitude: Array
    peak: Array
    resolution: float


def spectrum(curve: Array, pairs: npt.NDArray[np.integer], theta: Array | None = None) -> Spectrum:
    """The amplitude spectrum of a curve [head, distance], nats, less its trend (`trend.remove`).

    Hann window, Fourier transform; RoPE's waves lie at theta_k / 2 pi, none above 1 / 2 pi.
    `theta` [pair], radians per token: RoPE's frequencies, whose slow waves belong to the trend.
    LengthError for fewer than 16 distances.
    """
    distances = curve.shape[1]
    if distances < 16:
        raise LengthError(
            say(
                "Expected at least 16 distances for a spectrum; got {distances}.",
                distances=distances,
            )
        )
    slow = np.empty(0) if theta is None else theta[~frequencies.fast(theta, distances)]
    window = np.hanning(distances + 2)[1:-1]
    swings = np.fft.rfft(trend.remove(curve, pairs, slow) * window, FINE * distances)
    first = int(frequencies.TURNS * FINE)
    amplitude = 2 * np.abs(swings[:, first:]) / window.sum()
    frequency = np.arange(first, swings.shape[1]) / (FINE * distances)
    peak = frequency[0] + _peak(amplitude) / (FINE * distances)
    return Spectrum(frequency, amplitude, peak, 2 / distances)


def _peak(amplitude: Array) -> Array:
    """The bin of the highest amplitude, to a fraction: a parabola through it and its neighbours.

    [head]. In logarithms, where the top of a Hann window's peak nearly is one.
    """
    at = amplitude[:, 1:-1].argmax(axis=1) + 1
    smallest = np.finfo(np.float64).tiny  # a flat curve has no swing at all, and no logarithm
    log = np.log(np.maximum(amplitude, smallest))
    before, top, after = (np.take_along_axis(log, (at + n)[:, None], 1)[:, 0] for n in (-1, 0, 1))
    bend = 2 * top - before - after
    fraction = (after - before) / np.where(bend > 0, 2 * bend, 1)
    return np.asarray(at + np.where(bend > 0, np.clip(fraction, -0.5, 0.5), 0))
