"""`perplexity`: losses by length, by protocol, of several checkpoints and settings."""

from __future__ import annotations

import argparse
import hashlib
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from tqdm import tqdm  # type: ignore[import-untyped]

from viz_core import catalogue, perplexity, results, texts, variants
from viz_core import trace as traces
from viz_core.catalogue import Checkpoint
from viz_core.commands import _shared
from viz_core.errors import AtlasError, UsageError
from viz_core.journal import Journal, store_folder
from viz_core.subject import Subject
from viz_core.types import Sample


def run(options: argparse.Namespace) -> None:
    """A row per checkpoint, setting and length, as a table or as JSON; as CSV into `--out`."""
    _shared.check_out(options.out)
    if options.text == texts.PASTED:
        raise UsageError("Expected your own text as --text-file PATH; got --text pasted.")
    place = _shared.device(options.device)
    loaded = [_loaded(name, options, place) for name in dict.fromkeys(options.checkpoints)]
    journal = Journal(store_folder() / "perplexity.jsonl")
    if journal.broken:
        print(
            f"note: {journal.broken} unfinished lines of {journal.path} are left out and computed "
            "again; the rest is kept.",
            file=sys.stderr,
        )
    if options.text == texts.HELD_OUT and not options.text_file:
        _shared.fetch_held_out()
    read = {checkpoint.id: _samples(options, checkpoint.tokenizer()) for checkpoint, _ in loaded}
    rows: list[dict[str, Any]] = []
    settings = options.scaling or [""]
    total = len(loaded) * len(settings)
    try:
        with tqdm(total=total, desc="losses", disable=None, bar_format=_BAR) as bar:
            for checkpoint, model in loaded:
                for setting in settings:
                    title = variants.title(checkpoint.config.encoding, setting)
                    bar.set_postfix_str(title)
                    begun = bar.n

                    def progress(done: float, begun: float = begun, bar: Any = bar) -> None:
                        bar.update(begun + done - bar.n)

                    found = perplexity.measure(
                        model,
                        read[checkpoint.id],
                        options.lengths,
                        options.protocol,
                        "" if setting == "none" else setting,
                        options.by_source,
                        progress,
                        journal,
                        checkpoint.sha256,
                    )
                    rows += [_row(checkpoint, options, read[checkpoint.id], row) for row in found]
    except KeyboardInterrupt:
        raise AtlasError(
            f"Stopped; what was computed is kept in {journal.path}: run the same command again to "
            "go on."
        ) from None
    command = _shared.command_line(sys.argv[1:])
    if options.out:
        results.write(options.out, command, rows)
    if options.json:
        about = perplexity.PROTOCOLS[options.protocol]
        _shared.print_json({"command": command, "protocol": about, "rows": rows})
    elif not options.out:
        _print(rows)


_BAR = "{desc}: {percentage:3.0f}%|{bar}| {elapsed}<{remaining}, {postfix}"


def _loaded(
    name: str, options: argparse.Namespace, place: torch.device
) -> tuple[Checkpoint, Subject]:
    """The checkpoint called `name`, once all lengths and settings are known to be possible."""
    checkpoint = catalogue.find(name)
    _shared.tell_caveats([checkpoint])
    config = checkpoint.config
    for setting in options.scaling or [""]:
        for n in options.lengths:
            variants.parameters(config.encoding, setting, n, config.length)
    model = checkpoint.load(place)
    end = model.encoding.longest
    for n in options.lengths:
        if end is None or n <= end:  # past a table there is no value, which is no error here
            traces.check_length(model, n)
    return checkpoint, model


def _samples(options: argparse.Namespace, tokenizer: Any) -> list[Sample]:
    own: Path | None = options.text_file
    return texts.samples(
        texts.PASTED if own else options.text,
        max(options.lengths),
        tokenizer,
        options.documents,
        _shared.read(own) if own else "",
    )


def _mark(samples: list[Sample]) -> str:
    """The identity of all samples together."""
    return hashlib.sha256("".join(s.sha256 for s in samples).encode()).hexdigest()


def _row(
    checkpoint: Checkpoint,
    options: argparse.Namespace,
    samples: list[Sample],
    row: perplexity.Row,
) -> dict[str, Any]:
    measured = asdict(row)
    head = {name: measured.pop(name) for name in ("setting", "protocol")}
    return {
        "checkpoint": checkpoint.id,
        "encoding": checkpoint.config.encoding,
        "trained_length": checkpoint.config.length,
        **head,
        "text": str(options.text_file or options.text),
        **measured,
        "checkpoint_sha256": checkpoint.sha256,
        "text_sha256": _mark(samples),
    }


def _print(rows: list[dict[str, Any]]) -> None:
    names = ("checkpoint", "setting", "length", "positions", "source", "loss", "95 %", "perplexity")
    table = [[*names, "against the trained length", "tokens", "documents", ""]]
    for r in rows:
        positions = f"{r['first']}-{r['last']}" if r["first"] else "-"
        known = r["loss"] is not None
        spread = f"{r['loss_low']:.3f}-{r['loss_high']:.3f}" if r["loss_low"] else "-"
        gap = "-" if r["difference"] is None else f"{r['difference']:+.3f}"
        line = [r["checkpoint"], r["setting"] or "-", f"{r['length']:,}", positions, r["source"]]
        line += [f"{r['loss']:.3f}", spread, f"{r['perplexity']:.2f}"] if known else ["-"] * 3
        table.append([*line, gap, f"{r['tokens']:,}", str(r["documents"]), r["note"]])
    _shared.print_table(table, left=2)
    print(f"nats per token; {rows[0]['protocol']}: {perplexity.PROTOCOLS[rows[0]['protocol']]}")
