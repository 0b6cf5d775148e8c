"""`train`: one checkpoint, from the start or from where an earlier run was stopped."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from tqdm import tqdm  # type: ignore[import-untyped]

from viz_core import catalogue, encodings
from viz_core.errors import AtlasError, UsageError
from viz_core.training import corpus as corpora
from viz_core.training import recipe as recipes
from viz_core.training import train as training


def run(options: argparse.Namespace) -> None:
    """Trains and prints the path of the checkpoint."""
    recipe = recipes.load(options.recipe).with_values(options.replaced)
    if options.replaced and options.out is None:
        raise UsageError("Name a folder with --out: --with makes it another recipe.")
    values: dict[str, Any] = {}
    for part in options.set:
        name, equals, value = part.partition("=")
        if not equals:
            raise UsageError(f"Expected --set NAME=VALUE; got {part!r}.")
        values[name] = value
    settings = encodings.get(options.encoding).settings(values)
    shipped = recipe.name == "shipped"
    name = options.encoding if shipped else f"{options.encoding}-{recipe.name}"
    out: Path = options.out or catalogue.SHIPPED / name
    if (out / "model.safetensors").exists() and not options.again:
        raise AtlasError(
            f"Expected no finished checkpoint in {out}, but there is one; choose another folder "
            "with --out, or replace it with --again."
        )
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise AtlasError(f"Could not make the folder {out} ({error.strerror}).") from None
    own = recipe.vocabulary != recipes.load().vocabulary
    pieces = out / "tokenizer.json" if own else catalogue.TOKENIZER
    bar = tqdm(desc=f"{options.encoding}, {recipe.name}", unit="step", mininterval=1)

    def progress(step: int, steps: int, loss: float) -> None:
        if bar.total is None:
            bar.total, bar.initial, bar.n = steps, step - 1, step - 1
        bar.set_postfix(loss=f"{loss:.3f}", refresh=False)
        bar.update(step - bar.n)

    with bar:
        try:
            data = training.prepare(recipe, corpora.corpus_folder() / "corpus.jsonl", pieces)
            path = training.train(
                options.encoding, recipe, data, out, settings, progress, options.keep
            )
        except KeyboardInterrupt:
            raise AtlasError(
                f"Stopped at step {bar.n:,}; the state of at most {training.SAVE_EVERY} steps "
                f"earlier is kept in {out}: run the same command again to go on."
                if bar.n >= training.SAVE_EVERY
                else "Stopped before anything was kept; run the same command to start again."
            ) from None
    print(path)
