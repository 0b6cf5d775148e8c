"""`list`: the shipped checkpoints."""

from __future__ import annotations

import argparse

from viz_core import catalogue
from viz_core.commands import _shared


def run(options: argparse.Namespace) -> None:
    """A table, or `Checkpoint.row()` of each as JSON."""
    rows = [c.row() for c in catalogue.shipped().values()]
    if options.json:
        _shared.print_json(rows)
    elif not rows:
        print("No checkpoint yet; `python -m viz_core train rope` makes one.")
    else:
        found = {b for r in rows for b in r["loss_by_position"] or ()}
        bins = sorted(found, key=lambda b: int(b.split("-")[0]))  # "first-last" positions
        head = "id encoding layers_x_heads width trained_length tokens_seen validation_loss_(nats)"
        table = [[*(h.replace("_", " ") for h in head.split()), *(f"at {b}" for b in bins)]]
        for r in rows:
            losses = [r["validation_loss"], *((r["loss_by_position"] or {}).get(b) for b in bins)]
            sizes = [f"{r[n]:,}" if r[n] else "-" for n in ("trained_length", "tokens_seen")]
            shape = f"{r['layers']} x {r['heads']}"
            numbers = ["-" if x is None else f"{x:.3f}" for x in losses]
            table.append([r["id"], r["encoding"], shape, str(r["width"]), *sizes, *numbers])
        _shared.print_table(table, left=2)
