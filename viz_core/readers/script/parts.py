"""The parts of one layer, and those outside the layers: which module is which."""

from __future__ import annotations

import re
from collections.abc import Sequence

from viz_core.errors import DamagedCheckpoint
from viz_core.readers.script import names
from viz_core.readers.script.tensors import (
    Entry,
    Module,
    Path,
    is_number,
    listed,
    modules,
    unreadable,
)
from viz_core.words import say

Roles = dict[str, tuple[str, ...]]  # role to the tensors that make it, one below the other

_SINES = {name.replace("cos", "sin") for name in names.COSINES}
_BUFFERS = frozenset().union(
    *(names.INVERSE_FREQUENCIES, names.COSINES, _SINES, names.ROTATIONS, names.SLOPES),
    *(names.ALIBI, names.BUCKETS, names.POSITIONS),
)


def of_layer(
    file: str, found: Sequence[Entry], root: Path, alone: bool
) -> tuple[Roles, list[Entry], list[Entry]]:
    """(roles of a layer's tensors, buffers, tensors whose place must be outside the layer).

    Paths begin at the layer; attention is at `root`. `alone`: no list of layers is numbered, so
    embedding, last norm and head stand among these, too.
    """
    held, loose = modules(found)
    projections: dict[str, list[Module]] = {}
    linear, norms, outside, buffers = list[Module](), list[Module](), list[Entry](), list[Entry]()
    for module in held:
        role, dimensions = _projection(module, root), len(module.weight.shape)
        if role:
            projections.setdefault(role, []).append(module)
        elif is_buffer(module.weight) and module.bias is None:
            buffers.append(module.weight)
        elif alone and module.last in names.EMBEDDING | names.HEAD | names.FINAL_NORM:
            outside += module.entries
        elif dimensions in (1, 2):
            (norms if dimensions == 1 else linear).append(module)
        else:
            outside += module.entries
    for entry in loose:
        (buffers if is_buffer(entry) else outside).append(entry)
    parts = _attention(file, projections, held)
    parts |= {role: [m] for role, m in _mlp(file, linear).items()}
    parts |= {role: [m] for role, m in _norms(file, norms, bool(linear)).items()}
    return _roles(parts), buffers, outside


def outside(file: str, found: Sequence[Entry]) -> tuple[Roles, list[Entry], tuple[str, ...]]:
    """(roles of the tensors outside the layers, buffers, tensors of a head without a use).

    Raises DamagedCheckpoint for a tensor without a place.
    """
    held, loose = modules(found)
    parts: dict[str, list[Module]] = {}
    buffers = [e for e in loose if is_buffer(e)]
    unknown = [e for e in loose if not is_buffer(e) and e.last not in names.IDLE]
    for module in held:
        known = {"embedding": names.EMBEDDING, "head": names.HEAD}
        role = next((r for r, n in known.items() if module.last in n), "")
        role = "" if role == "embedding" and module.bias else role
        dimensions = len(module.weight.shape)
        if is_buffer(module.weight) and module.bias is None:
            buffers.append(module.weight)
        elif (dimensions == 2 and role and role not in parts) or (
            dimensions == 1 and (role := _outer_norm(module)) and role not in parts
        ):
            parts[role] = [module]
        else:
            unknown += module.entries
    _plain_head(parts, unknown, held)
    if unknown:
        raise DamagedCheckpoint(
            say(
                "Expected a known place for every tensor of {file}; found none for {names}, so "
                "what the model does with it can't be known.",
                file=file,
                names=listed(e.name for e in unknown),
            )
        )
    left_out = list[Entry]()
    if "head" in parts:  # of a classifier, or on a stream that no token entered
        tokens = [m.weight.shape[0] for m in parts.get("embedding", ())]
        if tokens != [parts["head"][0].weight.shape[0]]:
            left_out = parts.pop("head")[0].entries
    return _roles(parts), buffers, tuple(e.name for e in left_out)


def is_buffer(entry: Entry) -> bool:
    """Whether a tensor is known by name as evidence: of the encoding, or of the mask."""
    if entry.kind:
        return (
            entry.kind == "weight" and entry.last in names.BUCKETS | names.POSITIONS | names.TABLE
        )
    square = len(entry.shape) > 1 and entry.shape[-1] == entry.shape[-2]
    return entry.last in _BUFFERS or (entry.last in names.MASK and square)


def _projection(module: Module, root: Path) -> str | None:
    """The role of a projection at `root`, or of one head's at `root`.heads.N."""
    path, at = module.path, len(root)
    if len(module.weight.shape) != 2 or path[:at] != root or len(path) not in (at + 1, at + 3):
        return None
    if len(path) == at + 3 and not (path[at] == names.HEADS and is_number(path[at + 1])):
        return None
    return next((r for r, known in names.ATTENTION.items() if path[-1] in known), None)


def _attention(
    file: str, found: dict[str, list[Module]], layer: Sequence[Module]
) -> dict[str, list[Module]]:
    """`found` in a `layer`, if it is what attention needs: each once, or once for each head."""
    wanted = {"qkv", "out"} if "qkv" in found else {"q", "k", "v", "out"}
    each = all(m.path[-3:-2] == (names.HEADS,) for role in "qkv" for m in found.get(role, ()))
    single = all(len(ones) == 1 for role, ones in found.items() if not each or role not in "qkv")
    named = [m for ones in found.values() for m in ones] or layer
    if {*found} != wanted or not single or len({len(found.get(r, ())) for r in "qkv"}) > 1:
        raise unreadable(
            file,
            [m.weight.name for m in named],
            say("one projection each of queries, keys, values and the output in every attention"),
        )
    return found


def _mlp(file: str, linear: list[Module]) -> dict[str, Module]:
    """Two linear layers, or three with a gate."""
    if not linear:
        return {}
    if len(linear) == 2:
        up, down = linear
        if up.last in names.DOWN and down.last not in names.DOWN:
            up, down = down, up
        return {"up": up, "down": down}
    gated = {"gate": names.GATE, "up": names.UP_BESIDE_GATE, "down": names.DOWN_BESIDE_GATE}
    found = {role: [m for m in linear if m.last in known] for role, known in gated.items()}
    if len(linear) != 3 or any(len(ones) != 1 for ones in found.values()):
        raise unreadable(
            file,
            [m.weight.name for m in linear],
            say("an MLP of two linear layers, or of three named gate, up and down, in each layer"),
        )
    return {role: ones[0] for role, ones in found.items()}


def _norms(file: str, found: list[Module], mlp: bool) -> dict[str, Module]:
    """A norm for attention, and one for the MLP if there is one; or none at all."""
    second = [m for m in found if any(n in ".".join(m.path) for n in names.SECOND_NORM)]
    first = [m for m in found if m not in second]
    if not found:
        return {}
    if not mlp and len(found) == 1:
        return {"norm1": found[0]}
    if mlp and len(first) == len(second) == 1:
        return {"norm1": first[0], "norm2": second[0]}
    raise unreadable(
        file,
        [m.weight.name for m in found],
        say("one norm for attention and one for the MLP in each layer, such as ln_1 and ln_2"),
    )


def _plain_head(parts: dict[str, list[Module]], unknown: list[Entry], held: list[Module]) -> None:
    """Takes a linear layer without a telling name for the head, if it has the embedding's shape."""
    shapes = [m.weight.shape for m in parts.get("embedding", ())]
    fit = [m for m in held if m.last in names.PLAIN_HEAD and [m.weight.shape] == shapes]
    if len(fit) == 1 and "head" not in parts:
        parts["head"] = fit
        for entry in fit[0].entries:
            unknown.remove(entry)


def _outer_norm(module: Module) -> str:
    """Whether a vector outside the layers is a norm before them or after them, by its names."""
    words = {w for part in module.path[-2:] for w in re.split("[._]", part)}
    last = {*re.split("[._]", module.last)}
    if last & names.NORM_AFTER or module.last in names.FINAL_NORM:
        return "norm"
    if words & names.NORM_BEFORE:
        return "norm0"
    return "norm" if last & names.NORM else ""


def _roles(parts: dict[str, list[Module]]) -> Roles:
    roles = Roles()
    for role, found in parts.items():
        roles[f"{role}.weight"] = tuple(m.weight.name for m in found)
        if biases := tuple(m.bias.name for m in found if m.bias is not None):
            roles[f"{role}.bias"] = biases
    return roles
