"""The trainer: same batches in the same order for every encoding, resumable from disk."""

from __future__ import annotations

import csv
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from viz_core import perplexity
from viz_core.encodings import Value, get
from viz_core.errors import AtlasError
from viz_core.model import Transformer
from viz_core.readers import native
from viz_core.training import batches, corpus, mixture, tokenizer
from viz_core.training.recipe import Recipe
from viz_core.words import say

COLUMNS = (
    "step",
    "tokens",
    "training_loss",
    "validation_loss",
    "learning_rate",
    "seconds",
    "text_tokens",
    "first_loss",
    "copy_loss",
)
VALIDATION_WINDOWS = 128
CLOSING_WINDOWS = 1024  # for the loss by position at the end
BINS = ((1, 15), (16, 63), (64, 255), (256, 511))  # positions, both ends included
SAVE_EVERY = 50


@dataclass(frozen=True)
class Data:
    """The tokens of both splits and what identifies them."""

    training: batches.Ids
    validation: batches.Ids
    facts: dict[str, str]


def prepare(recipe: Recipe, text: Path, tokenizer_path: Path) -> Data:
    """Tokenizer and token ids for `recipe`, made once beside the corpus and read afterwards."""
    if not text.exists():
        raise AtlasError(
            say(
                "Expected the training text at {path}; it isn't there. Run `make corpus` first.",
                path=text,
            )
        )
    pieces = tokenizer.load_or_train(
        tokenizer_path,
        (d.text for d in corpus.documents(text, "train")),
        recipe.vocabulary,
    )
    facts = {
        "corpus_sha256": native.sha256(text),
        "tokenizer_sha256": native.sha256(tokenizer_path),
    }
    mark = "-".join(value[:8] for value in facts.values())

    def ids(split: corpus.Split) -> batches.Ids:
        texts = (d.text for d in corpus.documents(text, split))
        return batches.encode(pieces, texts, text.parent / f"{split}-{mark}.npy")

    return Data(ids("train"), ids("val"), facts)


def device() -> torch.device:
    """The GPU if there is one, or else the CPU."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def precision(recipe: Recipe, place: torch.device) -> AbstractContextManager[Any]:
    """The recipe's precision, as a context for the forward pass; the same on every machine."""
    if recipe.precision == "float32":
        return nullcontext()
    return torch.autocast(place.type, getattr(torch, recipe.precision))


def optimisers(model: Transformer, recipe: Recipe) -> list[torch.optim.Optimizer]:
    """Muon or AdamW with decay on the matrices of linear layers; AdamW without on all else.

    Each group's "peak" is the rate that the schedule scales. What an encoding learns has its own.
    """
    linear = {id(m.weight) for m in model.modules() if isinstance(m, torch.nn.Linear)}
    own = {id(p) for p in model.encoding.parameters()}
    other = recipe.rate if recipe.other_rate is None else recipe.other_rate
    kinds = {
        "linear": (recipe.rate, recipe.decay),
        "other": (other, 0.0),
        "own": (other if recipe.own_rate is None else recipe.own_rate, 0.0),
    }
    groups: dict[str, dict[str, Any]] = {
        kind: {"params": [], "lr": peak, "peak": peak, "weight_decay": decay}
        for kind, (peak, decay) in kinds.items()
    }
    for p in model.parameters():
        kind = "linear" if id(p) in linear else "own" if id(p) in own else "other"
        groups[kind]["params"].append(p)
    matrices, *rest = (group for group in groups.values() if group["params"])
    if recipe.optimiser == "muon":
        kept = torch.optim.AdamW(rest, betas=(0.9, 0.95), fused=True)
        return [torch.optim.Muon([matrices]), kept]
    return [torch.optim.AdamW([matrices, *rest], betas=(0.9, 0.95), fused=True)]


def train(
    encoding: str,
    recipe: Recipe,
    data: Data,
    out: Path,
    parameters: dict[str, Value] | None = None,
    progress: Callable[[int, int, float], None] = lambda step, steps, loss: None,
    keep: Sequence[float] = (),
) -> Path:
    """Trains one checkpoint into `out` and returns its path; goes on from `out`/state.pt if there.

    `progress(step, steps, loss)` is called after each step. Writes `training.csv` as it goes
    (steps, tokens, nats per token, learning rate, seconds; tokens of plain text; the loss on
    held-out passages, and on their copies half a length on) and `model.safetensors` at the end.
    With `keep`, shares 0 .. 1 of all steps, it also leaves step-NUMBER.safetensors at these (0: as
    drawn by chance, 1: the end); what is trained is the same. Raises AtlasError for a state of
    another training, for a step to keep that is past, and for steps that another one has left.
    """
    out.mkdir(parents=True, exist_ok=True)
    place, state_path, log_path = device(), out / "state.pt", out / "training.csv"
    torch.manual_seed(recipe.seed)
    settings = get(encoding).settings(parameters)
    model = Transformer(recipe.model(encoding, settings)).to(place)
    optims = optimisers(model, recipe)
    sequences: batches.Batches | mixture.Mixture = (
        mixture.Mixture(data.training, recipe.stages, recipe.seed, recipe.budget)
        if recipe.stages
        else batches.Batches(data.training, recipe.length, recipe.batch, recipe.passes, recipe.seed)
    )
    validation = batches.held_out(data.validation, recipe.length, VALIDATION_WINDOWS, recipe.seed)
    copies = mixture.held_out_copies(
        data.validation, recipe.length, recipe.length // 2, VALIDATION_WINDOWS, recipe.seed
    )
    step, seconds, recent, rows = 0, 0.0, list[float](), list[dict[str, Any]]()
    tokens, text = 0, 0
    identity = {"recipe": recipe.sha256, "encoding": encoding, **settings, **data.facts}
    if state_path.exists():
        state = torch.load(state_path, map_location=place, weights_only=True)
        if state.get("identity") != identity:
            raise AtlasError(
                say(
                    "The unfinished training in {folder} has another recipe, encoding or text; "
                    "finish it as it began, or train into another folder with --out.",
                    folder=out,
                )
            )
        model.load_state_dict(state["model"])
        for optim, kept_state in zip(optims, state["optimisers"], strict=True):
            optim.load_state_dict(kept_state)
        step, seconds, recent, rows = (state[n] for n in ("step", "seconds", "recent", "rows"))
        tokens, text = state["tokens"], state["text"]
    kept = {round(share * sequences.steps) for share in keep}
    _check_kept(out, kept, step)
    if 0 in kept and step == 0:
        _keep(model, out, 0, recipe, data, tokens)
    while step < sequences.steps:
        began = time.monotonic()
        rate = recipe.learning_rate(step, sequences.steps)
        recent.append(_step(model, optims, sequences[step].to(place), rate, recipe))
        tokens, text = (a + b for a, b in zip((tokens, text), sequences.seen(step), strict=True))
        step += 1
        seconds += time.monotonic() - began
        if step % recipe.validate_every == 0 or step == sequences.steps:
            loss = perplexity.loss_by_position(model, validation).mean().item()
            both = _on_copies(model, *copies)
            row = (step, tokens, sum(recent) / len(recent), loss, rate, seconds, text, *both)
            rows.append(dict(zip(COLUMNS, row, strict=True)))
            recent = []
            _write_log(log_path, rows)
        if step in kept:
            _keep(model, out, step, recipe, data, tokens)
        if step % SAVE_EVERY == 0 or step == sequences.steps:
            state = {"model": model.state_dict()}
            state |= {
                "optimisers": [optim.state_dict() for optim in optims],
                "tokens": tokens,
                "text": text,
                "identity": identity,
                "step": step,
                "seconds": seconds,
                "recent": recent,
                "rows": rows,
            }
            torch.save(state, state_path.with_suffix(".partial"))
            state_path.with_suffix(".partial").replace(state_path)
        progress(step, sequences.steps, recent[-1] if recent else rows[-1]["training_loss"])
    path = out / "model.safetensors"
    native.save(model, path, _facts(model, recipe, data, rows))
    state_path.unlink()
    return path


def _kept(out: Path, step: int) -> Path:
    return out / f"step-{step:06}.safetensors"  # in the order of their names, too


def _check_kept(out: Path, kept: Collection[int], step: int) -> None:
    """Raises AtlasError unless `out` has, of the steps to keep, those up to `step` and no other."""
    missing = [s for s in kept if s < step and not _kept(out, s).exists()]
    if missing:
        raise AtlasError(
            say(
                "Expected step {missing:,} to be kept; the unfinished training in {folder} is at "
                "step {step:,}, so leave it out of --keep, or train into another folder with "
                "--out.",
                missing=missing[0],
                folder=out,
                step=step,
            )
        )
    others = {p.name for p in out.glob("step-*.safetensors")} - {_kept(out, s).name for s in kept}
    if kept and others:
        raise AtlasError(
            say(
                "Expected no steps of another training in {folder}; there is {file}, so move it "
                "away, or train into another folder with --out.",
                folder=out,
                file=min(others),
            )
        )


def _keep(
    model: Transformer, out: Path, step: int, recipe: Recipe, data: Data, tokens: int
) -> None:
    """The weights as they are at `step`; no loss, which would cost time and is in training.csv."""
    trained = {"recipe": recipe.values, "recipe_sha256": recipe.sha256, **data.facts}
    native.save(model, _kept(out, step), {**trained, "step": step, "tokens_seen": tokens})


def _on_copies(
    model: Transformer, rows: Tensor, first: slice, second: slice
) -> tuple[float, float]:
    """Mean loss on held-out passages, nats per token, where they stand first and where again."""
    by_position = perplexity.loss_by_position(model, rows)
    return by_position[first].mean().item(), by_position[second].mean().item()


def _step(
    model: Transformer,
    optims: Sequence[torch.optim.Optimizer],
    tokens: Tensor,
    rate: float,
    recipe: Recipe,
) -> float:
    """One update on tokens [batch, length + 1]; returns the loss before it, nats per token."""
    for group in (group for optim in optims for group in optim.param_groups):
        group["lr"] = group["peak"] * rate / recipe.rate
    with precision(recipe, tokens.device):
        logits = model(tokens[:, :-1]).logits
    loss = F.cross_entropy(logits.float().flatten(0, 1), tokens[:, 1:].flatten())
    model.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), recipe.clip)
    for optim in optims:
        optim.step()
    return loss.item()


def _facts(
    model: Transformer, recipe: Recipe, data: Data, rows: list[dict[str, Any]]
) -> dict[str, Any]:
    """What the checkpoint says about itself; losses of the weights as shipped, in float16."""
    shipped = Transformer(model.config)
    shipped.load_state_dict({n: t.half().float().cpu() for n, t in model.state_dict().items()})
    windows = batches.held_out(data.validation, recipe.length, CLOSING_WINDOWS, recipe.seed)
    by_position = perplexity.loss_by_position(shipped.eval(), windows).numpy()
    # entry p is the loss of the token at position p + 1, which has p + 1 tokens before it
    bins = {
        f"{a}-{b}": float(np.mean(by_position[a - 1 : b])) for a, b in BINS if b <= recipe.length
    }
    return {
        "recipe": recipe.values,
        "recipe_sha256": recipe.sha256,
        **data.facts,
        "tokens_seen": rows[-1]["tokens"],
        "text_tokens_seen": rows[-1]["text_tokens"],
        "validation_loss": rows[-1]["validation_loss"],
        "validation_tokens": VALIDATION_WINDOWS * recipe.length,
        "loss_by_position": bins,
        "loss_by_position_windows": CLOSING_WINDOWS,
    }


def _write_log(path: Path, rows: list[dict[str, Any]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
