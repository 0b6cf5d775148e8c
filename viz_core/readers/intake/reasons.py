"""Why a pickle was refused: the child process says one word and a name, the sentences are here."""

from __future__ import annotations

from pathlib import Path

from viz_core.errors import AtlasError
from viz_core.readers.intake.headers import DTYPES
from viz_core.readers.intake.unpickling import WRAPPERS
from viz_core.readers.intake.words import damaged, shown
from viz_core.words import mark, say

RESAVE = mark("save model.state_dict() alone, best as safetensors")
# For each reason of the child: what was expected, what came (with its name), what to do.
SENTENCES = {
    "broken": (
        mark("a PyTorch checkpoint"),
        mark("it can't be unpickled"),
        mark("save or download it again"),
    ),
    "global": (
        mark("tensors and plain values alone"),
        mark("it names {name}, and code from a file is never run"),
        RESAVE,
    ),
    "kind": (mark("tensors by name"), mark("it holds an object of the kind {name}"), RESAVE),
    "none": (
        mark("tensors by name, at the top or under {wrappers}"),
        mark("there are none"),
        RESAVE,
    ),
    "many": (
        mark("no more tensors than the limit 'tensors'"),
        mark("it has {name}"),
        mark("raise the limit if it is right"),
    ),
    "name": (mark("printable names for its tensors, each once"), mark("one is {name}"), RESAVE),
    "layout": (
        mark("dense tensors of plain numbers"),
        mark("{name} is sparse, quantised or without numbers"),
        mark("convert it to dense half precision"),
    ),
    "dtype": (mark("one of {kinds}"), mark("one is {name}"), mark("convert it to half precision")),
    "storage": (
        mark("the numbers of each tensor"),
        mark("those of {name} aren't in the file"),
        RESAVE,
    ),
    "stride": (
        mark("as many numbers as each tensor claims"),
        mark("{name} claims more than the file holds for it"),
        mark("call .contiguous() on it before saving"),
    ),
    "overlap": (
        mark("tensors with numbers of their own"),
        mark("they claim more than the file holds"),
        mark("call .clone() on them before saving"),
    ),
    "bytes": (
        mark("tensors that take no more than the limits 'growth' and 'largest_file'"),
        mark("they take more"),
        mark("save them as safetensors"),
    ),
    "memory": (
        mark("a checkpoint that opens within the limit 'memory'"),
        mark("it takes more"),
        mark("save it as safetensors, or raise the limit"),
    ),
}


def refused(path: Path, reason: str, name: str = "") -> AtlasError:
    """What is raised for the pickle `path`; an unknown reason is one more broken file."""
    if reason == "torch":
        return AtlasError(
            elsewhere(say("its PyTorch is {name}, and older than 2.10", name=shown(name)))
        )
    if reason == "limits":
        return AtlasError(elsewhere(say("this system can't limit what a process takes")))
    fields = {
        "name": shown(name),
        "kinds": ", ".join(DTYPES),
        "wrappers": ", ".join(WRAPPERS),
    }
    expected, came, do = SENTENCES.get(reason, SENTENCES["broken"])
    return damaged(path, say(expected, **fields), say(came, **fields), say(do))


def elsewhere(why: str) -> str:
    """What is said where no pickle can be opened safely."""
    return say(
        "Expected a server that can open pickles safely; {why}, so save it as safetensors.", why=why
    )
