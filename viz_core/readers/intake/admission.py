"""The one door: a file, a folder, a .zip or several files of one folder become a checked folder.

What comes out holds safetensors or GGUF files whose headers are right and whose numbers are finite,
and JSON that names no code. Readers look at nothing else.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import get_args
from uuid import uuid4

from viz_core.errors import AtlasError
from viz_core.progress import Progress, ignore, within
from viz_core.readers.intake import (
    archives,
    documents,
    finite,
    folders,
    gguf,
    names,
    pickles,
    shards,
)
from viz_core.readers.intake.choosing import Kind, choose_weights
from viz_core.readers.intake.limits import Limits
from viz_core.readers.intake.notes import Note, note
from viz_core.readers.intake.words import damaged, shown
from viz_core.words import say

_RECORD = "admitted.json"  # not a name that files from outside can have


@dataclass(frozen=True)
class Admitted:
    """A checked checkpoint: all that is in `folder` may be read.

    `kind` is a guess from names and headers. `weights`: its safetensors files, or the GGUF one.
    `left`: what was left out or taken out.
    """

    folder: Path
    kind: Kind
    weights: tuple[Path, ...]
    left: tuple[Note, ...]

    @property
    def notes(self) -> tuple[str, ...]:
        """What was left out or taken out, in sentences for people."""
        return tuple(one.words for one in self.left)


def admit(
    source: Path | Sequence[Path], into: Path, limits: Limits, progress: Progress = ignore
) -> Admitted:
    """Checks the checkpoint at `source` and makes the new folder `into` of it.

    `source`: a file or folder by path, or the files of an upload. Weights that may stay as they are
    become links in `into`; pickles are converted, archives unpacked, configurations copied without
    what names code. `progress(done)` may raise, to cancel.

    Two processes may do this at once: the later one returns what the first has made. Raises
    AtlasError (DamagedCheckpoint for what is wrong with a file), in one sentence; then there is no
    `into`, nor any part of it.
    """
    if into.exists():
        raise AtlasError(
            say("Expected a new folder for the checkpoint; {folder} is there.", folder=shown(into))
        )
    offered, left_out = _offered(source, limits)
    partial = into.with_name(f".{into.name}.{uuid4().hex}")
    try:
        into.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        partial.mkdir(mode=0o700)
        made = _Admission(partial, limits, within(progress, 0.3, 1.0))
        packed = [name for name in offered if name.endswith(".zip")]
        if packed and len(offered) > 1:
            raise damaged(
                packed[0],
                say("one archive alone"),
                say("other files came with it"),
                say("choose one"),
            )
        if packed:
            unpacked = partial / "unpacked"
            archive = offered[packed[0]]
            left_out += archives.extract(archive, unpacked, limits, within(progress, 0.0, 0.3))
            offered = {path.name: path for path in unpacked.iterdir()}
        made.take(offered, left_out)
        shutil.rmtree(partial / "unpacked", ignore_errors=True)
        made.record(_given(source))
        partial.rename(into)
    except OSError as error:
        if (theirs := admitted(into)) is not None:
            return theirs
        raise AtlasError(
            say(
                "Could not write the checkpoint ({why}), so free space on the disk of the server.",
                why=error.strerror,
            )
        ) from None
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    progress(1.0)
    weights = tuple(into / name for name in made.weights)
    return Admitted(into, made.kind, weights, tuple(made.left))


def admitted(into: Path) -> Admitted | None:
    """What `admit` made of the folder `into` before; None if there is nothing, or not any more."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        said = json.loads((into / _RECORD).read_text())
        weights = tuple(into / name for name in said["weights"])
        # A record of earlier days has none; its sentences were in one visitor's language.
        left = tuple(
            Note(kind, tuple(names), count, file)
            for kind, names, count, file in said.get("left", ())
        )
        if said["kind"] in get_args(Kind) and all(path.exists() for path in weights):
            return Admitted(into, said["kind"], weights, left)
    return None


def called(path: Path) -> str:
    """What the person who gave the checkpoint at `path`, or its folder, calls it.

    What was admitted lies in a folder named by a hash, and a converted pickle is a file of ours.
    """
    folder = path if path.is_dir() else path.parent
    with suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
        names = json.loads((folder / _RECORD).read_text())["called"]
        return str(names["" if path == folder else path.name])
    return path.name


def _offered(source: Path | Sequence[Path], limits: Limits) -> tuple[dict[str, Path], list[str]]:
    """({name: file}, names that are left out)."""
    if isinstance(source, Path):
        return folders.files(source, limits)
    offered: dict[str, Path] = {}
    left_out: list[str] = []
    for path in source:
        if path.name in offered:
            raise damaged(
                path, say("each file once"), say("it came twice"), say("leave one of them out")
            )
        taken, other = folders.files(path, limits)
        offered |= taken
        left_out += other
    if len(offered) > limits.files:
        raise AtlasError(
            say(
                "Expected at most {most:,} files; got {n:,}, so leave some out.",
                most=limits.files,
                n=len(offered),
            )
        )
    return offered, left_out


def _given(source: Path | Sequence[Path]) -> str:
    """What a person calls `source`: a file or folder, or the weights (or archive) of an upload."""
    if isinstance(source, Path):
        return source.name
    weights = [path.name for path in source if path.name.endswith((*names.WEIGHTS, ".zip"))]
    return (weights or [path.name for path in source] or [""])[0]


class _Admission:
    """One checkpoint on its way into `folder`."""

    def __init__(self, folder: Path, limits: Limits, progress: Progress) -> None:
        self.folder, self.limits, self.progress = folder, limits, progress
        self.kind: Kind = "safetensors"
        self.weights: list[str] = []
        self.left: list[Note] = []
        self.called: dict[str, str] = {}

    def take(self, offered: dict[str, Path], left_out: list[str]) -> None:
        """Chooses the weights among the `offered` files, and takes them and their documents."""
        chosen = choose_weights(offered, self.limits)
        self.kind = chosen.kind
        for i, (name, path) in enumerate(chosen.files.items()):
            part = within(self.progress, i / len(chosen.files), (i + 1) / len(chosen.files))
            self._weigh(name, path, part)
        weights = [name for name in offered if name.endswith(names.WEIGHTS)]
        for name, path in offered.items():
            if name not in weights and not name.endswith(".index.json"):
                self._document(name, path)
        if chosen.index is not None:
            made = {name: self.folder / name for name in self.weights}
            if chosen.index.name == shards.INDEX:
                shards.check_index(shards.read_index(chosen.index, self.limits), made, self.limits)
            shards.write_index(self.folder / shards.INDEX, made, self.limits)
        left_out = left_out + [name for name in weights if name not in chosen.files]
        if left_out:
            self.left.append(note("unneeded", left_out))

    def record(self, given: str) -> None:
        left = [(one.kind, one.names, one.count, one.file) for one in self.left]
        called = {**self.called, "": given}
        said = {"kind": self.kind, "weights": self.weights, "left": left, "called": called}
        (self.folder / _RECORD).write_text(json.dumps(said))

    def _weigh(self, name: str, path: Path, progress: Progress) -> None:
        """One file of weights into the folder, checked: a link, or converted."""
        if name.endswith(names.PICKLES):
            stem, came = Path(name).stem.replace("pytorch_model", "model"), name
            name = f"{stem if self.kind == 'huggingface' else 'model'}.safetensors"
            self.called[name] = came
            pickles.convert(path, self.folder / name, self.limits)
            if others := pickles.left_out(self.folder / name, self.limits):
                self.left.append(note("weightless", others))
        else:
            if name.endswith(".gguf"):
                gguf.check(path, self.limits)
            else:
                finite.check(path, self.limits, progress)
            self._place(path, name)
        self.weights.append(name)
        progress(1.0)

    def _place(self, path: Path, name: str) -> None:
        """Moved here if it was unpacked for us, else a link.

        It is a relative one, which still leads there when an upload moves as a whole.
        """
        target = self.folder / name
        if path.is_relative_to(self.folder):
            path.rename(target)
        else:
            target.symlink_to(os.path.relpath(path.resolve(), self.folder.resolve()))

    def _document(self, name: str, path: Path) -> None:
        """One file beside the weights: a configuration without code, or a tokenizer's."""
        if name in documents.CONFIGURATIONS:
            value, code = documents.without_code(documents.read_json(path, self.limits))
            if code:
                self.left.append(note("code", code, name))
            (self.folder / name).write_text(json.dumps(value))
        else:
            documents.check_vocabulary(path, self.limits)
            self._place(path, name)
