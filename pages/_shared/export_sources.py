"""What figures on the page are made from, as provenance names it: by the sha256 of each."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path

from pages._shared import offered
from pages._shared.boxes import Box
from viz_core import catalogue, results
from viz_core.alone import Alone
from viz_core.catalogue import Checkpoint
from viz_core.export.provenance import Source, digest
from viz_core.texts import PASTED, Passage
from viz_core.words import mark

OWN = "a visitor's own, which is not in this file"
UPLOADED = mark(
    "A figure of an upload can be exported; it can't be pinned, since no command elsewhere would "
    "find the checkpoint."
)


def elsewhere(names: Iterable[str]) -> str:
    """What stands in the way of pinning figures of these checkpoints; "" for shipped ones."""
    known = offered.shipped()[0]
    return "" if all(name in known for name in names) else UPLOADED


def checkpoints(some: Iterable[Checkpoint]) -> tuple[Source, ...]:
    """The checkpoints, each once."""
    return tuple(dict.fromkeys(Source("checkpoint", c.id, c.sha256, c.caveat) for c in some))


def texts(name: str, passages: Sequence[Passage]) -> tuple[Source, ...]:
    """The passages of the text called `name`; of one's own there is its hash alone."""
    name = OWN if name == PASTED else name
    return tuple(Source("text", f"{name} {i}", p.sha256) for i, p in enumerate(passages, 1))


def shas(name: str, found: Sequence[str]) -> tuple[Source, ...]:
    """As `texts`, from the hashes of passages."""
    return tuple(Source("text", f"{name} {i}", sha) for i, sha in enumerate(found, 1))


def tables(kind: str) -> tuple[Source, ...]:
    """The shipped tables called `kind`*.csv."""
    return tuple(_file(path.name, path) for path in sorted(results.FOLDER.glob(f"{kind}*.csv")))


def trainings(names: Iterable[str]) -> tuple[Source, ...]:
    """The training.csv beside each of the shipped checkpoints `names`."""
    paths = [catalogue.SHIPPED / name / "training.csv" for name in names]
    return tuple(_file(f"{p.parent.name}/{p.name}", p) for p in paths if p.is_file())


def formulas(sides: Iterable[Alone]) -> tuple[Source, ...]:
    """Encodings alone: the sha256 of what their formulas give."""
    laws = ((a.title, {"law": a.law} if a.law is not None else {}) for a in sides)
    return tuple(Source("encoding", title, digest(law)) for title, law in laws)


def ranges(box: Box | None) -> dict[str, list[str]]:
    """A window of a map (queries, keys) as the options of a plate; none for the whole map."""
    if box is None:
        return {}
    (a, b), (c, d) = box
    return {"queries": [f"{a}:{b}"], "keys": [f"{c}:{d}"]}


def _file(name: str, path: Path) -> Source:
    return Source("table", name, hashlib.sha256(path.read_bytes()).hexdigest())
