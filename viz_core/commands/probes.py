"""`probes`: has each checkpoint learnt to use position?"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from typing import Any

import torch
from tqdm import tqdm  # type: ignore[import-untyped]

from viz_core import probes, results, texts
from viz_core.catalogue import Checkpoint
from viz_core.commands import _shared
from viz_core.trace import trace

TEXTS, LENGTH = 4, 512  # passages of Python's manual, and the most tokens of each


def run(options: argparse.Namespace) -> None:
    """A row per checkpoint: as a table, as JSON, and into `--out`."""
    _shared.check_out(options.out)
    place = _shared.device(options.device)
    chosen = _shared.checkpoints(options.checkpoints)
    with tqdm(chosen, "checkpoints", disable=None) as bar:
        rows = [_row(checkpoint, place) for checkpoint in bar]
    command = _shared.command_line(sys.argv[1:])
    if options.out:
        results.write(options.out, command, rows)
    if options.json:
        _shared.print_json({"command": command, "rows": rows})
    else:
        shown = [name for name in rows[0] if name != "checkpoint_sha256"]
        header = [name.replace("_", " ") for name in shown]
        _shared.print_table([header, *([_plain(row[n]) for n in shown] for row in rows)], 2)


def _row(checkpoint: Checkpoint, place: torch.device) -> dict[str, Any]:
    """The probes of one checkpoint, within its trained length; layers and heads from 1."""
    model = checkpoint.load(place)
    pieces = checkpoint.tokenizer()
    length = min(LENGTH, checkpoint.config.length)
    passages = texts.passages(texts.MANUAL, length, TEXTS, pieces)
    previous = probes.mean([probes.previous_token(trace(model, p.ids)) for p in passages])
    losses = checkpoint.facts.get("loss_by_position")
    found = probes.gate(
        previous,
        probes.induction(model, pieces),
        losses if isinstance(losses, Mapping) else None,
    )
    row: dict[str, Any] = {"checkpoint": checkpoint.id, "encoding": checkpoint.config.encoding}
    for name, score in (("previous_token", found.previous), ("induction", found.induction)):
        value, layer, head = score.best
        row |= {name: value, f"{name}_layer": layer + 1, f"{name}_head": head + 1}
        row[f"{name}_baseline"] = score.baseline
    return row | {
        "loss_1_15": found.early,
        "loss_256_511": found.late,
        "passed": found.passed,
        "checkpoint_sha256": checkpoint.sha256,
    }


def _plain(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return "-" if value is None else str(value)
