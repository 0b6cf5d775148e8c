"""`map`: the attention maps of one text."""

from __future__ import annotations

import argparse
import json
import math
import time

import numpy as np
import torch

from viz_core import attention, devices
from viz_core import trace as traces
from viz_core.commands import _shared
from viz_core.errors import LengthError
from viz_core.progress import within

SHOWN = (
    "checkpoint",
    "encoding",
    "text",
    "tokens",
    "note",
    "shape",
    "cell",
    "pooling",
    "mean_row_sum",
    "device",
    "seconds",
    "peak_memory_mb",
)


def run(options: argparse.Namespace) -> None:
    """The maps into `--out`, what is true of them on standard output."""
    _shared.check_out(options.out)
    checkpoint, model, device, tokenizer = _shared.opened(options)
    config = checkpoint.config
    layers = _shared.chosen("layer", options.layer, config.layers)
    heads = _shared.chosen("head", options.head, config.heads)
    passage = _shared.passage(options, tokenizer, options.repeat)
    _shared.tell([passage])
    rows, columns, cell = attention.place(
        len(passage.ids), options.rows, options.columns, options.pixels
    )
    shape = [len(heads), *(math.ceil((b - a) / cell) for a, b in (rows, columns))]
    held = 4 * math.prod(shape) * (4 + (len(layers) if options.out else 0))
    if held > 0.8 * devices.free_bytes(torch.device("cpu")):
        raise LengthError(
            f"Maps of {shape[1]:,} x {shape[2]:,} cells would take about {held / 2**30:.1f} GiB, "
            "more than is free; choose fewer --pixels, or one --layer and --head."
        )
    began = time.monotonic()
    kept = np.empty((len(layers), *shape), np.float32) if options.out else None
    sums = []
    with _shared.watched("maps") as progress:
        share = config.layers / (config.layers + len(layers))  # of the forward pass, about
        trace = traces.trace(model, passage.ids, within(progress, 0.0, share))
        for i, layer in enumerate(layers):
            step = (1 - share) / len(layers)
            w = attention.window(
                trace,
                layer,
                rows,
                columns,
                options.pixels,
                slice(heads[0], heads[-1] + 1),
                options.pooling,
                within(progress, share + i * step, share + (i + 1) * step),
            )
            if options.pooling == "mean" and columns == (0, trace.length):
                sums.append(attention.row_sums(w).mean())
            if kept is not None:
                kept[i] = w.value
    about = {
        **_shared.about(checkpoint, options, [passage], device, time.monotonic() - began),
        "layers": [n + 1 for n in layers],
        "heads": [n + 1 for n in heads],
        "shape": [len(layers), *shape],  # layer, head, query, key
        "rows": list(rows),
        "columns": list(columns),
        "cell": w.cell,
        "pooling": options.pooling,
        "mean_row_sum": float(np.mean(sums)) if sums else None,  # of whole rows only
    }
    if kept is not None:
        with _shared.written(options.out) as file:
            np.savez(
                file,
                log_probability=kept,
                count=w.count,
                rows=np.array(w.rows),
                columns=np.array(w.columns),
                cell=np.array(w.cell),
                about=np.array(json.dumps(about)),
            )
    if options.json:
        _shared.print_json(about)
    else:
        _shared.print_table([[name.replace("_", " "), _plain(about[name])] for name in SHOWN], 2)


def _plain(value: object) -> str:
    if isinstance(value, list):
        return " x ".join(map(str, value))
    return "-" if value is None else f"{value:,}" if isinstance(value, int) else str(value)
