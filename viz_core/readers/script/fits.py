"""Whether the parts of a layout fit each other, by the header alone."""

from __future__ import annotations

from viz_core.errors import DamagedCheckpoint
from viz_core.readers.script.layouts import Layout
from viz_core.readers.script.sheet import Shape, Sheet
from viz_core.readers.script.tensors import listed
from viz_core.words import say

FLOATS = {"F64", "F32", "F16", "BF16"}


def check(sheet: Sheet, layout: Layout) -> None:
    """Raises DamagedCheckpoint unless every weight is of floating point and fits in shape.

    All layers then have the same parts in the same sizes, so a model of these sizes takes as much
    memory as the file says, and no more.
    """
    file, first = sheet.called, layout.layers[0]
    every = [(n, roles) for n, roles in [*enumerate(layout.layers), (None, layout.top)]]
    names = [name for _, roles in every for found in roles.values() for name in found]
    if wrong := [n for n in names if sheet.types[n] not in FLOATS]:
        raise DamagedCheckpoint(
            say(
                "Expected weights of floating point in {file}; {name} is of type {kind}, so save "
                "the model without quantising it.",
                file=file,
                name=listed(wrong[:1]),
                kind=sheet.types[wrong[0]],
            )
        )
    inner, keys = layout.channels
    if inner % keys:
        raise DamagedCheckpoint(
            say(
                "Expected the {inner} channels of the queries in {file} to be a multiple of the "
                "keys' channels; those are {keys}, so save the model again.",
                inner=inner,
                file=file,
                keys=keys,
            )
        )
    wanted = _wanted(layout)
    for number, roles in every:
        if number is not None and {*roles} != {*first}:
            raise DamagedCheckpoint(
                say(
                    "Expected the same parts in every layer of {file}; layer {number} differs from "
                    "layer 0 in {names}, so save the model again.",
                    file=file,
                    number=number,
                    names=listed(sorted({*roles} ^ {*first})),
                )
            )
        for role, found in roles.items():
            shape = layout.shape(role, number)
            pieces = {sheet.shapes[name] for name in found}
            if shape != wanted[role] or len(pieces) > 1 or 0 in shape:
                raise DamagedCheckpoint(
                    say(
                        "Expected the shape {wanted} of {names} in {file}, to fit the other "
                        "weights; it is {shape}, so save the model again.",
                        wanted=list(wanted[role]),
                        names=listed(found),
                        file=file,
                        shape=list(shape),
                    )
                )


def _wanted(layout: Layout) -> dict[str, Shape]:
    """The shape of each role, out of the few sizes that are free."""
    width, (inner, keys) = layout.width, layout.channels
    sizes: dict[str, Shape] = {name: (width,) for name in ("norm0", "norm1", "norm2", "norm")}
    sizes |= {"out": (width, inner), "qkv": (inner + 2 * keys, width)}
    sizes |= {"q": (inner, width), "k": (keys, width), "v": (keys, width)}
    if "up.weight" in layout.layers[0]:
        hidden = layout.shape("up.weight")[0]
        sizes |= {"gate": (hidden, width), "up": (hidden, width), "down": (width, hidden)}
    if "embedding.weight" in layout.top:
        tokens = layout.shape("embedding.weight", None)[0]
        sizes |= {"embedding": (tokens, width), "head": (tokens, width)}
    return {
        f"{name}.{kind}": size if kind == "weight" else size[:1]
        for name, size in sizes.items()
        for kind in ("weight", "bias")
    }
