"""All the buffers of a layout, sorted by what they tell."""

from __future__ import annotations

from viz_core.errors import DamagedCheckpoint
from viz_core.readers.script import mask, names, positions, rotations, slopes
from viz_core.readers.script.evidence import Evidence, joined
from viz_core.readers.script.fits import FLOATS
from viz_core.readers.script.layouts import Layout
from viz_core.readers.script.sheet import Sheet
from viz_core.readers.script.tensors import Entry, listed
from viz_core.words import say

_KINDS = {
    "frequencies": names.INVERSE_FREQUENCIES,
    "cosines": names.COSINES,
    "sines": {name.replace("cos", "sin") for name in names.COSINES},
    "rotations": names.ROTATIONS,
    "slopes": names.SLOPES,
    "bias": names.ALIBI,
    "buckets": names.BUCKETS,
    "positions": names.POSITIONS,
    "mask": names.MASK,
}
_TYPES = FLOATS | {"BOOL", "U8", "I8", "I16", "I32", "I64"}
_ONE = (  # of these, at most one: an encoding each
    {"frequencies", "cosines", "sines", "rotations"},
    {"slopes", "bias"},
    {"buckets"},
    {"positions"},
)

Kinds = dict[str, dict[int | None, Entry]]


def gather(sheet: Sheet, layout: Layout) -> Evidence:
    """What the buffers tell together.

    Raises DamagedCheckpoint where they speak of two encodings, or of one in some layers only.
    """
    kinds = _sorted(sheet, layout)
    found = Evidence()
    if "frequencies" in kinds:
        found = rotations.from_frequencies(sheet, kinds["frequencies"])
        if "cosines" in kinds:  # beside the frequencies, these show how channels are paired
            beside = rotations.from_tables(sheet, kinds.get("cosines", {}), kinds.get("sines", {}))
            found = rotations.with_tables(found, beside)
    elif "cosines" in kinds or "sines" in kinds:
        found = rotations.from_tables(sheet, kinds.get("cosines", {}), kinds.get("sines", {}))
    elif "rotations" in kinds:
        found = rotations.from_complex(sheet, kinds["rotations"])
    elif "slopes" in kinds:
        found = slopes.from_slopes(sheet, kinds["slopes"])
    elif "bias" in kinds:
        found = slopes.from_bias(sheet, kinds["bias"])
        square = {n: e for n, e in kinds["bias"].items() if e.shape[-1] == e.shape[-2]}
        sights = {n: mask.beside_bias(sheet, e) for n, e in square.items()}
        found = mask.with_sights(sheet, found, sights, len(layout.layers))
    elif "buckets" in kinds:
        found = slopes.from_buckets(sheet, kinds["buckets"])
    elif "positions" in kinds:
        found = positions.from_table(sheet, kinds["positions"], layout.width)
    masks = [(n, e) for n, e in layout.buffers if e.last in names.MASK and not _biased(sheet, e)]
    if masks:
        found = joined(found, mask.evidence(sheet, masks, len(layout.layers)))
    return found


def _biased(sheet: Sheet, entry: Entry) -> bool:
    """Whether a mask has numbers for each head, not only what is hidden: ALiBi's may be there."""
    each = entry.last in names.MASK and len(entry.shape) > 2 and entry.shape[-3] > 1
    return each and mask.holds_more(sheet, entry)


def _sorted(sheet: Sheet, layout: Layout) -> Kinds:
    kinds: Kinds = {}
    for layer, entry in layout.buffers:
        kind = next((k for k, known in _KINDS.items() if entry.last in known), "")
        kind = "bias" if kind == "mask" and _biased(sheet, entry) else kind
        if not kind:
            kind = "positions" if entry.shape[-1:] == (layout.width,) else "buckets"
        kept = sheet.types[entry.name]
        plain = kept in _TYPES or (kept == "C64" and kind == "rotations")
        if not plain or 0 in entry.shape:
            raise DamagedCheckpoint(
                say(
                    "Expected plain numbers in {name} of {file}; it is of type {kept} and shape "
                    "{shape}, so save the model again.",
                    name=listed([entry.name]),
                    file=sheet.called,
                    kept=kept,
                    shape=list(entry.shape),
                )
            )
        held = kinds.setdefault(kind, {})
        if held.setdefault(layer, entry) is not entry and kind != "mask":  # each head may have one
            raise DamagedCheckpoint(
                say(
                    "Expected one of {names} in {file}; found both, so which one acts can't be "
                    "known.",
                    names=listed([held[layer].name, entry.name]),
                    file=sheet.called,
                )
            )
    spoken = [group & {*kinds} for group in _ONE if group & {*kinds}]
    if len(spoken) > 1:
        both = [next(iter(kinds[min(group)].values())).name for group in spoken]
        raise DamagedCheckpoint(
            say(
                "Expected one position encoding in {file}; found {names}, so which one acts, and "
                "where, can't be known.",
                file=sheet.called,
                names=listed(both),
            )
        )
    every = {*range(len(layout.layers))}
    for kind, held in kinds.items():
        if kind != "mask" and {*held} not in ({None}, {0}, every):
            raise DamagedCheckpoint(
                say(
                    "Expected {name} in every layer of {file}, or once for all; it is in {n} of "
                    "{layers}, so save the model again.",
                    name=listed([next(iter(held.values())).name], 1),
                    file=sheet.called,
                    n=len(held),
                    layers=len(every),
                )
            )
    return kinds
