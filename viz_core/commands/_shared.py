"""What several commands need: opening a checkpoint and a text, writing results whole."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import torch
from tokenizers import Tokenizer
from tqdm import tqdm  # type: ignore[import-untyped]

from viz_core import catalogue, devices, texts
from viz_core import trace as traces
from viz_core.catalogue import Checkpoint
from viz_core.errors import AtlasError, TextError, UsageError
from viz_core.progress import Progress
from viz_core.subject import Subject
from viz_core.training import corpus, downloads


def device(name: str) -> torch.device:
    """The device called `name`, the best one for "auto". Raises UsageError where there is none."""
    if name == "auto":
        return devices.best()
    there = {"cpu": True, "cuda": torch.cuda.is_available()}
    if not there.get(name, torch.backends.mps.is_available()):
        raise UsageError(
            f"Expected a device that this machine has; got --device {name}. "
            "Leave it out to take the best one."
        )
    return torch.device(name)


def opened(options: argparse.Namespace) -> tuple[Checkpoint, Subject, torch.device, Tokenizer]:
    """Checkpoint, model, device and tokenizer, once `options.length` is known to be possible."""
    place = device(options.device)
    if options.text == texts.PASTED:
        raise UsageError("Expected your own text as --text-file PATH; got --text pasted.")
    checkpoint = catalogue.find(options.checkpoint)
    tell_caveats([checkpoint])
    model = checkpoint.load(place)
    traces.check_length(model, options.length)
    return checkpoint, model, place, checkpoint.tokenizer()


@contextmanager
def watched(what: str) -> Iterator[Progress]:
    """A bar on standard error, in a terminal, for work that reports its share: done, time left."""
    form = "{l_bar}{bar}| {elapsed} done, {remaining} left"
    with tqdm(total=100, desc=what, disable=None, bar_format=form) as bar:
        yield lambda done: bar.update(100 * done - bar.n)
        bar.update(100 - bar.n)  # not where it was stopped


def checkpoints(names: Sequence[str]) -> list[Checkpoint]:
    """The checkpoints called `names`; all shipped ones for none. AtlasError where none is."""
    found = [catalogue.find(name) for name in names] or list(catalogue.shipped().values())
    if not found:
        raise AtlasError("Expected checkpoints; there are none. Run `make checkpoints` first.")
    tell_caveats(found)
    return found


def chosen(name: str, number: int | None, count: int) -> range:
    """The layers or heads (from 0) that `number` (from 1) stands for; all of them for None."""
    if number is None:
        return range(count)
    if not 1 <= number <= count:
        raise UsageError(f"Expected --{name} from 1 to {count}; got {number}.")
    return range(number - 1, number)


def passage(options: argparse.Namespace, pieces: Tokenizer, repeat: bool = False) -> texts.Passage:
    """The one text that `options` name, of `options.length` tokens where it has them. TextError."""
    own = options.text_file
    return texts.tokens(
        "pasted" if own else options.text,
        options.length,
        pieces,
        pasted=read(own) if own else "",
        repeat=repeat,
    )


def read(path: Path) -> str:
    """The UTF-8 text in `path`. Raises TextError where it is missing, empty or no text."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise TextError(f"Expected a text file at {path}; {error.strerror}.") from None
    except UnicodeDecodeError as error:
        raise TextError(
            f"Expected UTF-8 text in {path}; byte {error.start:,} is none. Save it as UTF-8."
        ) from None
    if "\0" in text:
        raise TextError(f"Expected a text file at {path}; it holds binary data.")
    if not text.strip():
        raise TextError(f"Expected some text in {path}; it is empty.")
    return text


def fetch_corpus(folder: Path) -> Path:
    """Fetches what isn't there yet, builds, with progress: corpus.jsonl. Raises CorpusError."""

    def progress(line: str) -> None:
        print(line, file=sys.stderr, flush=True)

    packages = downloads.fetch(folder, progress)
    progress("building corpus.jsonl and heldout.jsonl")
    corpus.build(packages, folder / "corpus.jsonl")
    return folder / "corpus.jsonl"


def fetch_held_out() -> None:
    """Brings the held-out documents if they aren't there. Raises CorpusError."""
    if not (corpus.corpus_folder() / "heldout.jsonl").is_file():
        fetch_corpus(corpus.corpus_folder())


def tell(passages: Sequence[texts.Passage]) -> None:
    """What the passages fall short of, on standard error."""
    for note in dict.fromkeys(p.note for p in passages if p.note):
        print(f"note: {note}", file=sys.stderr)


def tell_caveats(found: Sequence[Checkpoint]) -> None:
    """What stands beside every result of checkpoints, on standard error."""
    for checkpoint in found:
        if checkpoint.caveat:
            print(f"note: {checkpoint.caveat}", file=sys.stderr)


def about(
    checkpoint: Checkpoint,
    options: argparse.Namespace,
    passages: Sequence[texts.Passage],
    place: torch.device,
    seconds: float,
) -> dict[str, Any]:
    """What every result says of itself; `seconds` from the first pass on, without loading."""
    notes = dict.fromkeys(p.note for p in passages if p.note)
    notes |= {checkpoint.caveat: None} if checkpoint.caveat else {}
    return {
        "checkpoint": checkpoint.id,
        "checkpoint_sha256": checkpoint.sha256,
        "encoding": checkpoint.config.encoding,
        "trained_length": checkpoint.config.length,
        "text": str(options.text_file or options.text),
        "text_sha256": [p.sha256 for p in passages],
        "tokens": len(passages[0].ids),
        "note": " ".join(notes) or None,
        "device": place.type,
        "seconds": round(seconds, 4),
        "peak_memory_mb": round(devices.peak_bytes(place) / 1e6, 1),
    }


def check_out(path: Path | None) -> None:
    """Raises UsageError, before any work, where a file can't be written to `path`."""
    if path is not None and (path.is_dir() or not path.parent.is_dir()):
        raise UsageError(f"Expected --out to name a file in a folder that exists; got {path}.")


def command_line(argv: Sequence[str]) -> str:
    """The command that a table of results is made with, without where and how it is shown.

    `argv` as in `sys.argv[1:]`; --json and --out with its value are left out, shortened ones too.
    """
    kept, words = [], iter(argv)
    for word in words:
        name, equals, _ = word.partition("=")
        if len(name) > 2 and "--out".startswith(name):
            if not equals:
                next(words, None)
        elif len(name) <= 2 or not "--json".startswith(name):
            kept.append(word)
    return " ".join(["python -m viz_core", shlex.join(kept)])


@contextmanager
def written(path: Path) -> Iterator[IO[bytes]]:
    """A file that appears at `path` whole or not at all. Raises AtlasError if the disk refuses."""
    partial = path.with_name(f"{path.name}.partial")
    try:
        try:
            with partial.open("wb") as file:
                yield file
            partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)
    except OSError as error:
        raise AtlasError(f"Could not write {path} ({error.strerror or error}).") from None


def listed(values: Iterable[float]) -> list[float]:
    """Plain numbers of 7 significant digits."""
    return [float(f"{x:.7g}") for x in values]


def print_json(document: object) -> None:
    """One JSON document and nothing else; ValueError for NaN and infinity, which JSON hasn't."""
    print(json.dumps(document, allow_nan=False))


def print_table(rows: Sequence[Sequence[str]], left: int = 0) -> None:
    """Columns in line, the first `left` of them to the left and numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (
            cell.ljust(w) if i < left else cell.rjust(w)
            for i, (cell, w) in enumerate(zip(row, widths, strict=True))
        )
        print("  ".join(cells).rstrip())
