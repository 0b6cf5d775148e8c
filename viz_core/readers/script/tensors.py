"""Tensors of a state dict, grouped by the module that holds them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import prod

from viz_core.errors import DamagedCheckpoint
from viz_core.readers.script.names import HEADS, KINDS
from viz_core.readers.script.sheet import Shape
from viz_core.words import say

Path = tuple[str, ...]  # of a module, its names in lower case: ("blocks", "0", "attn", "q_proj")


@dataclass(frozen=True)
class Entry:
    """One tensor: the module that holds it, and whether it is that module's weight or bias.

    `kind` is "" for a tensor of its own, whose own name then ends its path.
    """

    name: str
    path: Path
    kind: str
    shape: Shape

    @property
    def last(self) -> str:
        """The end of the path: what the module, or the tensor of its own, is called."""
        return self.path[-1] if self.path else ""


@dataclass
class Module:
    """A linear layer, a norm, a table: a weight, and a bias if it has one."""

    weight: Entry
    bias: Entry | None = None

    @property
    def path(self) -> Path:
        """The module's path."""
        return self.weight.path

    @property
    def last(self) -> str:
        """What the module is called."""
        return self.weight.last

    @property
    def entries(self) -> list[Entry]:
        """Its one or two tensors."""
        return [self.weight] if self.bias is None else [self.weight, self.bias]


def entries(shapes: Mapping[str, Shape]) -> list[Entry]:
    """Each tensor of the file. A bias of other than one dimension is a buffer: nanoGPT's mask."""
    found = []
    for name, shape in shapes.items():
        *path, last = name.lower().split(".")
        stem, _, end = last.rpartition("_")
        kind = KINDS.get(end if stem == "in_proj" else last, "")
        if kind == "bias" and len(shape) != 1:
            kind = ""
        if stem == "in_proj" and kind:  # torch.nn.MultiheadAttention's in_proj_weight
            path.append(stem)
        elif not kind:
            path.append(last)
        found.append(Entry(name, tuple(path), kind, shape))
    return found


def modules(found: Iterable[Entry]) -> tuple[list[Module], list[Entry]]:
    """(modules with a weight, in the order of their paths; tensors that belong to none)."""
    held: dict[Path, Module] = {}
    rest = []
    for entry in sorted(found, key=lambda e: e.kind != "weight"):  # a bias needs its weight
        module = held.get(entry.path)
        if entry.kind == "weight" and module is None:
            held[entry.path] = Module(entry)
        elif entry.kind == "bias" and module is not None and module.bias is None:
            module.bias = entry
        else:
            rest.append(entry)
    return sorted(held.values(), key=lambda m: [_natural(p) for p in m.path]), rest


def layer_of(path: Path) -> int | None:
    """Where in `path` its layer's number stands; None outside a numbered list.

    The numbers in a list of heads aren't a layer's.
    """
    for i, part in enumerate(path):
        if is_number(part) and path[i - 1 : i] != (HEADS,):
            return i
    return None


def is_number(part: str) -> bool:
    """Whether a part of a path is a place in a list."""
    return part.isascii() and part.isdecimal() and len(part) < 10


def table_rows(shape: Shape, last: int = 1) -> int | None:
    """How many rows a table has whose rows are of the `last` dimensions; None if it is no table.

    Dimensions of 1 may stand among the others: [1, position, 1, channel] is one.
    """
    lead = shape[: len(shape) - last]
    return prod(lead) if lead and prod(lead) == max(lead) else None


def listed(names: Iterable[str], most: int = 4) -> str:
    """The first of `names`, quoted and cut to a length for a sentence, and how many more."""
    names = list(names)
    shown = [repr(n if len(n) <= 80 else f"{n[:77]}...") for n in names[:most]]
    first = ", ".join(shown)
    if len(names) <= most:
        return first
    return say("{names} and {n:,} more", names=first, n=len(names) - most)


def unreadable(file: str, found: Iterable[str], missing: str) -> DamagedCheckpoint:
    """The error for a state dict that is recognised in part: what was found, what is missing."""
    return DamagedCheckpoint(
        say(
            "Expected a Transformer's state dict in {file} with {missing}; found {names}, so name "
            "its parts as nanoGPT or torch.nn do, or take another file.",
            file=file,
            missing=missing,
            names=listed(found),
        )
    )


def _natural(part: str) -> tuple[int, str]:
    """A key by which "10" follows "9"."""
    return (int(part), "") if is_number(part) else (-1, part)
