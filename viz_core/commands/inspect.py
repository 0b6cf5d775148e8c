"""`inspect`: what a checkpoint is, how that was found out, and what it leaves open."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import Any
from urllib.parse import urlencode

from viz_core import catalogue, readers
from viz_core.catalogue import Checkpoint
from viz_core.commands import _shared
from viz_core.encodings import Parameter
from viz_core.readers.description import Finding


def run(options: argparse.Namespace) -> None:
    """Sizes and encoding, the audit's findings, and the questions with the values taken."""
    asked = f"?{urlencode(options.answer)}" if options.answer else ""
    checkpoint = catalogue.find(options.checkpoint + asked)
    found = readers.audit(checkpoint.load(), checkpoint.description)
    if options.json:
        _shared.print_json(_document(checkpoint, found))
    else:
        _print(checkpoint, found)


def _document(checkpoint: Checkpoint, found: tuple[Finding, ...]) -> dict[str, Any]:
    d, c = checkpoint.description, checkpoint.config
    return {
        "checkpoint": checkpoint.id,
        "format": d.format,
        "family": d.family,
        "encoding": {"id": c.encoding, "parameters": dict(c.parameters)},
        "layers": c.layers,
        "heads": c.heads,
        "kv_heads": c.kv_heads,
        "head_dim": c.head_dim,
        "width": c.width,
        "vocabulary": c.vocabulary or None,
        "causal": c.causal,
        "trained_length": c.length or None,
        "parameters": d.weights,
        "tokenizer": d.tokenizer is not None,
        "findings": [asdict(f) for f in found],
        "questions": [asdict(q) for q in checkpoint.questions],
        "answers": checkpoint.answers,
    }


def _print(checkpoint: Checkpoint, found: tuple[Finding, ...]) -> None:
    d, c = checkpoint.description, checkpoint.config
    settings = ", ".join(
        f"{n} {v:,g}" if isinstance(v, float) else f"{n} {v}" for n, v in c.parameters.items()
    )
    heads = f"{c.heads}" if c.heads == c.kv_heads else f"{c.heads}, on {c.kv_heads} of keys"
    rows = {
        "checkpoint": checkpoint.id,
        "format": f"{d.format}, {d.family}",
        "encoding": f"{c.encoding} ({settings})" if settings else c.encoding,
        "layers": f"{c.layers}",
        "heads": f"{heads}, of {c.head_dim} channels",
        "width": f"{c.width:,}",
        "vocabulary": f"{c.vocabulary:,}" if c.vocabulary else "none",
        "attention": "causal" if c.causal else "bidirectional",
        "trained length": f"{c.length:,}" if c.length else "unknown",
        "parameters": f"{d.weights:,}",
    }
    _shared.print_table(list(rows.items()), left=2)
    if found:
        print()
        _shared.print_table([(f.verdict, f.about, f.words) for f in found], left=3)
    if asked := checkpoint.questions:
        print("\nThese are left open; another value goes in with --answer NAME=VALUE:")
        taken = {q.name: str(checkpoint.answers.get(q.name, q.default)) for q in asked}
        _shared.print_table([(q.name, taken[q.name], _help(q)) for q in asked], left=3)


def _help(question: Parameter) -> str:
    choices = f" One of {', '.join(question.choices)}." if question.choices else ""
    return question.help + choices
