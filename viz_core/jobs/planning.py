"""From a spec to its cells: checkpoints found, texts read, the key of every result known."""

from __future__ import annotations

import glob
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import torch

from viz_core import catalogue, encodings, keys, texts, variants
from viz_core.catalogue import Checkpoint
from viz_core.errors import DamagedCheckpoint, LengthError, UsageError
from viz_core.jobs.cell import Cell
from viz_core.jobs.reading import Reading
from viz_core.jobs.spec import Spec
from viz_core.model import ModelConfig, Transformer
from viz_core.perplexity import protocols
from viz_core.signatures import kinds
from viz_core.store import RunKey
from viz_core.types import SINK
from viz_core.words import say

_SENTENCE = re.compile(r".+?(?:\.(?= |$)|。)", re.DOTALL)  # the first, in any language
SHORTEST = 4 * kinds.NEAR + 2 * SINK  # tokens from which near heads and far ones are told apart


@dataclass(frozen=True)
class _Entrant:
    """A checkpoint as the spec calls it, and as `catalogue.find` does; None where it is damaged,
    and why."""

    called: str
    name: str
    checkpoint: Checkpoint | None
    damage: str = ""


def plan(spec: Spec) -> list[Cell]:
    """The cells of `spec`, by checkpoint.

    A damaged checkpoint, a setting of another encoding and a length past a table of positions are
    cells that say so. Raises UsageError and AtlasError for what stands in the way of all cells: a
    checkpoint or text that isn't there, a text too short, a setting that no checkpoint has.
    """
    for text in spec.texts:
        if text == texts.PASTED:
            raise UsageError(say("Expected texts that others can read too; got pasted."))
    read = Reading(spec.how)
    made = [
        _cell(spec, read, entrant, *what)
        for entrant in _entrants(spec)
        for what in product(spec.settings, spec.texts, spec.lengths, spec.measurements)
    ]
    for setting in spec.settings:
        some = [c for c in made if c.setting == setting and c.sha256]
        if some and all(c.undefined and c.setting for c in some):
            raise UsageError(some[0].obstacle)
    return made


def marks(spec: Spec) -> tuple[tuple[str, int, int], ...]:
    """(name, time of change, size) of the file of every checkpoint of `spec`: equal for as long as
    its plan is. Raises UsageError for a glob that fits no file."""
    found = []
    for called in spec.checkpoints:
        for _, name in _names(spec.folder, called):
            where = Path(name.partition("?")[0])
            path = where if where.exists() else catalogue.SHIPPED / where / "model.safetensors"
            files = sorted(path.iterdir()) if path.is_dir() else [path] * path.exists()
            about = [file.stat() for file in files]
            newest = max((one.st_mtime_ns for one in about), default=0)
            found.append((name, newest, sum(one.st_size for one in about)))
    return tuple(found)


def _entrants(spec: Spec) -> list[_Entrant]:
    """Every checkpoint of the spec once. Raises UsageError for a glob that fits no file."""
    found: dict[str, _Entrant] = {}
    for called in spec.checkpoints:
        for short, name in _names(spec.folder, called):
            if name not in found:
                found[name] = _entrant(short, name)
    return list(found.values())


def _names(folder: Path, called: str) -> Iterator[tuple[str, str]]:
    """(what it is called, what `catalogue.find` takes) of one entry of the spec.

    A question mark is no wildcard here: it begins the answers to what a checkpoint doesn't say.
    """
    where, mark, answers = called.partition("?")
    if "*" in where or "[" in where:
        fit = sorted(glob.glob(where, root_dir=folder, recursive=True))
        if not fit:
            raise UsageError(
                say(
                    "Expected checkpoints that fit {called} in {folder}; there are none.",
                    called=called,
                    folder=folder,
                )
            )
        yield from ((one + mark + answers, str(folder / one) + mark + answers) for one in fit)
    elif "/" in where or Path(where).suffix:
        yield called, str(folder / where) + mark + answers
    else:
        yield called, called


def _entrant(called: str, name: str) -> _Entrant:
    try:
        return _Entrant(called, name, catalogue.find(name))
    except DamagedCheckpoint as error:
        return _Entrant(called, name, None, str(error))


def _cell(
    spec: Spec,
    read: Reading,
    entrant: _Entrant,
    setting: str,
    text: str,
    length: int,
    measurement: str,
) -> Cell:
    checkpoint, key, undefined = entrant.checkpoint, None, ""
    if checkpoint is not None:
        undefined = _undefined(checkpoint, setting, length)
        if not undefined:
            key = _key(read, checkpoint, setting, text, length, measurement)
    facts = checkpoint.facts if checkpoint else {}
    return Cell(
        name=entrant.name,
        checkpoint=entrant.called,
        sha256=checkpoint.sha256 if checkpoint else "",
        encoding=checkpoint.config.encoding if checkpoint else "",
        trained_length=checkpoint.config.length if checkpoint else 0,
        step=facts.get("step"),
        tokens_seen=facts.get("tokens_seen"),
        setting=setting,
        text=text,
        length=length,
        measurement=measurement,
        how=spec.how,
        key=key,
        obstacle=undefined or entrant.damage,
        undefined=bool(undefined),
    )


def _undefined(checkpoint: Checkpoint, setting: str, length: int) -> str:
    """Why the encoding has no values under `setting` at `length`; "" where it has."""
    c = checkpoint.config
    try:
        variants.parameters(c.encoding, setting, length, c.length)
    except UsageError as error:
        first = _SENTENCE.match(str(error))  # the rest says what to do, which is to leave it
        return first[0] if first else str(error)
    if not isinstance(c, ModelConfig) or setting == "off":
        return ""  # of other people's models, only the weights tell
    with torch.device("meta"):
        encoding = Transformer(c).encoding
    if encoding.longest is None or length <= encoding.longest:
        return ""
    name = encodings.get(c.encoding).name
    return say("{name} is undefined past {limit}.", name=name, limit=encoding.limit)


def _key(
    read: Reading,
    checkpoint: Checkpoint,
    setting: str,
    text: str,
    length: int,
    measurement: str,
) -> RunKey:
    """Raises LengthError for a length that the measurement can't have."""
    how = read.how
    if measurement == "perplexity":
        some = read.samples(checkpoint, text)
        protocols.windows(how.protocol, min(len(s.ids) for s in some), length, "")
        return keys.losses(checkpoint, some, length, how.protocol, setting)
    if measurement == "maps":
        passages = read.passages(checkpoint, text, length)
        return keys.survey(checkpoint, passages, how.view, how.pooling, setting)
    if length < SHORTEST:
        raise LengthError(
            say(
                "Expected lengths of at least {shortest} tokens for {measurement}; got {length}.",
                shortest=SHORTEST,
                measurement=measurement,
                length=length,
            )
        )
    return keys.portrait(checkpoint, read.passages(checkpoint, text, length), setting)
