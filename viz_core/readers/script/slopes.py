"""ALiBi and T5's bias from their buffers: slopes of the heads, a bias by distance, buckets."""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch
from torch import Tensor

from viz_core.encodings.alibi import slopes
from viz_core.errors import DamagedCheckpoint
from viz_core.readers.description import Finding
from viz_core.readers.script.evidence import Evidence, tensors
from viz_core.readers.script.sheet import Sheet
from viz_core.readers.script.tensors import Entry, listed
from viz_core.words import mark, say

CLOSE = 1e-3  # relative: slopes kept in bfloat16 are off by 0.4 %

Found = Mapping[int | None, Entry]


def from_slopes(sheet: Sheet, found: Found) -> Evidence:
    """From one slope per head, of any shape; its sign is that of a penalty."""
    name = listed([next(iter(found.values())).name])
    given = {n: t.flatten().abs() for n, t in tensors(sheet, found).items()}
    return _evidence(sheet, name, given, None)


def from_bias(sheet: Sheet, found: Found) -> Evidence:
    """From a bias [head, query or 1, key]: how much it rises from key to key in the last row.

    That is the slope in every convention: -m (i - j), m j, m (j - (K - 1)), or a symmetric one.
    """
    given, rows = dict[int | None, Tensor](), 0
    name = listed([next(iter(found.values())).name])
    for layer, entry in found.items():
        shape = entry.shape
        lead = len(shape) - 3
        if lead < 0 or any(size != 1 for size in shape[:lead]) or shape[-1] < 2:
            raise DamagedCheckpoint(
                say(
                    "Expected {name} in {file} as [head, query, key]; its shape is {shape}, so "
                    "save slopes of the heads instead.",
                    name=listed([entry.name]),
                    file=sheet.called,
                    shape=list(shape),
                )
            )
        last = slice(shape[-2] - 1, shape[-2])
        row = sheet.part(entry.name, *(0,) * lead, slice(None), last).double().flatten(1)
        rows, line = shape[-1], torch.linspace(0, 1, shape[-1], dtype=torch.float64)
        rise = row[:, -1:] - row[:, :1]
        if not bool(((row - row[:, :1] - rise * line).abs() <= 0.01 * rise.abs()).all()):
            raise DamagedCheckpoint(
                say(
                    "Expected {name} in {file} to be linear in the distance, as ALiBi is; it "
                    "isn't, so save slopes of the heads instead.",
                    name=listed([entry.name]),
                    file=sheet.called,
                )
            )
        given[layer] = rise.abs().flatten() / (shape[-1] - 1)
    return _evidence(sheet, name, given, rows)


def from_buckets(sheet: Sheet, found: Found) -> Evidence:
    """From T5's table [bucket, head], one for each layer or one for all."""
    given = tensors(sheet, found)
    table = next(iter(given.values()))
    name = listed([next(iter(found.values())).name])
    if {t.shape for t in given.values()} != {table.shape} or table.ndim != 2:
        raise DamagedCheckpoint(
            say(
                "Expected tables of one shape like {name} in {file}; they differ, so save the "
                "model again.",
                name=name,
                file=sheet.called,
            )
        )
    count, heads = table.shape
    words = say(
        "T5 bias: {name} holds {count} buckets for {heads} heads.",
        name=name,
        count=count,
        heads=heads,
    )
    return Evidence(
        "t5",
        {"buckets": count},
        heads=heads,
        given=given,
        findings=(Finding(mark("encoding"), "note", words),),
    )


def exponent(given: Tensor) -> float:
    """The exponent e of m_1 = 2^(-e / c), c the power of two at or below the number of heads."""
    lower = 2 ** math.floor(math.log2(len(given)))
    found = -math.log2(float(given[0])) * lower
    return float(round(found)) if abs(found - round(found)) < 0.01 else found


def deviation(given: Tensor, power: float) -> float:
    """The largest relative difference of slopes [head] from the formula with this exponent."""
    return float((given / slopes(len(given), power) - 1).abs().max())


def _evidence(
    sheet: Sheet, name: str, given: Mapping[int | None, Tensor], rows: int | None
) -> Evidence:
    first = next(iter(given.values()))
    alike = all(len(t) == len(first) and bool((t > 0).all()) for t in given.values())
    if not alike or not len(first):
        raise DamagedCheckpoint(
            say(
                "Expected a slope other than 0 for each head in {name} of {file}; it holds "
                "something else, so save the model again.",
                name=name,
                file=sheet.called,
            )
        )
    power = min(max(exponent(first), 0.5), 32.0)
    words = say(
        "ALiBi: {name} has the slopes of {heads} heads, {one:.6g} to {other:.6g}.",
        name=name,
        heads=len(first),
        one=float(first[0]),
        other=float(first[-1]),
    )
    return Evidence(
        "alibi",
        {"exponent": float(power)},
        heads=len(first),
        rows=rows,
        given=given,
        findings=(Finding(mark("encoding"), "note", words),),
    )
