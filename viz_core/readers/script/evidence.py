"""What the buffers of a state dict tell of its encoding, its heads, its mask and its length."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from viz_core.encodings import Value
from viz_core.errors import DamagedCheckpoint
from viz_core.readers.description import Finding
from viz_core.readers.script.sheet import Sheet
from viz_core.readers.script.tensors import Entry, listed
from viz_core.words import say

ByLayer = Mapping[int | None, Tensor]  # None: for all layers


@dataclass(frozen=True)
class Evidence:
    """What is known, and None or nothing where nothing is.

    `given` are the numbers of the encoding as the file has them, float64: inverse frequencies
    [pair], slopes [head], a table of buckets [bucket, head] or of positions [position, width].
    `turning` is how many channels of a head RoPE's frequencies turn, `factor` its factor on cos
    and sin; `blocks`: a sinusoidal table has all its sines first.
    `rows` is how many positions a table of fixed numbers holds, which may be more than were
    trained. `windows` [layer]: how many distances a query sees, None for all; empty where no mask
    says so.
    """

    encoding: str | None = None
    parameters: Mapping[str, Value] = field(default_factory=dict)
    likely: Mapping[str, Value] = field(default_factory=dict)  # of other parameters, to be asked
    heads: int | None = None
    turning: int | None = None
    length: int | None = None
    rows: int | None = None
    causal: bool | None = None
    windows: tuple[int | None, ...] = ()
    given: ByLayer = field(default_factory=dict)
    factor: float = 1.0
    blocks: bool = False
    findings: tuple[Finding, ...] = ()

    def of_layer(self, layer: int) -> Tensor | None:
        """The encoding's numbers for one layer; a table that one layer holds serves all."""
        if layer in self.given:
            return self.given[layer]
        return self.given.get(None, self.given.get(0))


def tensors(sheet: Sheet, found: Mapping[int | None, Entry]) -> dict[int | None, Tensor]:
    """The tensors of `found`, float64, complex ones as [..., real and imaginary part].

    Raises DamagedCheckpoint for NaN and infinity.
    """
    read = {}
    for layer, entry in found.items():
        tensor = sheet.tensor(entry.name)
        read[layer] = (torch.view_as_real(tensor) if tensor.is_complex() else tensor).double()
        if not bool(read[layer].isfinite().all()):
            raise DamagedCheckpoint(
                say(
                    "Expected finite numbers in {name} of {file}; some are NaN or infinite, so "
                    "save the model again.",
                    name=listed([entry.name]),
                    file=sheet.called,
                )
            )
    return read


def joined(one: Evidence, other: Evidence) -> Evidence:
    """Both: what `one` says, where it says something, and else what `other` does."""
    filled = {
        name: value
        for name in ("causal", "length", "windows")
        if not getattr(one, name) and (value := getattr(other, name)) is not None
    }
    return replace(one, **filled, findings=(*one.findings, *other.findings))
