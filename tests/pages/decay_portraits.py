"""Portraits whose statistics are known, since their curves were made by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from pages._shared import offered
from viz_core import results
from viz_core.results import Kept
from viz_core.signatures.portrait import Portrait

LAYERS, HEADS, LENGTH, TEXTS, SINK = 2, 4, 300, 8, 4
EDGES = np.array([*range(17), 19, 21, 24, 27, 31, 35, 40, 46, 52, 59, 67, 77, 87, 99, 113])
THETA = 10_000.0 ** (-np.arange(16) / 16)
NOMINAL = -(2.0 ** -np.arange(1, HEADS + 1))
COMMAND = "python -m viz_core signatures --made-up"
NOISE = 0.02  # nats


def shape_of(encoding: str, theta: np.ndarray = THETA) -> np.ndarray:
    """What position alone does: [head, distance], nats."""
    d = np.arange(LENGTH - SINK)
    if encoding == "alibi":
        return NOMINAL[:, None] * d
    if encoding == "rope":  # each head swings most at a pair of its own
        waves = np.cos(d[:, None] * theta[:5])
        return np.stack([waves @ np.where(np.arange(5) == h, 1.0, 0.2) for h in range(HEADS)])
    if encoding == "t5":
        bucket = np.searchsorted(EDGES, d, side="right")
        return np.repeat(-0.3 * bucket[None], HEADS, axis=0)
    return np.zeros((HEADS, len(d)))


def made(encoding: str, theta: np.ndarray = THETA, setting: str = "", seed: int = 0) -> Portrait:
    """All layers alike but for noise; RoPE's curve turns at `theta`."""
    rng = np.random.default_rng(seed)
    size = LENGTH - SINK
    law = np.repeat(shape_of(encoding, theta)[None], LAYERS, axis=0)
    curve = law + NOISE * rng.standard_normal(law.shape)
    weight = np.exp(curve)
    later = (1 / weight.cumsum(-1))[..., ::-1].cumsum(-1)[..., ::-1]  # queries with such a key
    nominal = NOMINAL if encoding == "alibi" else np.zeros(HEADS)
    heads = (LAYERS, HEADS)
    norms = np.ones((*heads, len(theta))) if encoding == "rope" else np.empty(0)
    moves = encoding in ("learned", "sinusoidal")
    return Portrait(
        encoding=encoding,
        setting=setting,
        trained=LENGTH,
        length=LENGTH,
        texts=TEXTS,
        sink=SINK,
        near=128,
        curve=curve,
        error=np.full_like(curve, NOISE),
        with_sink=curve + 0.5,
        logit=curve + 7.0,
        probability=weight * later / np.arange(size, 0, -1),
        law=np.full_like(law, np.nan) if moves else law,
        pairs=TEXTS * np.arange(size, 0, -1),
        slope=nominal + 1e-4 * rng.standard_normal((TEXTS, *heads)),
        nominal=nominal,
        sink_mass=np.full(heads, 0.01),
        sink_even=0.05,
        induction=np.full(heads, 0.03),
        induction_even=0.03,
        entropy_share=np.full(heads, 0.6),
        explained=np.full(heads, 0.25),
        held_out=np.full(heads, 0.24),
        chance=np.full(heads, 0.005),
        edges=EDGES,
        theta=theta if encoding == "rope" else np.empty(0),
        query_norm=norms,
        key_norm=norms,
        shift=np.full(heads, 0.2 if moves else 0.0),
    )


def kept(portrait: Portrait) -> Kept:
    """As it lies on disk, of the checkpoint that is shipped under the encoding's name."""
    sha256 = offered.checkpoints()[0][portrait.encoding].sha256
    return Kept(portrait, COMMAND, sha256, ("0" * 64,))


def write(folder: Path, *encodings: str) -> None:
    """The portraits of `encodings`, shipped in `folder`."""
    for encoding in encodings:
        results.write_portrait(folder, encoding, kept(made(encoding)))


def stale(folder: Path, encoding: str) -> None:
    """A portrait of a checkpoint that is there no more."""
    other = replace(kept(made(encoding)), checkpoint="1" * 64)
    results.write_portrait(folder, encoding, other)
