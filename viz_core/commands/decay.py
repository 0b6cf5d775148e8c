"""`decay`: attention by distance over several texts, and the slope of each head."""

from __future__ import annotations

import argparse
import csv
import io
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from viz_core import decay as fits
from viz_core import texts
from viz_core import trace as traces
from viz_core.commands import _shared
from viz_core.encodings.alibi import ALiBi
from viz_core.errors import TextError, UsageError
from viz_core.progress import within

TEXTS = 8  # passages in a mean
BIASED = (
    "The plain mean over rows: short rows have larger weights and only small distances, so it "
    "falls with distance even where attention doesn't; all keys count, the first ones too."
)


def run(options: argparse.Namespace) -> None:
    """Slopes as a table, or everything as JSON; curves into `--out`."""
    _shared.check_out(options.out)
    if options.text_file and options.texts:
        raise UsageError("Expected --texts with a --text that has several; a file is one text.")
    count = 1 if options.text_file else options.texts or TEXTS
    checkpoint, model, device, tokenizer = _shared.opened(options)
    config = checkpoint.config
    layers = _shared.chosen("layer", options.layer, config.layers)
    if options.text_file:
        passages = [_shared.passage(options, tokenizer)]
    else:
        passages = texts.passages(options.text, options.length, count, tokenizer)
    _shared.tell(passages)
    n = min(len(p.ids) for p in passages)
    if n < max(len(p.ids) for p in passages):
        raise TextError(
            f"Expected {count} texts of {options.length:,} tokens; the shortest has {n:,}. "
            "Choose at most that length."
        )
    began = time.monotonic()
    plain = options.estimator == "mean-probability"
    parts: dict[int, list[fits.Part]] = {layer: [] for layer in layers}
    means: dict[int, Any] = dict.fromkeys(layers, 0.0)
    with _shared.watched("texts") as progress:
        for i, p in enumerate(passages):
            here = within(progress, i / len(passages), (i + 1) / len(passages))
            share = 0.5 if plain else 1.0  # of the forward pass, about
            trace = traces.trace(model, p.ids, within(here, 0.0, share))
            for j, layer in enumerate(layers):
                parts[layer].append(fits.part(trace, layer, options.sink))
                if plain:
                    step = (1 - share) / len(layers)
                    late = within(here, share + j * step, share + (j + 1) * step)
                    means[layer] += fits.mean_probability(trace, layer, late) / len(passages)
    nominal: Sequence[float | None] = [None] * config.heads
    if isinstance(model.encoding, ALiBi):
        nominal = [-m for m in model.encoding.slope.tolist()]
    entries: list[dict[str, Any]] = []
    for layer in layers:
        slope = fits.slope(parts[layer])
        if plain:
            values, law = means[layer], None
            pairs = [(n - d) * len(passages) for d in range(values.shape[1])]
        else:
            curve = fits.by_distance(parts[layer])
            values, pairs = curve.value, curve.pairs.tolist()
            law = fits.law(parts[layer], trace.scores[layer], values.shape[1])
            law = None if law is None else curve.aligned(law)
        for h in range(config.heads):
            entry: dict[str, Any] = {"layer": layer + 1, "head": h + 1, "slope": float(slope[h])}
            entry |= {"nominal": nominal[h], "pairs": pairs, "curve": _shared.listed(values[h])}
            entries.append({**entry, "law": None if law is None else _shared.listed(law[h])})
    about = {
        **_shared.about(checkpoint, options, passages, device, time.monotonic() - began),
        "texts": len(passages),
        "sink": options.sink,
        "estimator": options.estimator,
        "unit": "mean probability" if plain else "nats, up to a constant per head",
        "bias": BIASED if plain else None,
        "slope_estimator": "row-fixed-effects",
        "pairs": max((e["pairs"] for e in entries), key=len),  # a layer with a window has fewer
    }
    if options.out:
        with _shared.written(options.out) as file:
            file.write(_csv(entries, plain).encode())
    if options.json:
        _shared.print_json({**about, "curves": entries})
    else:
        _print_slopes(entries)
        print(
            f"slopes in nats per token, over {len(passages)} texts of {n:,} tokens, without the "
            f"first {options.sink} keys"
        )


def _csv(entries: list[dict[str, Any]], plain: bool) -> str:
    """A row per layer, head and distance."""
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    column = "mean_probability" if plain else "log_attention"
    writer.writerow(["layer", "head", "distance", column, "law", "pairs"])
    for e in entries:
        law = e["law"] or [""] * len(e["pairs"])
        for d, row in enumerate(zip(e["curve"], law, e["pairs"], strict=True)):
            writer.writerow([e["layer"], e["head"], d, *row])
    return text.getvalue()


def _print_slopes(entries: list[dict[str, Any]]) -> None:
    table, errors = [["layer", "head", "slope", "nominal", "relative error"]], []
    for e in entries:
        line = [str(e["layer"]), str(e["head"]), f"{e['slope']:+.5f}", "-", "-"]
        if e["nominal"]:
            errors.append(abs(e["slope"] / e["nominal"] - 1))
            line[3:] = f"{e['nominal']:+.5f}", f"{errors[-1]:.1%}"
        table.append(line)
    _shared.print_table(table)
    if errors:
        print(f"median relative error of the slopes: {np.median(errors):.2%}")
