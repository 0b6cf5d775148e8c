"""A .pt, .pth, .ckpt or .bin made a safetensors file, without unpickling anything in this process.

Its zip directory is checked here; a child process opens it (`unpickling`); what that leaves is a
file that is checked as one from a stranger. All else it says is a word and a name.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any
from zipfile import ZIP_STORED

from viz_core.errors import AtlasError, DamagedCheckpoint
from viz_core.readers.intake import documents, finite, headers, unpickling, zips
from viz_core.readers.intake.limits import Limits
from viz_core.readers.intake.reasons import RESAVE, elsewhere, refused
from viz_core.readers.intake.words import damaged, shown, size
from viz_core.words import say

_ZIP = b"PK\x03\x04"
_PACKAGES = ("site-packages", "dist-packages")
# The entries of what torch.save writes (PyTorch 1.6 to 2.13), below one folder.
_ENTRY = re.compile(
    r"[^/\\]+/(data\.pkl|version|byteorder|\.format_version|\.storage_alignment"
    r"|\.data/serialization_id|data/\d+)"
)


def convert(path: Path, out: Path, limits: Limits) -> None:
    """Makes the safetensors file `out` of the pickle `path`; `beside` reads what else it held.

    Taken is a dictionary of tensors, as it is or under "model", "state_dict", "model_state_dict" or
    "module". The numbers are finite, or a mask's (see `finite`). Takes the seconds that PyTorch
    needs to start, and more.

    Raises DamagedCheckpoint for anything else and for more than `limits`; AtlasError where this
    system can't limit a process or the disk is full. Then there is no `out`.
    """
    if sys.platform == "win32":
        raise AtlasError(elsewhere(say("Windows can't limit what a process takes")))
    total, zipped = _look(path, limits)
    scratch = Path(tempfile.mkdtemp(prefix=".unpickling-", dir=out.parent))
    try:
        most = min(limits.largest_file, limits.growth * total)
        request = {
            "source": str(path.resolve()),
            "zipped": zipped,
            "tensors": limits.tensors,
            "bytes": most,
            "written": most + limits.header + 8,
            "seconds": limits.seconds,
            "memory": total + limits.memory,  # the file itself is mapped, or read
        }
        (scratch / unpickling.REQUEST).write_text(json.dumps(request))
        _run(path, scratch, limits)
        _conclude(path, scratch, limits)
        made = scratch / unpickling.MADE
        if made.is_symlink() or not made.is_file():
            raise refused(path, "broken")
        made = made.rename(scratch / path.name)  # what is said of it names what came
        made.chmod(0o600)
        finite.check(made, limits)
        made.replace(out)
    except OSError as error:
        raise AtlasError(
            say(
                "Could not convert {name} ({why}), so try again, or free space on the disk of the "
                "server.",
                name=shown(path.name),
                why=error.strerror,
            )
        ) from None
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def beside(path: Path, limits: Limits) -> dict[str, Any]:
    """The plain values that stood beside the weights in a pickle: {} if there were none.

    `path`: the safetensors file that `convert` has made of it. JSON alone: numbers, texts, lists,
    dictionaries (nanoGPT's "model_args"); they are a stranger's claims. Raises DamagedCheckpoint.
    """
    text = headers.read(path, limits).metadata.get("config", "{}")
    found = documents.parse(text.encode(), path.name, limits)
    return found if isinstance(found, dict) else {}


def left_out(path: Path, limits: Limits) -> list[str]:
    """Names of what was neither a weight nor plain ("optimizer"), the first twenty, for people."""
    text = headers.read(path, limits).metadata.get("left_out", "[]")
    found = documents.parse(text.encode(), path.name, limits)
    return [str(name) for name in found] if isinstance(found, list) else []


def _look(path: Path, limits: Limits) -> tuple[int, bool]:
    """(bytes, whether it is a zip) of a pickle that seems right from outside."""
    try:
        total = path.stat().st_size
        with path.open("rb") as file:
            zipped = file.read(4) == _ZIP
    except OSError as error:
        raise damaged(
            path, say("a PyTorch checkpoint"), say("it can't be read ({why})", why=error.strerror)
        ) from None
    if total > limits.largest_file:
        raise damaged(
            path,
            say("at most {most}", most=size(limits.largest_file)),
            say("it has {size}", size=size(total)),
            say("raise the limit 'largest_file' if it is right"),
        )
    if zipped:
        _check_zip(path, limits)
    return total, zipped


def _check_zip(path: Path, limits: Limits) -> None:
    """Raises unless the archive is one that torch.save writes: known names, nothing compressed."""
    with zips.opened(path, limits) as (_, entries):
        for entry in entries:
            if not _ENTRY.fullmatch(entry.orig_filename):
                raise damaged(
                    path,
                    say("a checkpoint as torch.save writes it"),
                    say(
                        "it has {name}, as a TorchScript program may",
                        name=shown(entry.orig_filename),
                    ),
                    say(RESAVE),
                )
            if entry.compress_type != ZIP_STORED or entry.file_size != entry.compress_size:
                raise damaged(
                    path,
                    say("a checkpoint as torch.save writes it"),
                    say("{name} is compressed", name=shown(entry.orig_filename)),
                    say(RESAVE),
                )
            if entry.filename.endswith("/data.pkl") and entry.file_size > limits.header:
                raise damaged(
                    path,
                    say("at most {most} beside its tensors", most=size(limits.header)),
                    say("there are {size}", size=size(entry.file_size)),
                    say(RESAVE),
                )


def _run(path: Path, scratch: Path, limits: Limits) -> None:
    """Runs the child in `scratch`, until it ends or its time is over; none of it goes on."""
    kept = {name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ}
    # Packages and this one alone: what else is on the path (Streamlit puts `pages` there, with its
    # encodings.py) would hide modules that Python itself starts with.
    places = [str(Path(__file__).resolve().parents[3])]
    places += [place for place in sys.path if Path(place).name in _PACKAGES]
    process = subprocess.Popen(
        # -P: modules come from where this process has them, never from the current folder.
        [sys.executable, "-P", "-c", f"import {unpickling.__name__} as child; child.main()"],
        cwd=scratch,
        env={
            **kept,
            "PYTHONPATH": os.pathsep.join(os.path.abspath(place) for place in places),
            "PYTHONDONTWRITEBYTECODE": "1",
            "CUDA_VISIBLE_DEVICES": "",
            "MALLOC_ARENA_MAX": "1",  # each arena takes 64 MB of address space
            "OMP_NUM_THREADS": "1",
            "TMPDIR": str(scratch),
        },
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        process.wait(2 * limits.seconds)
    except subprocess.TimeoutExpired:
        raise _timed_out(path, limits) from None
    finally:
        with suppress(OSError):  # the process, and any that it may have started
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    if process.returncode == -signal.SIGXCPU:
        raise _timed_out(path, limits)


def _conclude(path: Path, scratch: Path, limits: Limits) -> None:
    """Raises what the child's reply says, unless it says that all is done."""
    reason, name = "broken", ""
    with suppress(OSError, ValueError, RecursionError):
        # What a child under foreign control may have left there: a link, an endless file.
        reply = os.open(scratch / unpickling.REPLY, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with open(reply, "rb") as file:
            said = json.loads(file.read(4_096))
        reason, name = str(said[0]), str(said[1])
    if reason != "done":
        raise refused(path, reason, name)


def _timed_out(path: Path, limits: Limits) -> DamagedCheckpoint:
    return damaged(
        path,
        say("a checkpoint that opens in {most} seconds", most=limits.seconds),
        say("it takes longer"),
        say("save it as safetensors, or raise the limit 'seconds'"),
    )
