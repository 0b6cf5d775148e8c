"""Which files are taken, under which names: those of a checkpoint, flat, by a list of allowed ones.

Nothing is ever written under a name that isn't on the list, so no name can lead out of a folder.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from viz_core.errors import DamagedCheckpoint
from viz_core.readers.intake.words import listed, shown
from viz_core.words import say

PICKLES = (".bin", ".pt", ".pth", ".ckpt")  # the last is Lightning's
WEIGHTS = (".safetensors", *PICKLES, ".gguf")
_DOCUMENTS = re.compile(
    r"(config|params|generation_config|vocab|special_tokens_map|added_tokens)\.json"
    r"|tokenizer[\w-]{0,40}\.json|tokenizer\.model|vocab\.txt|merges\.txt",
    re.ASCII,
)
_STEM = re.compile(r"[^\s.\-/\\:*?\"<>|][^/\\:*?\"<>|]*")
_INDEX = (".safetensors.index.json", "pytorch_model.bin.index.json")
_LONGEST = 180  # bytes; file systems stop at 255
_DEVICES = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)  # Windows


@dataclass(frozen=True)
class Choice:
    """Of the names that came: those that are taken, with the flat name of each; and the others."""

    taken: dict[str, str]
    left_out: list[str]


def allowed(name: str) -> bool:
    """Whether a file of this name, without any folder, may be part of a checkpoint."""
    if _DOCUMENTS.fullmatch(name):
        return True
    return name.endswith((*WEIGHTS, *_INDEX)) and _harmless(name)


def uploadable(name: str) -> bool:
    """Whether it may be uploaded: the files of a checkpoint, or a .zip of them."""
    return allowed(name) or (name.endswith(".zip") and _harmless(name))


def choose(names: Iterable[str], archives: bool = True) -> Choice:
    """What to take of `names` as they stand in an archive or came from a browser, "/" between.

    Files are taken from the top, or else from the one folder there; deeper ones are left out.
    `archives`: whether a .zip may be among them.
    Raises DamagedCheckpoint for a name that leads elsewhere (absolute, "..", a drive, backslashes,
    control characters), for two files of one name and for several folders of weights.
    """
    places = {name: _parts(name) for name in names}
    fits = uploadable if archives else allowed
    deep = [(name, parts) for name, parts in places.items() if fits(parts[-1])]
    depth = min((len(parts) for _, parts in deep if parts[0] != "__MACOSX"), default=1)
    taken: dict[str, str] = {}
    if depth <= 2:
        taken = {n: p[-1] for n, p in deep if len(p) == depth and p[0] != "__MACOSX"}
    folders = sorted({places[name][0] for name in taken}) if depth == 2 else []
    if len(folders) > 1:
        raise DamagedCheckpoint(
            say(
                "Expected the files of one checkpoint, in one folder at most; got {n} folders "
                "({names}), so choose one of them.",
                n=len(folders),
                names=listed(folders, 3),
            )
        )
    met: set[str] = set()
    for name in taken.values():
        if name.casefold() in met:  # one file on the disks of some systems
            raise DamagedCheckpoint(
                say(
                    "Expected each file once; got {name} twice, so leave one of them out.",
                    name=shown(name),
                )
            )
        met.add(name.casefold())
    return Choice(taken, [name for name in places if name not in taken])


def _parts(name: str) -> list[str]:
    parts = [part for part in name.split("/") if part not in ("", ".")]
    wrong = not parts or ".." in parts or name.startswith("/") or re.match(r"[A-Za-z]:", name)
    if wrong or "\\" in name or not name.isprintable() or len(name) > 1_000:
        raise DamagedCheckpoint(
            say(
                "Expected plain file names, in one folder at most; got {name}, which could lead "
                "elsewhere, so pack or choose the files again.",
                name=shown(name),
            )
        )
    return parts


def _harmless(name: str) -> bool:
    fits = _STEM.fullmatch(name) and name.isprintable() and not _DEVICES.fullmatch(name)
    return bool(fits) and len(name.encode()) <= _LONGEST
