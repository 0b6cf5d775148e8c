"""One confined process for many pickles, as tests need them: PyTorch starts once, not for each.

It takes the limits on itself that the real child does (`confinement`), and calls the function that
the real child calls (`unpickling.convert`). Where it dies of a file, the next one begins after it.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import warnings
from pathlib import Path
from typing import Any

from viz_core.readers.intake import unpickling
from viz_core.readers.intake.confinement import confine

MEMORY, WRITTEN = 1 << 30, 1 << 26


def zipped(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) == b"PK\x03\x04"


def work(sources: list[Path], made: Path, said: Path) -> None:
    """Appends to `said`, for each source, [reason, name] as the real child replies them."""
    os.chdir(made)
    warnings.simplefilter("ignore")  # PyTorch's, of odd files
    confine(seconds=60, memory=MEMORY, written=WRITTEN)
    for source in sources:
        request: dict[str, Any] = {"zipped": zipped(source), "tensors": 100, "bytes": 1 << 24}
        reason, name = "done", ""
        try:
            unpickling.convert(source, made / f"{source.name}.safetensors", request)
        except unpickling.Refused as refused:
            reason, name = refused.reason, refused.name
        except MemoryError:
            reason = "memory"
        except Exception as error:
            reason = "memory" if "allocate memory" in str(error) else "broken"
        with said.open("a") as file:
            file.write(json.dumps([reason, name]) + "\n")


def reasons(sources: list[Path], made: Path) -> list[tuple[str, str]]:
    """(reason, name) for each source; "died" where the process ended over it."""
    made.mkdir()
    said = made.with_suffix(".said")
    found: list[tuple[str, str]] = []
    context = multiprocessing.get_context("spawn")
    while len(found) < len(sources):
        said.write_text("")
        process = context.Process(target=work, args=(sources[len(found) :], made, said))
        process.start()
        process.join()
        found += [tuple(json.loads(line)) for line in said.read_text().splitlines()]
        if process.exitcode != 0:
            found.append(("died", str(process.exitcode)))
    return found
