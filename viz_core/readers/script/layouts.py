"""Which tensor of a state dict is which part of a Transformer, by names and shapes.

A layout is found from its attention: the projections of queries, keys and values say where a
layer begins and how layers are numbered. What stands in the layers beside them are norms and an
MLP; what stands outside is the embedding, a table of positions, the last norm and the head. A
tensor without a place is refused: what it does to the attention can't be known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod

from viz_core.readers.script import names, parts
from viz_core.readers.script.parts import Roles
from viz_core.readers.script.sheet import Shape, Sheet
from viz_core.readers.script.tensors import Entry, Path, entries, layer_of, unreadable
from viz_core.words import say


@dataclass(frozen=True)
class Layout:
    """Names by role. Roles of a layer: q, k, v or qkv, out, norm1, norm2, gate, up, down, each
    with `.weight` and perhaps `.bias`; at the top: embedding, norm0 (before the layers), norm
    (after them), head.

    `buffers` are evidence of the encoding and the mask, each with the layer that holds it, if one
    does. `transposed`: linear layers are stored [in, out], as in GPT-2's own files. `left_out`
    are the tensors of a head that predicts no token.
    """

    family: str
    layers: tuple[Roles, ...]
    top: Roles
    buffers: tuple[tuple[int | None, Entry], ...]
    shapes: Mapping[str, Shape]
    transposed: bool = False
    left_out: tuple[str, ...] = ()

    def shape(self, role: str, layer: int | None = 0) -> Shape:
        """The shape of `role`, [out, in] for a linear layer; at the top with `layer` None."""
        found = (self.top if layer is None else self.layers[layer])[role]
        rows, *others = self.shapes[found[0]]
        if self.transposed and layer is not None and others:
            return (*others, rows)
        return (rows * len(found), *others)

    @property
    def width(self) -> int:
        """Channels of the stream."""
        return self.shape("out.weight")[0]

    @property
    def channels(self) -> tuple[int, int]:
        """(channels of all query heads, channels of all key heads)."""
        inner = self.shape("out.weight")[1]
        if "qkv.weight" in self.layers[0]:
            keys = (self.shape("qkv.weight")[0] - inner) // 2
        else:
            keys = self.shape("k.weight")[0]
        return inner, max(keys, 1)

    @property
    def separate_heads(self) -> int:
        """How many heads have a projection of their own; 0 where one serves all of them."""
        count = len(self.layers[0].get("q.weight", ()))
        return count if count > 1 else 0

    @property
    def weights(self) -> int:
        """The number of parameters."""
        held = {n for roles in (*self.layers, self.top) for found in roles.values() for n in found}
        return sum(prod(self.shapes[name]) for name in held)


def recognise(sheet: Sheet) -> Layout | None:
    """The layout of the state dict; None where it has no attention that this reader knows.

    Raises DamagedCheckpoint, naming what was found and what is missing, for one that is
    recognised in part.
    """
    file, found = sheet.called, entries(sheet.shapes)
    anchors = [e for e in found if _is(e, "q") or _is(e, "qkv")]
    if not anchors:
        if {r for r in "kv" for e in found if _is(e, r)} != {"k", "v"}:
            return None
        halves = [e.name for e in found if _is(e, "k") or _is(e, "v")]
        raise unreadable(file, halves, say("a projection of queries in every attention"))
    stem, root = _place(file, anchors)
    layers, loose = _split(found, stem)
    if [*layers] != [*range(len(layers))]:
        raise unreadable(file, map(str, layers), say("layers numbered from 0 on"))
    roles, buffers = list[Roles](), list[tuple[int | None, Entry]]()
    for number, inside in layers.items():
        own, evidence, beyond = parts.of_layer(file, inside, root, alone=stem is None)
        roles.append(own)
        buffers += [(None if stem is None else number, e) for e in evidence]
        loose += beyond
    top, evidence, left_out = parts.outside(file, loose)
    buffers += [(None, e) for e in evidence]
    layout = Layout("", tuple(roles), top, tuple(buffers), sheet.shapes, left_out=left_out)
    return replace(layout, family=_family(layout), transposed=_transposed(layout))


def _is(entry: Entry, role: str) -> bool:
    weight = entry.kind == "weight" and len(entry.shape) == 2
    return weight and entry.last in names.ATTENTION[role]


def _place(file: str, anchors: list[Entry]) -> tuple[Path | None, Path]:
    """(where the numbered layers are, None for a single one; where in a layer attention is)."""
    places = set[tuple[Path | None, Path]]()
    for path in (e.path for e in anchors):
        at = layer_of(path)
        stem, root = (None, path[:-1]) if at is None else (path[:at], path[at + 1 : -1])
        if root[-2:-1] == (names.HEADS,):
            root = root[:-2]
        places.add((stem, root))
    if len(places) > 1:
        where = sorted(".".join((*(stem or ()), *root)) for stem, root in places)
        raise unreadable(file, where, say("one attention in each layer of a single stack"))
    return places.pop()


def _split(found: list[Entry], stem: Path | None) -> tuple[dict[int, list[Entry]], list[Entry]]:
    """(the tensors of each layer in order, with paths from there on; those outside)."""
    if stem is None:
        return {0: found}, []
    layers, loose = dict[int, list[Entry]](), list[Entry]()
    at = len(stem)
    for entry in found:
        if entry.path[:at] == stem and layer_of(entry.path) == at:
            inside = replace(entry, path=entry.path[at + 1 :])
            layers.setdefault(int(entry.path[at]), []).append(inside)
        else:
            loose.append(entry)
    return dict(sorted(layers.items())), loose


def _transposed(layout: Layout) -> bool:
    (fused,) = layout.layers[0].get("qkv.weight", (None,))
    return fused is not None and layout.shapes[fused][1] == 3 * layout.shapes[fused][0]


def _family(layout: Layout) -> str:
    """What the layout is known as; some names settle what shapes leave open."""
    called = {  # each role's module, without where it stands
        role.removesuffix(".weight"): found[0].removesuffix(".weight").split(".")[-1]
        for role, found in {**layout.layers[0], **layout.top}.items()
        if role.endswith(".weight")
    }
    tables = {entry.last for layer, entry in layout.buffers if layer is None}
    if called.get("qkv") == "c_attn" and called.get("up") == "c_fc" and "wpe" in tables:
        return "nanogpt"
    if called.get("qkv") == "in_proj_weight" and called.get("up") == "linear1":
        return "torch-encoder"
    if [called.get(r) for r in ("q", "gate", "norm1", "norm2")] == names.META:
        return "meta-llama"
    ours = {n: n for n in ("qkv", "out", "norm1", "norm2", "up", "down", "embedding", "norm")}
    if called == ours and not any(role.endswith(".bias") for role in layout.layers[0]):
        return "attention-atlas"
    return "attention-stack" if len(layout.layers) > 1 or layout.top else "attention-layer"
