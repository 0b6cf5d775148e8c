"""Files by path: which of a folder are taken, and which places of the server a visitor may name."""

from __future__ import annotations

from pathlib import Path

from viz_core.errors import AtlasError
from viz_core.readers.intake import names
from viz_core.readers.intake.limits import Limits
from viz_core.readers.intake.words import damaged, shown
from viz_core.words import say


def within(text: str, limits: Limits) -> Path:
    """For a visitor: the file or folder at the path `text`, if it lies in `limits.folders`.

    All links are followed, those in the folder too. Raises AtlasError otherwise, in the same words
    whether there is anything or not: who may not read a place isn't told what is there.
    """
    try:
        path = Path(text).resolve(strict=True)
        allowed = [folder.resolve() for folder in limits.folders]
        inside = [path, *(found.resolve() for found in (path.iterdir() if path.is_dir() else ()))]
        if all(any(place.is_relative_to(folder) for folder in allowed) for place in inside):
            return path
    except (OSError, ValueError, RuntimeError):  # a loop of links, a NUL
        pass
    raise AtlasError(
        say(
            "Expected a checkpoint in one of the folders that the server's owner opened; got "
            "{text}, so upload it, or ask for its folder to be listed in limits.toml.",
            text=shown(text),
        )
    )


def files(source: Path, limits: Limits) -> tuple[dict[str, Path], list[str]]:
    """({name: file} of what is taken at `source`, a file or a folder; names that are left out).

    Links are followed: in the hub's cache, all files are links. Raises AtlasError where there is
    nothing, DamagedCheckpoint for too many files or one that is no plain file.
    """
    try:
        found = sorted(source.iterdir()) if source.is_dir() else [source]
    except OSError as error:
        raise AtlasError(
            say("Could not read {path} ({why}).", path=shown(source), why=error.strerror)
        ) from None
    fits = names.allowed if source.is_dir() else names.uploadable
    taken = {path.name: path for path in found if fits(path.name)}
    for path in taken.values():
        if not path.exists():
            raise AtlasError(
                say("Expected a checkpoint at {path}; there is no such file.", path=shown(path))
            )
        if not path.is_file():
            raise damaged(
                path, say("a plain file"), say("it is a folder or a device"), say("name a file")
            )
    if len(taken) > limits.files:
        raise damaged(
            source,
            say("at most {most:,} files of a checkpoint", most=limits.files),
            say("there are {n:,}", n=len(taken)),
            say("raise the limit 'files' if it is right"),
        )
    return taken, [path.name for path in found if path.name not in taken]
