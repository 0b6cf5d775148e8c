"""`signatures`: every statistic of every head, with its null."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from viz_core import portraits, results, texts, variants
from viz_core.commands import _shared
from viz_core.errors import TextError
from viz_core.progress import within
from viz_core.results import Kept
from viz_core.signatures import summary

TEXTS = 16
SHOWN = [
    *("checkpoint", "layer", "head", "kind", "slope", "slope_nominal", "reach_90", "stairs"),
    *("stairs_p", "ripple", "ripple_p", "position", "sink", "entropy"),
]


def run(options: argparse.Namespace) -> None:
    """A row per checkpoint, layer and head: as a table, as JSON, and into `--out`; curves too."""
    _shared.check_out(options.out)
    if options.text == texts.HELD_OUT:
        _shared.fetch_held_out()
    place = _shared.device(options.device)
    chosen = _shared.checkpoints(options.checkpoints)
    command = _shared.command_line(sys.argv[1:])
    setting = options.scaling or ""
    rows = list[dict[str, Any]]()
    with _shared.watched("heads") as progress:
        for i, checkpoint in enumerate(chosen):
            here = within(progress, i / len(chosen), (i + 1) / len(chosen))
            pieces = checkpoint.tokenizer()
            length = options.length or checkpoint.config.length
            passages = texts.passages(options.text, length, options.texts or TEXTS, pieces)
            _shared.tell(passages)
            short = min(len(p.ids) for p in passages)
            if short < length:
                raise TextError(
                    f"Expected texts of {length:,} tokens; the shortest has {short:,}. Choose at "
                    "most that --length."
                )
            model = variants.vary(checkpoint.load(place), setting, length)
            ids = [p.ids for p in passages]
            portrait = portraits.measure(model, ids, pieces, setting, here)
            common: dict[str, Any] = {"checkpoint": checkpoint.id, "encoding": portrait.encoding}
            common |= {"setting": setting, "length": length, "texts": len(ids)}
            rows += [common | row for row in summary.rows(portrait)]
            if summary.windowed(portrait):
                print(
                    f"note: {checkpoint.id} has layers that see a window of "
                    f"{portrait.probability.shape[2]:,} tokens; kind and reach need every "
                    "distance, so they are left blank.",
                    file=sys.stderr,
                )
            if options.curves:
                shas = tuple(p.sha256 for p in passages)
                kept = Kept(portrait, command, checkpoint.sha256, shas)
                results.write_portrait(options.curves, checkpoint.id, kept)
    if options.out:
        results.write(options.out, command, rows)
    if options.json:
        _shared.print_json({"command": command, "rows": rows})
    else:
        header = [name.replace("_", " ") for name in SHOWN]
        _shared.print_table([header, *([_plain(row[n]) for n in SHOWN] for row in rows)], 1)


def _plain(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.3g}"
    return "-" if value is None else str(value)
