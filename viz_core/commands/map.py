"""`map`: the attention maps of one text."""

from __future__ import annotations

import argparse
import json
import math
import time

import numpy as np
import torch
from tqdm import tqdm  # type: ignore[import-untyped]

from viz_core import attention, devices
from viz_core import trace as traces
from viz_core.commands import _shared
from viz_core.errors import LengthError

SHOWN = (
    "checkpoint",
    "encoding",
    "text",
    "tokens",
    "note",
    "shape",
    "cell",
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
    side = math.ceil(len(passage.ids) / math.ceil(len(passage.ids) / options.pixels))
    held = 4 * side**2 * len(heads) * (4 + (len(layers) if options.out else 0))
    if held > 0.8 * devices.free_bytes(torch.device("cpu")):
        raise LengthError(
            f"Maps of {side:,} x {side:,} cells would take about {held / 2**30:.1f} GiB, more "
            "than is free; choose fewer --pixels, or one --layer and --head."
        )
    began = time.monotonic()
    trace = traces.trace(model, passage.ids)
    kept = np.empty((len(layers), len(heads), side, side), np.float32) if options.out else None
    sums = []
    for i, layer in enumerate(tqdm(layers, "layers", disable=None)):
        w = attention.window(
            trace, layer, pixels=options.pixels, heads=slice(heads[0], heads[-1] + 1)
        )
        sums.append(attention.row_sums(w).mean())
        if kept is not None:
            kept[i] = w.value
    about = {
        **_shared.about(checkpoint, options, [passage], device, time.monotonic() - began),
        "layers": [n + 1 for n in layers],
        "heads": [n + 1 for n in heads],
        "shape": [len(layers), len(heads), side, side],  # layer, head, query, key
        "cell": w.cell,
        "mean_row_sum": float(np.mean(sums)),
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
