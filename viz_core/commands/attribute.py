"""`attribute`: what predictions need, of tokens, attention, heads and distance."""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from tokenizers import Tokenizer

from viz_core import results, texts, variants
from viz_core.attribution import pattern, tokens
from viz_core.attribution.targets import Kind, Target, likeliest, named
from viz_core.catalogue import Checkpoint
from viz_core.commands import _ablations, _shared
from viz_core.errors import LengthError, UsageError
from viz_core.model import Transformer, ours

SHOWN = 16  # tokens with the largest attributions, in the table on the screen
SINGLE, MANY = ("tokens", "pattern"), ("heads", "distance")
ONLY = {  # the questions that an option belongs to
    **dict.fromkeys(("target", "targets", "kind", "token", "against", "steps"), SINGLE),
    "method": ("tokens",),
    "layer": ("pattern",),
    "texts": MANY,
}


@dataclass(frozen=True)
class Question:
    """One prediction of one checkpoint on one text."""

    checkpoint: Checkpoint
    model: Transformer
    place: torch.device
    passage: texts.Passage
    pieces: Tokenizer
    target: Target


def run(options: argparse.Namespace) -> None:
    """The parts of one number, or a table of losses: shown, as JSON, and into `--out`."""
    _shared.check_out(options.out)
    for name, where in ONLY.items():
        if options.to not in where and getattr(options, name) is not None:
            wanted = " or ".join(f"--to {w}" for w in where)
            raise UsageError(f"Expected --{name} with {wanted}; got it with --to {options.to}.")
    if options.steps and options.method not in (None, tokens.GRADIENTS):
        raise UsageError(f"Expected --steps with {tokens.GRADIENTS}; {options.method} has none.")
    if options.to in MANY:
        options.text = options.text or texts.HELD_OUT
        _ablations.run(options)
        return
    for name, given in (("checkpoint", options.checkpoints), ("length", options.lengths)):
        if len(given) != 1:
            raise UsageError(
                f"Expected one {name} with --to {options.to}; got {len(given)}. Several go with "
                "--to heads and --to distance."
            )
    options.checkpoint, options.length = options.checkpoints[0], options.lengths[0]
    options.text = options.text or texts.MANUAL
    (_to_tokens if options.to == "tokens" else _to_pattern)(options, _question(options))


def _to_tokens(options: argparse.Namespace, asked: Question) -> None:
    ids, method = asked.passage.ids, options.method or tokens.GRADIENTS
    began = time.monotonic()
    with _shared.watched("attribution") as progress:
        found = tokens.attribute(
            asked.model,
            ids,
            asked.target,
            method,
            options.steps or tokens.STEPS,
            progress=progress,
        )
    about = _about(options, asked, time.monotonic() - began) | {
        "method": method,
        "steps": found.steps,
        "output": found.output,
        "baseline": found.baseline,
        "delta": found.delta,
        "warning": found.warning or None,
    }
    labels, values = texts.pieces(ids, asked.pieces), _shared.listed(found.value)
    if options.out:
        rows = [
            {"position": i, "token": token, "piece": label, "attribution": value}
            for i, (token, label, value) in enumerate(zip(ids, labels, values, strict=True))
        ]
        results.write(options.out, _shared.command_line(sys.argv[1:]), rows)
    if options.json:
        _shared.print_json({**about, "pieces": labels, "attributions": values})
        return
    last = max(asked.target.queries)
    table = [["position", "distance", "token", "attribution"]]
    for i in np.argsort(-np.abs(found.value), kind="stable")[: min(SHOWN, last + 1)]:
        table.append([f"{i:,}", f"{last - i:,}", labels[i], f"{values[i]:+.4f}"])
    _shared.print_table(table)
    print(f"{method}: {tokens.METHODS[method]}")
    gap = found.output - found.baseline
    print(f"output {found.output:.4f}, {gap:+.4f} for these tokens; delta {found.delta:+.2g}")
    _warn(found.warning)


def _to_pattern(options: argparse.Namespace, asked: Question) -> None:
    config = asked.model.config
    layers = _shared.chosen("layer", options.layer, config.layers)
    began = time.monotonic()
    with _shared.watched("attribution") as progress:
        found = pattern.attribute(
            asked.model,
            asked.passage.ids,
            asked.target,
            layers,
            options.steps or tokens.STEPS,
            progress,
        )
    about = _about(options, asked, time.monotonic() - began) | {
        "steps": found.steps,
        "layers": [layer + 1 for layer in found.layers],
        "output": found.output,
        "without": _shared.listed(found.without),
        "delta": _shared.listed(found.delta),
        "warning": found.warning or None,
    }
    if options.out:
        with _shared.written(options.out) as file:
            np.savez(
                file,
                value=found.value,
                by_distance=found.by_distance,
                attention=found.attention,
                layers=np.array(about["layers"]),
                about=np.array(json.dumps(about)),
            )
    curves = [
        {
            "layer": layer,
            "head": head + 1,
            "attribution": _shared.listed(found.by_distance[i, head]),
            "attention": _shared.listed(found.attention[i, head]),
        }
        for i, layer in enumerate(about["layers"])
        for head in range(config.heads)
    ]
    if options.json:
        _shared.print_json({**about, "curves": curves})
        return
    table = [["layer", "head", "attribution", "most at distance", "of it there"]]
    for curve in curves:
        by_distance = np.array(curve["attribution"])
        most = int(np.abs(by_distance).argmax())
        line = [f"{by_distance.sum():+.4f}", f"{most:,}", f"{by_distance[most]:+.4f}"]
        table.append([str(curve["layer"]), str(curve["head"]), *line])
    _shared.print_table(table)
    print(f"integrated gradients on the attention of each layer; output {found.output:.4f}")
    _warn(found.warning)


def _question(options: argparse.Namespace) -> Question:
    checkpoint, model, place, pieces = _shared.opened(options)
    model = ours(variants.vary(model, options.scaling or "", options.length), "attribution")
    passage = _shared.passage(options, pieces)
    _shared.tell([passage])
    target = _target(options, passage.ids, pieces, model)
    return Question(checkpoint, model, place, passage, pieces, target)


def _target(
    options: argparse.Namespace, ids: list[int], pieces: Tokenizer, model: Transformer
) -> Target:
    """The number that `options` ask about, of the text `ids`.

    The text doesn't say what follows its last token: there, asked for by its number, it is what
    the model finds likeliest.
    """
    end = len(ids) - (options.token is None)
    first, last = options.targets or (end - 1, end)
    if options.target == len(ids) - 1 and options.token is None:
        ids, end = [*ids, likeliest(model, ids)], len(ids)
    if options.target is not None:
        first, last = options.target, options.target + 1
    if not 0 <= first < last <= end:
        raise LengthError(
            f"Expected queries from 0 to {end - 1:,}, whose next token is known; got "
            f"{first:,} to {last - 1:,}. Choose others, or say which --token is meant."
        )
    queries = tuple(range(first, last))
    asked = tuple(ids[first + 1 : last + 1])
    if options.token is not None:
        asked = (named(options.token, pieces),) * len(queries)
    if options.against is not None:
        return Target(
            queries, asked, "difference", (named(options.against, pieces),) * len(queries)
        )
    kind: Kind = options.kind or "log-probability"
    return Target(queries, asked, kind)


def _about(options: argparse.Namespace, asked: Question, seconds: float) -> dict[str, Any]:
    return {
        **_shared.about(asked.checkpoint, options, [asked.passage], asked.place, seconds),
        "setting": options.scaling or "",
        "to": options.to,
        "target": asdict(asked.target),
    }


def _warn(sentence: str) -> None:
    if sentence:
        print(f"note: {sentence}", file=sys.stderr)
