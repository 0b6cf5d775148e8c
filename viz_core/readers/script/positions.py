"""Absolute positions from their table: the sinusoid's, or any other vectors."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from viz_core.encodings.sinusoidal import sinusoid
from viz_core.errors import DamagedCheckpoint
from viz_core.readers.description import Finding
from viz_core.readers.script import rotations
from viz_core.readers.script.evidence import Evidence, tensors
from viz_core.readers.script.sheet import Sheet
from viz_core.readers.script.tensors import Entry, listed, table_rows
from viz_core.words import mark, say

CLOSE = 1e-3  # absolute, of numbers up to 1: half precision is off by 0.0005


def from_table(sheet: Sheet, found: Mapping[int | None, Entry], width: int) -> Evidence:
    """From a vector for each position [..., position, width]."""
    if {*found} != {None}:
        raise DamagedCheckpoint(
            say(
                "Expected one table of positions in {file}, outside the layers; found {names}, so "
                "what it does can't be known.",
                file=sheet.called,
                names=listed(e.name for e in found.values()),
            )
        )
    entry = found[None]
    name = listed([entry.name])
    if table_rows(entry.shape) is None or entry.shape[-1] != width:
        raise DamagedCheckpoint(
            say(
                "Expected {name} in {file} to hold a vector of {width} channels for each position; "
                "its shape is {shape}, so save the model again.",
                name=name,
                file=sheet.called,
                width=width,
                shape=list(entry.shape),
            )
        )
    table = tensors(sheet, found)[None].reshape(-1, width)
    base, blocks = _sinusoid(table)
    if base is None and _waves(table):
        raise DamagedCheckpoint(
            say(
                "Expected a plain sinusoid in {name} of {file}; it is another one, such as "
                "fairseq's with zeros for padding, whose positions begin further down, so which "
                "row stands for which position can't be known.",
                name=name,
                file=sheet.called,
            )
        )
    if base is None:
        words = say(
            "Learned: {name} holds a vector for each of {rows:,} positions.",
            name=name,
            rows=len(table),
        )
        findings = (Finding(mark("encoding"), "note", words),)
        return Evidence("learned", length=len(table), given={None: table}, findings=findings)
    words = say(
        "Sinusoidal: {name} is the sinusoid of base {base:,.6g}, sines and cosines in turn.",
        name=name,
        base=base,
    )
    if blocks:
        words = say(
            "Sinusoidal: {name} is the sinusoid of base {base:,.6g}, all sines before all cosines.",
            name=name,
            base=base,
        )
    return Evidence(
        "sinusoidal",
        {"base": base},
        rows=len(table),
        given={None: table},
        blocks=blocks,
        findings=(Finding(mark("encoding"), "note", words),),
    )


def in_blocks(table: Tensor) -> Tensor:
    """The sinusoid [..., width] in turn, with all its sines first and then all its cosines."""
    return torch.cat((table[..., 0::2], table[..., 1::2]), dim=-1)


def _waves(table: Tensor) -> bool:
    """Whether rows that aren't zeros are pairs of a sine and a cosine, whatever their angles."""
    rows = table[(table != 0).any(-1)]
    if len(rows) < 2 or table.shape[1] % 2:
        return False
    halves = (rows.chunk(2, -1), (rows[:, 0::2], rows[:, 1::2]))
    return any(float((a**2 + b**2 - 1).abs().max()) < 2 * CLOSE for a, b in halves)


def _sinusoid(table: Tensor) -> tuple[float | None, bool]:
    """(base, whether sines come first); no base where the table isn't a sinusoid."""
    count, width = table.shape
    if count < 2 or width < 4 or width % 2:
        return None, False
    for blocks in (False, True):
        half = width // 2
        sine, cosine = table.split(half, -1) if blocks else (table[:, 0::2], table[:, 1::2])
        theta = torch.atan2(sine[1], cosine[1])
        if bool((theta <= 0).any()):
            continue
        base, _ = rotations.fit(theta)
        wanted = sinusoid(torch.arange(count), width, base)
        wanted = in_blocks(wanted) if blocks else wanted
        if float((wanted - table).abs().max()) < CLOSE:
            return base, blocks
    return None, False
