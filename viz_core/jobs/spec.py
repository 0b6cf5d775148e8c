"""What a sweep is of, read from a TOML file: everything is checked before anything is computed."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, get_args

from viz_core.errors import UnknownName, UsageError
from viz_core.jobs.cell import How
from viz_core.perplexity.protocols import PROTOCOLS
from viz_core.types import Kind, Pooling
from viz_core.words import say

MEASUREMENTS = ("maps", "decay", "signatures", "perplexity")
EXECUTORS = ("inline", "local", "slurm")
_LISTS = ("checkpoints", "lengths", "scalings", "texts", "measurements")
_TABLES = {"maps": ("view", "pooling"), "perplexity": ("protocol", "documents")}
_KEYS = (*_LISTS, "passages", "store_gb", *_TABLES, "executor")


@dataclass(frozen=True)
class Limits:
    """Where cells are computed, and what they may take.

    `workers`: processes of "local" (None: one for two cores). The rest is of "slurm": `minutes`,
    `memory_gb`, `cpus` and `gpus` of each task, at most `at_once` of them at a time and `tasks`
    in all (which share the cells), and `sbatch`, any further options of it by name.
    """

    kind: str = "inline"
    workers: int | None = None
    minutes: int = 60
    memory_gb: float = 8
    cpus: int = 2
    gpus: int = 0
    at_once: int = 64
    tasks: int = 1000  # Slurm's own limit of an array, MaxArraySize, is 1001 unless set
    partition: str | None = None
    account: str | None = None
    qos: str | None = None
    sbatch: Mapping[str, str | int | float | bool] = field(default_factory=dict)


@dataclass(frozen=True)
class Spec:
    """A sweep: every checkpoint x setting x text x length x measurement.

    `checkpoints` as the file names them (ids, paths, globs), paths relative to `folder`;
    `settings` as in `variants`, "" as trained; `store_gb`: the limit of the store, GiB.
    """

    folder: Path
    checkpoints: tuple[str, ...]
    lengths: tuple[int, ...]
    settings: tuple[str, ...]
    texts: tuple[str, ...]
    measurements: tuple[str, ...]
    how: How
    limits: Limits
    store_gb: float = 4  # as the app keeps: a smaller limit would remove what it has computed


def read(path: Path) -> Spec:
    """The spec at `path`. Raises UsageError, in a sentence, for whatever is wrong with it."""
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise UsageError(
            say(
                "Expected a sweep in TOML at {path}; got none ({reason}).", path=path, reason=reason
            )
        ) from None
    _among(given, _KEYS, say("a key of the spec"))
    lists = {name: _list(given, name) for name in _LISTS}
    for name in lists["measurements"]:
        _known(name, MEASUREMENTS, "measurements")
    tables = {name: _table(given, name, keys) for name, keys in _TABLES.items()}
    maps, losses = tables["maps"], tables["perplexity"]
    how = How(
        passages=_number(given, "passages", How.passages),
        view=_known(maps.get("view", How.view), get_args(Kind), "[maps] view"),
        pooling=_known(maps.get("pooling", How.pooling), get_args(Pooling), "[maps] pooling"),
        protocol=_known(losses.get("protocol", How.protocol), PROTOCOLS, "[perplexity] protocol"),
        documents=_number(losses, "documents", How.documents),
        longest=max(lists["lengths"]),
    )
    return Spec(
        folder=path.resolve().parent,
        checkpoints=lists["checkpoints"],
        lengths=lists["lengths"],
        settings=tuple("" if word == "none" else word for word in lists["scalings"]),
        texts=lists["texts"],
        measurements=lists["measurements"],
        how=how,
        limits=_limits(given),
        store_gb=_number(given, "store_gb", Spec.store_gb, float),
    )


_DEFAULTS: dict[str, tuple[str, ...]] = {"scalings": ("none",), "texts": ("heldout",)}


def _list(given: Mapping[str, Any], name: str) -> Any:
    """A list of words (of lengths: whole numbers), each once, in order; at least one."""
    found = given.get(name, _DEFAULTS.get(name))
    wanted = int if name == "lengths" else str
    good = isinstance(found, list | tuple) and found and all(type(x) is wanted for x in found)
    if not good or (wanted is int and min(found) < 2):
        facts = {"name": name, "got": say("nothing") if found is None else repr(found)[:60]}
        if wanted is int:
            words = say("Expected {name} as a list of whole numbers from 2 on; got {got}.", **facts)
        else:
            words = say("Expected {name} as a list of words; got {got}.", **facts)
        raise UsageError(words)
    return tuple(dict.fromkeys(found))


def _table(given: Mapping[str, Any], name: str, keys: tuple[str, ...]) -> Mapping[str, Any]:
    found = given.get(name, {})
    if not isinstance(found, dict):
        raise UsageError(
            say("Expected [{name}] as a table; got {found!r}.", name=name, found=found)
        )
    _among(found, keys, say("a key of [{name}]", name=name))
    return found


def _limits(given: Mapping[str, Any]) -> Limits:
    found = _table(given, "executor", tuple(f.name for f in fields(Limits)))
    values: dict[str, Any] = {"kind": _known(found.get("kind", Limits.kind), EXECUTORS, "kind")}
    for name in ("workers", "minutes", "cpus", "gpus", "at_once", "tasks"):
        least = 0 if name == "gpus" else 1
        values[name] = _number(found, name, getattr(Limits, name), least=least)
    values["memory_gb"] = _number(found, "memory_gb", Limits.memory_gb, float)
    for name in ("partition", "account", "qos"):
        word = found.get(name)
        if not (word is None or isinstance(word, str)):
            raise UsageError(
                say("Expected {name} of [executor] as a word; got {word!r}.", name=name, word=word)
            )
        values[name] = word
    options = found.get("sbatch", {})
    if not isinstance(options, dict) or any(isinstance(v, list | dict) for v in options.values()):
        raise UsageError(
            say(
                "Expected sbatch of [executor] as a table of options; got {options!r}.",
                options=options,
            )
        )
    return Limits(**values, sbatch=options)


def _among(given: Mapping[str, Any], keys: tuple[str, ...], what: str) -> None:
    for name in given:
        if name not in keys:
            raise UnknownName(what, name, list(keys))


def _known(word: Any, known: Any, what: str) -> Any:
    if word not in tuple(known):
        raise UnknownName(what, word, list(known))
    return word


def _number(
    given: Mapping[str, Any], name: str, default: Any, kind: type = int, least: int = 1
) -> Any:
    """A whole number from `least` on; with `kind` float any above 0."""
    value = given.get(name, default)
    if kind is float:
        good = type(value) in (int, float) and value > 0
        words = say("Expected {name} as a number above 0; got {value!r}.", name=name, value=value)
    else:
        good = value is default or (type(value) is int and value >= least)
        words = say(
            "Expected {name} as a whole number from {least} on; got {value!r}.",
            name=name,
            least=least,
            value=value,
        )
    if not good:
        raise UsageError(words)
    return value
