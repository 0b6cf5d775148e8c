"""What a query sees by the mask that a state dict holds, alone or together with ALiBi's bias.

A mask is read whole. One that isn't a matter of distance alone (a prefix, blocks, the next token
seen too) is refused: to compute something else beside it would be a map of another model.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from viz_core.errors import DamagedCheckpoint
from viz_core.readers.description import Finding
from viz_core.readers.masks import Sight, told
from viz_core.readers.script.evidence import Evidence
from viz_core.readers.script.sheet import Sheet
from viz_core.readers.script.tensors import Entry, listed
from viz_core.words import mark, say

_LOW = -1e4  # nats, added to a logit: nothing is seen there (scripts have -1e9, -1e4, -inf)
_STRAIGHT = 0.01  # relative: slopes kept in bfloat16 are off by 0.4 %
_LARGEST = 1 << 28  # numbers of a mask

Masks = Sequence[tuple[int | None, Entry]]  # None: for all layers


def evidence(sheet: Sheet, found: Masks, layers: int) -> Evidence:
    """What the masks of a file say; a layer may have several, one for each head.

    Raises DamagedCheckpoint for one that isn't understood, or where layers or heads differ in a way
    that this reader doesn't compute.
    """
    sights, name = defaultdict[int | None, set[Sight | None]](set), listed([found[0][1].name])
    for layer, entry in found:
        sights[layer].add(_sight(sheet, entry))
    each = [sights.get(n, sights.get(None, set())) for n in range(layers)]
    known = {sight for some in each for sight in some} - {None}
    lengths = {entry.shape[-1] for _, entry in found}
    if not known:
        words = say("{name} hides nothing, so what is hidden isn't known here.", name=name)
        return Evidence(findings=(Finding(mark("attention"), "unknown", words),))
    windows = [{s.window for s in some if s is not None} for some in each]
    unlike = any(len(some) > 1 for some in each) or len({s.causal for s in known if s}) > 1
    if unlike or (known != {Sight()} and not all(windows)):
        raise _unknown(sheet, name, say("it differs between heads, or some layers have none"))
    first = next(s for s in known if s is not None)
    return Evidence(
        causal=first.causal,
        windows=tuple(next(iter(some), None) for some in windows),
        length=lengths.pop() if len(lengths) == 1 else None,
        findings=(Finding(mark("attention"), "note", _words(name, windows, first)),),
    )


def holds_more(sheet: Sheet, entry: Entry) -> bool:
    """Whether a mask holds more than two values: those of a bias."""
    square = entry.shape[-1] == entry.shape[-2]
    return not square or len(_whole(sheet, entry).unique()) > 2


def beside_bias(sheet: Sheet, entry: Entry) -> Sight | None:
    """What a bias [head, query, key] hides beside its slopes; None where it hides nothing.

    Raises DamagedCheckpoint where what it doesn't hide isn't linear in the distance in every row.
    """
    bias = _whole(sheet, entry).double()
    bias = bias.reshape(-1, *bias.shape[-2:])  # [head, query, key]
    seen = bias > _LOW
    own = bias.diagonal(dim1=-2, dim2=-1)[..., None]
    count = bias.shape[-1]
    away = torch.arange(count)[:, None] - torch.arange(count)
    slope = (bias[:, -1, -1] - bias[:, -1, 0]) / (count - 1)
    flat = own - slope[:, None, None] * away  # linear in the key; or symmetric, in the distance
    line = torch.where(away < 0, own - slope[:, None, None] * away.abs(), flat)
    most = _STRAIGHT * (bias[:, -1:, -1:] - bias[:, -1:, :1]).abs()
    bent = (
        torch.minimum((bias - flat).abs(), (bias - line).abs())[seen] > most.expand_as(bias)[seen]
    )
    if bool(bent.any()) or not bool((seen == seen[:1]).all()):
        raise _unknown(sheet, listed([entry.name]), say("it holds a bias that isn't ALiBi's"))
    return None if bool(seen.all()) else _of(sheet, entry, seen[0])


def with_sights(
    sheet: Sheet, found: Evidence, sights: Mapping[int | None, Sight | None], layers: int
) -> Evidence:
    """`found` with what its biases hide, as `beside_bias` has it for each."""
    known = {*sights.values()}
    if known <= {None}:
        return found
    if len(known) > 1 or None in known:
        name = say("the bias")
        raise _unknown(sheet, name, say("it differs between layers"))
    (sight,) = known
    assert sight is not None
    return replace(found, causal=sight.causal, windows=(sight.window,) * layers)


def _sight(sheet: Sheet, entry: Entry) -> Sight | None:
    """What a mask of two values lets a query see; None where it has one value only.

    A query sees itself, so the value on the diagonal is the one that shows.
    """
    found = _whole(sheet, entry)
    found = found.reshape(-1, *found.shape[-2:])
    values = found.unique()
    if len(values) == 1:
        return None
    diagonal = found[0].diagonal()
    if len(values) > 2 or not bool((found == found[:1]).all() and (diagonal == diagonal[0]).all()):
        raise _unknown(sheet, listed([entry.name]), say("it holds more than what is hidden"))
    return _of(sheet, entry, found[0] == diagonal[0])


def _of(sheet: Sheet, entry: Entry, seen: Tensor) -> Sight:
    """The Sight whose rows are `seen` [query, key]; DamagedCheckpoint where there is none."""
    sight = told(seen, torch.arange(len(seen)))
    if sight is None:
        raise _unknown(
            sheet,
            listed([entry.name]),
            say("it is neither the causal one, nor a window, nor a window to both sides"),
        )
    return sight


def _whole(sheet: Sheet, entry: Entry) -> Tensor:
    rows = entry.shape[-2]
    if rows != entry.shape[-1] or rows < 2 or torch.Size(entry.shape).numel() > _LARGEST:
        raise _unknown(sheet, listed([entry.name]), say("its shape is {s}", s=list(entry.shape)))
    found = sheet.tensor(entry.name)
    if found.is_floating_point() and bool(found.isnan().any()):
        raise _unknown(sheet, listed([entry.name]), say("it holds numbers that are none"))
    return found


def _words(name: str, windows: list[set[int | None]], sight: Sight) -> str:
    local = [window for some in windows for window in some if window]
    if not local:
        return say("Causal: {name} is a causal mask.", name=name)
    if sight.causal:
        return say(
            "{local} of {layers} layers see the last {window:,} tokens, by {name}.",
            local=len(local),
            layers=len(windows),
            window=local[0],
            name=name,
        )
    return say(
        "{local} of {layers} layers see {side:,} tokens to each side, by {name}.",
        local=len(local),
        layers=len(windows),
        side=local[0] - 1,
        name=name,
    )


def _unknown(sheet: Sheet, name: str, why: str) -> DamagedCheckpoint:
    return DamagedCheckpoint(
        say(
            "Expected a mask in {name} of {file} that hides keys by distance alone; {why}, which "
            "isn't read.",
            name=name,
            file=sheet.called,
            why=why,
        )
    )
