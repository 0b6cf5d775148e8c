"""`mechanism`: what attention does at each length, under each setting of the encoding."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import product
from typing import Any

import numpy as np
from tqdm import tqdm  # type: ignore[import-untyped]

from viz_core import encodings, mechanism, results, texts, variants
from viz_core import trace as traces
from viz_core.catalogue import Checkpoint, find
from viz_core.commands import _shared
from viz_core.errors import TextError, UsageError
from viz_core.mechanism import Mechanism
from viz_core.subject import Subject

TEXTS = 4  # passages in a mean
MEASURES = [f.name for f in fields(Mechanism) if f.name != "queries"]
COLUMNS = (
    *("checkpoint", "encoding", "trained_length", "setting", "text", "length", "layer"),
    *(*MEASURES, "unseen_phases", "texts", "note", "checkpoint_sha256"),
)
SHOWN = ("checkpoint", "setting", "length", "layer", *MEASURES, "unseen_phases", "note")


@dataclass(frozen=True)
class Opened:
    """One checkpoint, and the passages of the longest length in its own tokens."""

    checkpoint: Checkpoint
    model: Subject
    passages: list[texts.Passage]


def run(options: argparse.Namespace) -> None:
    """A row per checkpoint, setting, length and layer: as a table, as JSON, and into `--out`."""
    _shared.check_out(options.out)
    lengths = sorted(set(options.lengths))
    settings = list(dict.fromkeys("" if s == "none" else s for s in options.scaling or [""]))
    text = str(options.text_file or options.text)
    opened = _opened(options, text, lengths, settings)
    began = time.monotonic()
    rows = list[dict[str, Any]]()
    steps = sum(len(s.passages) for s in opened) * len(settings) * sum(lengths)
    with tqdm(total=steps, unit="token", unit_scale=True, disable=None) as bar:
        for subject, setting, length in product(opened, settings, lengths):
            found = _rows(subject, setting, length, min(mechanism.ROWS, lengths[0] - 1), bar.update)
            for row in found:
                row |= {"setting": setting, "text": text, "length": length}
                rows.append({name: row[name] for name in COLUMNS})
    command = _shared.command_line(sys.argv[1:])
    if options.out:
        results.write(options.out, command, rows)
    if options.json:
        hashes = {s.checkpoint.id: [p.sha256 for p in s.passages] for s in opened}
        seconds = round(time.monotonic() - began, 4)
        about = {"command": command, "text_sha256": hashes, "seconds": seconds}
        _shared.print_json({**about, "rows": rows})
    else:
        header = [name.replace("_", " ") for name in SHOWN]
        _shared.print_table([header, *([_plain(row[n]) for n in SHOWN] for row in rows)], 2)


def _opened(
    options: argparse.Namespace, text: str, lengths: Sequence[int], settings: Sequence[str]
) -> list[Opened]:
    """All checkpoints with their texts, so that what can't be is refused before any work."""
    if options.text == texts.PASTED:
        raise UsageError("Expected your own text as --text-file PATH; got --text pasted.")
    if options.text_file and options.texts:
        raise UsageError("Expected --texts with a --text that has several; a file is one text.")
    place = _shared.device(options.device)
    opened = []
    for name in options.checkpoints:
        checkpoint = find(name)
        model = checkpoint.load(place)
        config = checkpoint.config
        for length in lengths:
            if model.encoding.longest is None or length <= model.encoding.longest:
                traces.check_length(model, length)
            for setting in settings:
                variants.parameters(config.encoding, setting, length, config.length)
        opened.append((checkpoint, model))
    pasted = _shared.read(options.text_file) if options.text_file else ""
    if text == texts.HELD_OUT and not options.text_file:
        _shared.fetch_held_out()
    text = texts.PASTED if options.text_file else text
    count = 1 if options.text_file else options.texts or TEXTS
    ready = []
    for checkpoint, model in opened:
        pieces = checkpoint.tokenizer()
        found = texts.passages(text, lengths[-1], count, pieces, pasted)
        if (shortest := min(len(p.ids) for p in found)) < lengths[-1]:
            raise TextError(
                f"Expected texts of {lengths[-1]:,} tokens; the shortest has {shortest:,}. "
                "Choose at most that length."
            )
        ready.append(Opened(checkpoint, model, found))
    _shared.tell([p for s in ready for p in s.passages])
    return ready


def _rows(
    one: Opened, setting: str, length: int, queries: int, done: Callable[[int], object]
) -> Iterator[dict[str, Any]]:
    """What one setting and length gave: each layer, then the mean of all; `done(tokens)`."""
    config, count = one.checkpoint.config, len(one.passages)
    end = one.model.encoding.longest
    about: dict[str, Any] = {
        "checkpoint": one.checkpoint.id,
        "checkpoint_sha256": one.checkpoint.sha256,
        "encoding": config.encoding,
        "trained_length": config.length,
    }
    names = [*range(1, config.layers + 1), "all"]
    if end is not None and length > end:
        about |= dict.fromkeys([*MEASURES, "unseen_phases", "texts"])
        about["note"] = encodings.ending(one.model.encoding)
        yield from ({**about, "layer": name} for name in names)
        done(length * count)
        return
    model = variants.vary(one.model, setting, length)
    found = []
    for passage in one.passages:
        # cut from the front: the last tokens are the same at every length
        passed = traces.trace(model, passage.ids[-length:])
        found.append(mechanism.measure(passed, queries))
        done(length)
    about |= {"unseen_phases": _unseen(model, config.parameters, length), "texts": count}
    about["note"] = f"the last {queries:,} queries" if queries < mechanism.ROWS else ""
    for i, name in enumerate(names):
        layers = slice(None) if name == "all" else slice(i, i + 1)
        means = {m: float(np.mean([getattr(f, m)[layers] for f in found])) for m in MEASURES}
        yield {**about, "layer": name, **means}


def _unseen(model: Subject, trained: Mapping[str, Any], length: int) -> float | None:
    """The share of new angles; None too where training itself had a scaling, and other arcs."""
    if trained.get("scaling", "none") != "none":
        return None
    theta = float(trained.get("theta", 10000.0))
    return mechanism.unseen_phases(model.encoding, length, model.config.length, theta)


def _plain(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return "-" if value is None or value == "" else str(value)
