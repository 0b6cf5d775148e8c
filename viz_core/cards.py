"""Model cards: what a checkpoint is, as Markdown, from its own description and the tables alone.

No number stands in this file: what isn't measured is left out of the card.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd
import torch

from viz_core import catalogue, encodings, probes, results
from viz_core.catalogue import Checkpoint
from viz_core.encodings import PositionEncoding
from viz_core.errors import AtlasError, UsageError
from viz_core.model import ModelConfig, Transformer
from viz_core.perplexity.protocols import PIECES, PROTOCOLS
from viz_core.training.corpus import CORPUS_SHA256, HELD_OUT
from viz_core.training.sources import ARCHIVES

MARK = "<!-- Written by `python -m viz_core card` from the checkpoint and its tables. -->"
WORKS = {
    "sotu": "State of the Union addresses",
    "moby-dick": "Herman Melville, *Moby-Dick*",
    "tdavid": "C. H. Spurgeon, *The Treasury of David*",
    "mhcc": "Matthew Henry, *Concise Commentary*",
    "web": "an English Bible",  # edited, so not by the translation's own name
    "austen": "Jane Austen, novels",
    "jargon": "the Jargon File",
}
_TEXTS = {"heldout": "held-out documents", "python-docs": "Python's manual"}


def current(checkpoint: Checkpoint) -> str:
    """The card that the files give now: the checkpoint, its training.csv, the shipped tables.

    Raises AtlasError for a file that can't be read.
    """
    path = checkpoint.path.with_name("training.csv")
    try:
        log = list(csv.DictReader(path.read_text("utf-8").splitlines())) if path.is_file() else []
    except (OSError, ValueError) as error:
        raise AtlasError(f"Expected the log of a training in {path}; got {error}.") from None
    known = (catalogue.SHIPPED / checkpoint.id).resolve() == path.resolve().parent
    tables = (results.shipped("sources"), results.shipped("probes"))
    return card(checkpoint, log, *tables, shipped=known)


def card(
    checkpoint: Checkpoint,
    log: Sequence[Mapping[str, str]] = (),
    losses: pd.DataFrame | None = None,
    scores: pd.DataFrame | None = None,
    shipped: bool = True,
) -> str:
    """The card's Markdown. Parts without data are left out; the same data give the same text.

    `log` is the rows of training.csv; `losses` and `scores` are the tables of perplexity and of
    probes, of which only rows of this very file (by sha256) count. A checkpoint that isn't
    `shipped` is opened by its path, and its licence is its owner's to state.
    """
    parts = [
        _front(checkpoint, shipped),
        MARK,
        *_what(checkpoint),
        _how(checkpoint, shipped),
        *_training(checkpoint, log),
        *_losses(checkpoint, _own(losses, checkpoint)),
        *_probes(_own(scores, checkpoint)),
        *_limits(checkpoint, shipped),
    ]
    return "\n\n".join(parts) + "\n"


def _front(checkpoint: Checkpoint, shipped: bool) -> str:
    lines = ["license: apache-2.0"] if shipped else []
    lines += ["language:", "- en"] if _our_text(checkpoint) else []
    tags = ("attention", "position-encoding", "length-extrapolation", checkpoint.config.encoding)
    return "\n".join(["---", *lines, "tags:", *(f"- {tag}" for tag in tags), "---"])


def _what(checkpoint: Checkpoint) -> Iterator[str]:
    c, encoding = checkpoint.config, encodings.get(checkpoint.config.encoding)
    paper, row, own = encoding.paper, checkpoint.row(), _position(checkpoint).parameters()
    yield f"# {encoding.name}, trained at {c.length:,} tokens"
    yield (
        "A small causal Transformer of Attention Atlas, for studying how attention uses position. "
        f"Its position encoding is {encoding.name} ({paper.authors} {paper.year}, "
        f"[{paper.title}]({paper.url})). {encoding.summary}"
    )
    yield f"$$\n{encoding.latex}\n$$"
    values = encoding.settings(c.parameters).items()
    settings = (f"{n} {v:g}" if isinstance(v, float) else f"{n} {v}" for n, v in values)
    yield _table(
        ("position encoding", ", ".join([f"`{c.encoding}`", *settings])),
        ("acts on", encoding.acts_on),
        ("layers, heads, channels of a head", f"{c.layers:,}, {c.heads:,}, {row['head_dim']:,}"),
        ("width, width of the MLP", f"{c.width:,}, {_config(checkpoint).mlp * c.width:,}"),
        ("vocabulary", f"{c.vocabulary:,} pieces"),
        ("parameters, the encoding's", f"{row['parameters']:,}, {sum(p.numel() for p in own):,}"),
        ("trained length", f"{c.length:,} tokens"),
        ("sha256 of the file", f"`{checkpoint.sha256}`"),
    )


def _how(checkpoint: Checkpoint, shipped: bool) -> str:
    name = checkpoint.id if shipped else f"PATH/{checkpoint.path.name}"
    twice = 2 * checkpoint.config.length
    length = min(twice, _position(checkpoint).longest or twice)
    return (
        "## How to open it\n\nIn a checkout of Attention Atlas: in the browser, on the command "
        f"line, in Python.\n\n```\nmake app\npython -m viz_core map {name} --length {length}\n```"
        "\n\n```python\nfrom viz_core import catalogue\n\n"
        f'model = catalogue.find("{name}").load()\n```'
    )


def _training(checkpoint: Checkpoint, log: Sequence[Mapping[str, str]]) -> Iterator[str]:
    facts, rows = checkpoint.facts, list[tuple[str, str]]()
    if facts.get("tokens_seen") is not None:
        rows.append(("tokens seen", f"{facts['tokens_seen']:,}"))
    if r := facts.get("recipe"):
        rate = f"AdamW, learning rate {r['rate']:g} after {r['warmup']:,} steps of warm-up"
        rows += [
            ("passes over the text", f"{r['passes']:,}"),
            ("one step", f"{r['batch']:,} sequences of {r['length']:,} tokens"),
            ("optimiser", f"{rate}, decay {r['decay']:g}, gradient norm up to {r['clip']:g}"),
            ("precision, seed", f"{r['precision']}, {r['seed']}"),
        ]
    if log:
        steps, seconds = int(log[-1]["step"]), float(log[-1]["seconds"])
        rows += [("steps", f"{steps:,}"), ("time of all steps", f"{seconds:,.0f} s")]
    hashes = {what: facts.get(f"{what}_sha256") for what in ("recipe", "corpus", "tokenizer")}
    rows += [(f"sha256 of the {what}", f"`{found}`") for what, found in hashes.items() if found]
    if rows:
        yield "## What it was trained on, and for how long"
    if _our_text(checkpoint):
        packages = ", ".join(f"`{archive.spec}`" for archive in ARCHIVES)
        yield (
            f"English in the public domain: {'; '.join(WORKS.values())}. `make corpus` builds the "
            f"text from {packages}. {sum(HELD_OUT.values())} documents are kept for validation, as "
            "many for tests."
        )
    if rows:
        yield _table(*rows)
    if all(hashes.values()):
        yield (
            "Checkpoints with these three hashes saw the same sequences in the same order from the "
            "same seed: they differ in the position encoding alone."
        )
    if log:
        yield "The losses along the way are in [training.csv](training.csv)."


def _losses(checkpoint: Checkpoint, losses: pd.DataFrame) -> Iterator[str]:
    facts, length, found = checkpoint.facts, checkpoint.config.length, list[str]()
    if facts.get("validation_loss") is not None:
        tokens = facts.get("validation_tokens")
        over = f", over {tokens:,} tokens" if tokens is not None else ""
        found.append(f"Final validation loss: **{facts['validation_loss']:.3f}**{over}.")
    if by_position := facts.get("loss_by_position"):
        windows = facts.get("loss_by_position_windows")
        over = f" in {windows:,} windows at random places" if windows is not None else ""
        bins = sorted(by_position.items(), key=lambda item: int(item[0].split("-")[0]))
        found.append(f"By position, as the number of tokens before, on validation text{over}:")
        found.append(_table(*((name, f"{loss:.3f}") for name, loss in bins), head="position loss"))
    if len(losses):
        asked = (losses["protocol"] == PIECES) & losses["setting"].isin(["", float("nan")])
        losses = losses[asked & (losses["length"] == length) & losses["loss"].notna()]
    if len(losses):
        commands = ", ".join(f"`{c}`" for c in dict.fromkeys(losses["command"]))
        found.append(
            f"By source, with N = {length:,} ({PROTOCOLS[PIECES]}); low and high are the 95 % "
            f"interval over documents. Made with {commands}."
        )
        rows = (_loss(row) for _, row in losses.sort_values(["text", "source"]).iterrows())
        found.append(_table(*rows, head="text source loss low high perplexity tokens documents"))
    if found:
        yield from ("## Losses", "In nats per token.", *found)


def _loss(row: Mapping[str, Any]) -> list[str]:
    numbers = (row["loss"], row["loss_low"], row["loss_high"])
    return [
        _TEXTS.get(row["text"], row["text"]),
        WORKS.get(row["source"], row["source"]),
        *("" if pd.isna(x) else f"{x:.3f}" for x in numbers),
        f"{row['perplexity']:.2f}",
        *(f"{int(row[name]):,}" for name in ("tokens", "documents")),
    ]


def _probes(scores: pd.DataFrame) -> Iterator[str]:
    for _, row in scores.tail(1).iterrows():
        yield "## Has it learnt to use position?"
        yield (
            "The best head's mean probability of the token before (previous token) and of what "
            "followed earlier copies of a token (induction), beside what uniform attention would "
            f"give. Made with `{row['command']}`."
        )
        rows = []
        for kind in ("previous_token", "induction"):
            values = [f"{row[name]:.3f}" for name in (kind, f"{kind}_baseline")]
            places = [f"{int(row[f'{kind}_{name}'])}" for name in ("layer", "head")]
            rows.append([kind.replace("_", " "), *values, *places])
        yield _table(*rows, head="probe score uniform layer head")
        if (passed := str(row["passed"])) in ("True", "False"):
            yield (
                f"It {'passes' if passed == 'True' else 'does not pass'} the gate: a score of at "
                f"least {probes.TIMES} times uniform, and a loss at positions {probes.LATE} more "
                f"than {probes.GAIN} nats below that at {probes.EARLY}."
            )


def _limits(checkpoint: Checkpoint, shipped: bool) -> Iterator[str]:
    c, beyond = checkpoint.config, encodings.get(checkpoint.config.encoding).beyond
    lines = ["A small research model, made to be looked at: no chat model."]
    if _our_text(checkpoint):
        lines.append("Its English is mostly of older registers, with the views of their times.")
    lines.append(f"Past its trained length, L = {c.length:,}: {beyond[0].lower()}{beyond[1:]}")
    yield "## What it is not for\n\n" + "\n".join(f"- {line}" for line in lines)
    if shipped:
        text = " The text is in the public domain." * _our_text(checkpoint)
        yield f"## Licence\n\nWeights and code: [Apache-2.0](../../LICENSE).{text}"
        yield "## Citation\n\n[CITATION.cff](../../CITATION.cff)"


def _own(table: pd.DataFrame | None, checkpoint: Checkpoint) -> pd.DataFrame:
    """The rows measured on this very file: numbers of other weights are none of its own."""
    if table is None or not len(table):
        return pd.DataFrame()
    return table[table["checkpoint_sha256"] == checkpoint.sha256]


def _position(checkpoint: Checkpoint) -> PositionEncoding:
    with torch.device("meta"):
        return Transformer(_config(checkpoint)).encoding


def _config(checkpoint: Checkpoint) -> ModelConfig:
    """The sizes of one of our own; others have cards of their own."""
    if not isinstance(checkpoint.config, ModelConfig):
        raise UsageError(f"Expected a checkpoint of this project's format; {checkpoint.id} isn't.")
    return checkpoint.config


def _our_text(checkpoint: Checkpoint) -> bool:
    return checkpoint.facts.get("corpus_sha256") == CORPUS_SHA256


def _table(*rows: Sequence[str], head: str = "") -> str:
    names = head.split() or [""] * len(rows[0])
    lines = [names, ["---"] * len(names), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
