"""`attribute --to heads` and `--to distance`: losses of checkpoints with attention changed."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

from viz_core import encodings, results, texts, variants
from viz_core import trace as traces
from viz_core.attribution import heads, reach
from viz_core.attribution.places import Array, Place, added
from viz_core.catalogue import Checkpoint, find
from viz_core.commands import _shared
from viz_core.errors import TextError, UsageError
from viz_core.model import Transformer, ours
from viz_core.progress import Progress, within
from viz_core.types import SINK

TEXTS = 8
WHAT = {"heads": ("layer", "head", "replacement"), "distance": ("reach", "kept")}
MEASURES = ("place", "first", "last", "loss", "difference", "difference_low", "difference_high")


def run(options: argparse.Namespace) -> None:
    """A row per checkpoint, length, change and place: a table, JSON, and into `--out`."""
    lengths = sorted(set(options.lengths))
    loaded = [_loaded(name, options, lengths) for name in dict.fromkeys(options.checkpoints)]
    read = {checkpoint.id: _texts(options, checkpoint, lengths[-1]) for checkpoint, _ in loaded}
    _shared.tell([p for found in read.values() for p in found])
    began = time.monotonic()
    plan = [(checkpoint, model, n) for checkpoint, model in loaded for n in lengths]
    rows, done, total = list[dict[str, Any]](), 0, sum(n for _, _, n in plan)
    with _shared.watched(options.to) as progress:
        for checkpoint, model, n in plan:
            here = within(progress, done / total, (done + n) / total)
            rows += _rows(options, checkpoint, model, read[checkpoint.id], n, here)
            done += n
    command = _shared.command_line(sys.argv[1:])
    if options.out:
        results.write(options.out, command, rows)
    if options.json:
        hashes = {name: [p.sha256 for p in found] for name, found in read.items()}
        seconds = round(time.monotonic() - began, 4)
        about = {"command": command, "text_sha256": hashes, "seconds": seconds}
        _shared.print_json({**about, "rows": rows})
    elif not options.out:
        shown = ("checkpoint", "length", *WHAT[options.to], *MEASURES, "note")
        header = [name.replace("_", " ") for name in shown]
        _shared.print_table([header, *([_plain(r[n]) for n in shown] for r in rows)], 1)


def _loaded(
    name: str, options: argparse.Namespace, lengths: Sequence[int]
) -> tuple[Checkpoint, Transformer]:
    """The checkpoint called `name`, once all lengths and the setting are known to be possible."""
    if options.text == texts.PASTED:
        raise UsageError("Expected your own text as --text-file PATH; got --text pasted.")
    if options.text_file and options.texts:
        raise UsageError("Expected --texts with a --text that has several; a file is one text.")
    place = _shared.device(options.device)
    checkpoint = find(name)
    model = ours(checkpoint.load(place), "attribution")
    end, config = model.encoding.longest, checkpoint.config
    for n in lengths:
        variants.parameters(config.encoding, options.scaling or "", n, config.length)
        if end is None or n <= end:  # past a table there is no value, which is no error here
            traces.check_length(model, n)
    return checkpoint, model


def _texts(options: argparse.Namespace, checkpoint: Checkpoint, n: int) -> list[texts.Passage]:
    """Passages of `n` tokens and the one that follows them."""
    own = options.text_file
    if options.text == texts.HELD_OUT and not own:
        _shared.fetch_held_out()
    found = texts.passages(
        texts.PASTED if own else options.text,
        n + 1,
        1 if own else options.texts or TEXTS,
        checkpoint.tokenizer(),
        _shared.read(own) if own else "",
    )
    if (shortest := min(len(p.ids) for p in found)) <= n:
        raise TextError(
            f"Expected texts of more than {n:,} tokens, the last of which is predicted; the "
            f"shortest has {shortest:,}. Choose a --length below that."
        )
    return found


def _rows(
    options: argparse.Namespace,
    checkpoint: Checkpoint,
    model: Transformer,
    passages: list[texts.Passage],
    length: int,
    progress: Progress,
) -> list[dict[str, Any]]:
    """The rows of one checkpoint at one length; a single one that says so where it has no value."""
    about = {
        "checkpoint": checkpoint.id,
        "encoding": checkpoint.config.encoding,
        "trained_length": checkpoint.config.length,
        "setting": options.scaling or "",
        "text": str(options.text_file or options.text),
        "length": length,
        **dict.fromkeys((*WHAT[options.to], *MEASURES)),
        "texts": len(passages),
        "note": "",
        "checkpoint_sha256": checkpoint.sha256,
    }
    end = model.encoding.longest
    if end is not None and length > end:
        return [about | {"note": encodings.ending(model.encoding)}]
    # from the front: at every length, a place within the trained length holds the same tokens
    ids = [p.ids[: length + 1] for p in passages]
    varied = variants.vary(model, options.scaling or "", length)
    measure = _heads if options.to == "heads" else _distances
    return [about | row for row in measure(varied, ids, progress)]


def _heads(
    model: Transformer, ids: Sequence[Sequence[int]], progress: Progress
) -> Iterator[dict[str, Any]]:
    found = heads.measure(model, ids, progress)
    config = model.config
    for r, name in enumerate(heads.REPLACEMENTS):
        for layer, head in product(range(config.layers), range(config.heads)):
            what = {"layer": layer + 1, "head": head + 1, "replacement": name}
            changed = found.loss[:, r, layer, head]
            yield from _by_place(what, found.places, changed, found.plain)
        what = {"layer": "all", "head": "all", "replacement": name}
        yield from _by_place(what, found.places, found.together[:, r], found.plain)


def _distances(
    model: Transformer, ids: Sequence[Sequence[int]], progress: Progress
) -> Iterator[dict[str, Any]]:
    for i, kept in enumerate((0, SINK)):
        here = within(progress, i / 2, (i + 1) / 2)
        found = reach.measure(model, ids, kept=kept, progress=here)
        for r, distance in enumerate(found.reaches):
            what = {"reach": distance, "kept": kept}
            yield from _by_place(what, found.places, found.loss[:, r], found.loss[:, -1])


def _by_place(
    what: dict[str, Any], where: Sequence[Place], changed: Array, plain: Array
) -> Iterator[dict[str, Any]]:
    """A row for each place, of losses [text, place]."""
    for p, place in enumerate(where):
        gap = added(changed[:, p], plain[:, p])
        yield {
            **what,
            "place": place.name,
            "first": place.first,
            "last": place.last,
            "loss": float(changed[:, p].mean()),
            "difference": gap.value,
            "difference_low": gap.low,
            "difference_high": gap.high,
        }


def _plain(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.4f}"
    return "-" if value is None or value == "" else str(value)
