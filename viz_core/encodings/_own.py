"""Encodings of one's own: the files of a folder that its owner names, held to the contract.

Such a file is Python and is run, so the folder comes from a command line or an environment
variable alone: nothing that a visitor uploads can get here.
"""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Collection
from pathlib import Path
from types import ModuleType

import torch

from viz_core.encodings._contract import Encoding, Geometry, PositionEncoding
from viz_core.errors import AtlasError
from viz_core.words import mark, say

PLACES = (mark("nothing"), mark("embeddings"), mark("logits"), mark("queries and keys"))
SIZES = Geometry(heads=2, head_dim=4, width=8, length=16)  # that a new encoding is tried at


def files(folder: Path) -> list[Path]:
    """The files that hold an encoding each, by name. Raises AtlasError where there are none."""
    found = [p for p in sorted(folder.glob("*.py")) if not p.name.startswith("_")]
    if not found:
        what = say("none there") if folder.is_dir() else say("no such folder")
        raise AtlasError(
            say(
                "Expected a folder with encodings of your own, a NAME.py each, at {folder}; there "
                "is {what}, so correct --encodings or the variable ATLAS_ENCODINGS.",
                folder=folder,
                what=what,
            )
        )
    return found


def read(path: Path, known: Collection[str]) -> tuple[Encoding, str]:
    """(the card in the file at `path`, the sha256 of the file), which is run.

    `known` are the ids that are taken. Raises AtlasError where it is no encoding that works.
    """
    content = path.read_bytes()
    card = _run(path, content)
    if not isinstance(card, Encoding):
        came = say("it is of type {type}", type=type(card).__name__)
        raise AtlasError(
            say(
                "Expected {file} to set ENCODING to a viz_core.encodings.Encoding; {came}.",
                file=path.name,
                came=say("it sets none") if card is None else came,
            )
        )
    if card.id in known:
        raise AtlasError(
            say(
                "Expected an id of its own in {file}; {id!r} is taken by an encoding that is here "
                "already, so choose another one for the file and its card.",
                file=path.name,
                id=card.id,
            )
        )
    if card.id != path.stem or not re.fullmatch("[a-z][a-z0-9_]*", card.id):
        raise AtlasError(
            say(
                "Expected {file} to be called as its card's id is, in small letters, digits and "
                "underscores; the id is {id!r}, so rename one of them.",
                file=path.name,
                id=card.id,
            )
        )
    try:
        wrong = _wrong(card)
    except Exception as error:
        wrong = say("it raised {error}", error=_said(error))
    if wrong:
        raise AtlasError(
            say(
                "Expected {file} to hold an encoding that works; {wrong}.",
                file=path.name,
                wrong=wrong,
            )
        )
    return card, hashlib.sha256(content).hexdigest()


def _run(path: Path, content: bytes) -> object:
    module = ModuleType(f"viz_core_own_encodings.{path.stem}")
    module.__file__ = str(path)
    sys.modules[module.__name__] = module  # dataclasses look their module up by name
    try:
        exec(compile(content, path, "exec"), module.__dict__)
    except Exception as error:
        raise AtlasError(
            say(
                "Expected Python that runs in {file}; it raised {error}.",
                file=path.name,
                error=_said(error),
            )
        ) from error
    return getattr(module, "ENCODING", None)


def _said(error: Exception) -> str:
    """The error on one line, without a full stop."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}".rstrip(". ")


def _wrong(card: Encoding) -> str | None:
    """What of the contract a new encoding breaks, for those who write one; None if nothing.

    Not all that the tests hold: what would go wrong later, far from the file.
    """
    g, count = SIZES, 6
    if card.acts_on not in PLACES:
        known = ", ".join(PLACES)
        return say("acts_on is {place!r}, none of {known}", place=card.acts_on, known=known)
    module = card.make(g)
    if not isinstance(module, PositionEncoding):
        return say("build makes a {type}, no PositionEncoding", type=type(module).__name__)
    at = torch.arange(count)
    distance = at.view(2, 3)  # of any shape
    bias, flat = module.bias(distance), module.bias(at)
    if bias is not None and (flat is None or bias.shape != (g.heads, 2, 3)):
        shape = list(bias.shape)
        return say("bias of distances [2, 3] is {shape}, not [head, 2, 3]", shape=shape)
    if flat is not None and not bool(flat.isfinite().all()):
        first = int(at[~flat.isfinite().all(0)][0])
        return say("bias has no finite number at distance {distance}", distance=first)
    x, q = torch.randn(count, g.width), torch.randn(g.heads, count, g.head_dim)
    if (embedded := module.embed(x, at)).shape != x.shape:
        shapes = {"made": list(embedded.shape), "given": list(x.shape)}
        return say("embed makes {made} of {given}", **shapes)
    for turn, back in (("rotate", "unrotate"), ("rotate_key", "unrotate_key")):
        turned = getattr(module, turn)(q, at, count)
        if turned.shape != q.shape:
            shapes = {"made": list(turned.shape), "given": list(q.shape)}
            return say("{method} makes {made} of {given}", method=turn, **shapes)
        if not torch.allclose(getattr(module, back)(turned, at, count), q, atol=1e-4):
            return say("{back} doesn't give back what {turn} was given", back=back, turn=turn)
    law = module.law(at, q[:, 0], q[:, 0], 0.5)
    if law is not None and law.shape != (g.heads, count):
        return say(
            "law of {count} distances is {shape}, not [{heads}, {count}]",
            count=count,
            shape=list(law.shape),
            heads=g.heads,
        )
    return None
