"""Why a pickle was refused: the child process says one word and a name, the sentences are here."""

from __future__ import annotations

from pathlib import Path

from viz_core.errors import AtlasError
from viz_core.readers.intake.headers import DTYPES
from viz_core.readers.intake.unpickling import WRAPPERS
from viz_core.readers.intake.words import damaged, shown

RESAVE = "save model.state_dict() alone, best as safetensors"
# For each reason of the child: what was expected, what came (with its name), what to do.
SENTENCES = {
    "broken": ("a PyTorch checkpoint", "it can't be unpickled", "save or download it again"),
    "global": (
        "tensors and plain values alone",
        "it names {name}, and code from a file is never run",
        RESAVE,
    ),
    "kind": ("tensors by name", "it holds an object of the kind {name}", RESAVE),
    "none": (
        f"tensors by name, at the top or under {', '.join(WRAPPERS)}",
        "there are none",
        RESAVE,
    ),
    "many": (
        "no more tensors than the limit 'tensors'",
        "it has {name}",
        "raise the limit if it is right",
    ),
    "name": ("printable names for its tensors, each once", "one is {name}", RESAVE),
    "layout": (
        "dense tensors of plain numbers",
        "{name} is sparse, quantised or without numbers",
        "convert it to dense half precision",
    ),
    "dtype": (
        f"one of {', '.join(DTYPES)}",
        "one is {name}",
        "convert it to half precision",
    ),
    "storage": ("the numbers of each tensor", "those of {name} aren't in the file", RESAVE),
    "stride": (
        "as many numbers as each tensor claims",
        "{name} claims more than the file holds for it",
        "call .contiguous() on it before saving",
    ),
    "overlap": (
        "tensors with numbers of their own",
        "they claim more than the file holds",
        "call .clone() on them before saving",
    ),
    "bytes": (
        "tensors that take no more than the limits 'growth' and 'largest_file'",
        "they take more",
        "save them as safetensors",
    ),
    "memory": (
        "a checkpoint that opens within the limit 'memory'",
        "it takes more",
        "save it as safetensors, or raise the limit",
    ),
}


def refused(path: Path, reason: str, name: str = "") -> AtlasError:
    """What is raised for the pickle `path`; an unknown reason is one more broken file."""
    if reason == "torch":
        return AtlasError(elsewhere(f"its PyTorch is {shown(name)}, and older than 2.10"))
    if reason == "limits":
        return AtlasError(elsewhere("this system can't limit what a process takes"))
    expected, came, do = SENTENCES.get(reason, SENTENCES["broken"])
    return damaged(path, expected, came.format(name=shown(name)), do)


def elsewhere(why: str) -> str:
    """What is said where no pickle can be opened safely."""
    return f"Expected a server that can open pickles safely; {why}, so save it as safetensors."
