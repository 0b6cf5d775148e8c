"""What each position encoding costs beside none at all: `python -m benchmarks.costs`.

Models of the shipped size with random weights, one thread, each cell measured in fresh processes:
the forward pass of one text with its logits, and
forward and backward of one training batch of the shipped recipe. Encodings take turns, so that a
machine's drift hits all alike; the fastest round counts, and ratios are to NoPE in the same run.
An article says that RoPE takes about 15 % more memory "for its rotation matrices": the memory
ratios test that.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

# Nothing heavy is imported here: a child's peak memory may begin at its parent's.

ROOT = Path(__file__).parents[1]
LENGTHS = (512, 4096)
ROUNDS = 3  # fresh processes that time a cell, after one that takes its memory
REPEATS = 3  # runs in each
NONE = "nope"
COLUMNS = (
    "encoding",
    "length",
    "parameters",
    "position_parameters",
    "forward_seconds_per_token",
    "forward_ratio",
    "forward_megabytes",
    "forward_memory_ratio",
    "training_seconds_per_token",
    "training_ratio",
    "training_megabytes",
    "training_memory_ratio",
    "note",
)
# With this, glibc gives each large block back when it is freed. By default it keeps some for later,
# and peaks differ by a tenth from run to run; but runs are slower, so memory is taken apart from
# time. Other systems leave it unread.
EXACT = {"MALLOC_MMAP_THRESHOLD_": "65536"}
Cell = dict[str, Any]


def measure(encoding: str, task: str, length: int, batch: int = 1, repeats: int = REPEATS) -> Cell:
    """One cell in this process: parameters, position_parameters, seconds_per_token, megabytes.

    `task` is forward (no gradients) or training (forward, loss and backward) on `batch` texts of
    `length` tokens. Memory is what the first run holds at its peak above what there was; seconds
    are the fastest run's. A length past the encoding's end has a note in place of both.
    """
    import torch
    from torch.nn import functional as F

    from benchmarks.maps import subject

    model = subject(encoding)
    cell: Cell = {
        "parameters": sum(p.numel() for p in model.parameters()),
        "position_parameters": sum(p.numel() for p in model.encoding.parameters()),
        "note": "",
    }
    longest = model.encoding.longest
    if longest is not None and length > longest:
        return cell | {"note": f"undefined past {model.encoding.limit}"}
    model.train(task == "training").requires_grad_(task == "training")

    def run(texts: int, count: int) -> float:
        tokens = torch.randint(model.config.vocabulary, (texts, count + 1))
        model.zero_grad()
        began = time.perf_counter()
        if task == "training":
            logits = model(tokens[:, :-1], keep=False).logits
            F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten()).backward()
        else:
            with torch.no_grad():
                model(tokens[:, :-1], keep=False)
        return time.perf_counter() - began

    run(1, min(length, 64))  # the libraries' own buffers
    model.zero_grad()
    before, held = _level()
    seconds = [run(batch, length)]
    peak = _peak() - before
    del held
    seconds += [run(batch, length) for _ in range(repeats - 1)]
    return cell | {
        "seconds_per_token": min(seconds) / (batch * length),
        "megabytes": peak / 1e6,
    }


def _peak() -> int:
    import torch

    from viz_core import devices

    return devices.peak_bytes(torch.device("cpu"))


def _level() -> tuple[int, list[bytes]]:
    """The peak so far, once this process holds that much again, and what it holds to do so.

    Importing the libraries has a peak of its own, under which a small computation would hide.
    """
    import psutil

    held = []
    while (gap := _peak() - psutil.Process().memory_info().rss) > 1 << 18:
        held.append(b"\1" * gap)
    return _peak(), held


def measured(encoding: str, task: str, length: int, batch: int, repeats: int) -> Cell:
    """`measure` in a fresh process with one thread; one repeat is for its memory alone."""
    cell = [encoding, task, str(length), str(batch), str(repeats)]
    command = [sys.executable, "-m", "benchmarks.costs", "--cell", *cell]
    setting = os.environ | (EXACT if repeats == 1 else {})
    done = subprocess.run(command, cwd=ROOT, env=setting, stdout=subprocess.PIPE, check=True)
    found: Cell = json.loads(done.stdout)
    return found


def table(
    encodings: Sequence[str],
    lengths: Sequence[int],
    training: tuple[int, int],
    act: Callable[[str, str, int, int, int], Cell] = measured,
    rounds: int = ROUNDS,
) -> list[Cell]:
    """Rows of COLUMNS, by encoding and length; None where there is nothing.

    `training` is the length and the batch of a training step; that length is always among the
    rows, and only its rows have training cells. `encodings` holds NONE, which ratios are to.
    """
    lengths = sorted({*lengths, training[0]})
    cells = [("forward", length, 1) for length in lengths] + [("training", *training)]
    found: dict[tuple[str, str, int], list[Cell]] = {}  # the first for memory, the rest for time
    for turn in range(rounds + 1):
        for task, length, batch in cells:
            what = f"time {turn} of {rounds}" if turn else "memory"
            print(f"{what}: {task}, {length:,} tokens", file=sys.stderr, flush=True)
            for encoding in encodings:
                new = act(encoding, task, length, batch, REPEATS if turn else 1)
                found.setdefault((encoding, task, length), []).append(new)
    return [_row(encoding, length, found) for encoding in encodings for length in lengths]


def _row(encoding: str, length: int, found: dict[tuple[str, str, int], list[Cell]]) -> Cell:
    first = found[encoding, "forward", length][0]
    row: Cell = dict.fromkeys(COLUMNS)
    row |= {"encoding": encoding, "length": length}
    row |= {name: first[name] for name in ("parameters", "position_parameters", "note")}
    for task in ("forward", "training"):
        one, none = (found.get((e, task, length)) for e in (encoding, NONE))
        if one is None or none is None or first["note"]:
            continue
        seconds, least = (min(c["seconds_per_token"] for c in cells[1:]) for cells in (one, none))
        row[f"{task}_seconds_per_token"], row[f"{task}_ratio"] = seconds, seconds / least
        size, smallest = one[0]["megabytes"], none[0]["megabytes"]
        row[f"{task}_megabytes"], row[f"{task}_memory_ratio"] = size, size / smallest
    return row


def shown(rows: Sequence[Cell]) -> str:
    """The rows in columns, with seconds as microseconds per token."""
    lines = ["encoding    tokens  position    us/token  ratio      MB  ratio   training: the same"]
    for row in rows:
        line = f"{row['encoding']:10} {row['length']:7,} {row['position_parameters']:9,}"
        for task in ("forward", "training"):
            if row[f"{task}_ratio"] is not None:
                line += f"  {row[f'{task}_seconds_per_token'] * 1e6:10.2f}"
                line += f" {row[f'{task}_ratio']:6.3f} {row[f'{task}_megabytes']:7.1f}"
                line += f" {row[f'{task}_memory_ratio']:6.3f}"
        lines.append(f"{line}  {row['note']}".rstrip())
    return "\n".join(lines)


def main() -> int:
    """Prints the table (or JSON) and writes it to --out."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.costs", description=__doc__)
    parser.add_argument("--lengths", default=LENGTHS, type=_lengths, metavar="N,N", help="tokens")
    parser.add_argument("--out", type=Path, metavar="F.csv", help="write the table there")
    parser.add_argument("--json", action="store_true", help="one JSON document instead of a table")
    parser.add_argument("--cell", nargs=5, help=argparse.SUPPRESS)  # what a fresh process is for
    asked = parser.parse_args()
    if asked.cell:
        import torch

        torch.set_num_threads(1)
        encoding, task, *sizes = asked.cell
        print(json.dumps(measure(encoding, task, *map(int, sizes))))
        return 0
    files = (ROOT / "viz_core/encodings").glob("[!_]*.py")  # by name alone: nothing is imported
    names = sorted((path.stem for path in files), key=lambda name: (name != NONE, name))
    rows = table(names, asked.lengths, _step())
    print(json.dumps({"rows": rows}) if asked.json else shown(rows))
    if asked.out:
        from viz_core import results

        lengths = ",".join(map(str, asked.lengths))
        results.write(asked.out, f"python -m benchmarks.costs --lengths {lengths}", rows)
    return 0


def _step() -> tuple[int, int]:
    """Length and batch of the shipped recipe, read without torch."""
    import tomllib

    recipe = tomllib.loads((ROOT / "checkpoints/recipe.toml").read_text("utf-8"))["shipped"]
    return recipe["length"], recipe["batch"]


def _lengths(text: str) -> tuple[int, ...]:
    found = tuple(int(n) for n in text.split(","))
    if min(found) < 1:
        raise ValueError
    return found


if __name__ == "__main__":
    sys.exit(main())
