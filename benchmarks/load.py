"""Many people at once on one server, and what each of them saw: `python -m benchmarks.load`.

A crowd without browsers changes heads, lengths and zooms for ten minutes, and some upload a
checkpoint; then one person alone opens every page that was seen, on another server with an empty
store, and sees whether it is the same. Writes reliability.json and .md into docs/ (or --out), and
prints what came out. Exit status 1 where an answer was lost or mixed up.
"""

from __future__ import annotations

import argparse
import asyncio
import datetime
import json
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks import load_report, load_server, load_wire, machine
from benchmarks.load_person import SENDS, Person, Told
from benchmarks.load_report import USUAL
from benchmarks.load_server import Server
from benchmarks.processes import ROOT, Row

EVERY = 5.0  # seconds between two looks at the server's memory


def main() -> int:
    """The whole run, or as many people and minutes as asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.load", description=__doc__)
    parser.add_argument("--people", type=int, default=USUAL["people"], metavar="P")
    parser.add_argument("--minutes", type=float, default=USUAL["minutes"], metavar="M")
    parser.add_argument("--quick", action="store_true", help="5 people, one minute; writes nothing")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="where the two files go")
    asked = parser.parse_args()
    people, minutes = (5, 1.0) if asked.quick else (asked.people, asked.minutes)
    out = asked.out or (None if asked.quick else ROOT / "docs")
    if out is not None and not out.is_dir():
        parser.error(f"expected --out to name a folder that exists; got {out}")
    results = run(people, minutes)
    if out is not None:
        text = json.dumps(results, indent=1) + "\n"
        (out / "reliability.json").write_text(text, encoding="utf-8")
        (out / "reliability.md").write_text(load_report.markdown(results), encoding="utf-8")
    print("\n".join(load_report.summary(results)))
    for sentence in [*results["lost"], *results["strange"], *results["differing"]]:
        print(sentence, file=sys.stderr)
    return 1 if results["lost"] or results["strange"] or results["differing"] else 0


def run(people: int, minutes: float) -> Row:
    """The crowd, then one person alone; all of it as one JSON document."""
    before = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0  # processes that want a core
    with tempfile.TemporaryDirectory() as store, load_server.served(Path(store)) as server:
        told, memory = asyncio.run(_crowd(server, people, minutes))
        counted = load_server.counted(server)
    pages = _together([one.pages for one in told])
    maps = _together([one.maps for one in told])
    with tempfile.TemporaryDirectory() as store, load_server.served(Path(store)) as server:
        began = time.monotonic()
        differing = asyncio.run(_alone(server, pages, maps))
        alone = time.monotonic() - began
    return {
        "date": datetime.date.today().isoformat(),
        "machine": machine.describe(),
        "versions": machine.versions(),
        "load": round(before, 1),
        "threads": os.environ.get("OMP_NUM_THREADS", ""),
        "nice": os.nice(0) if hasattr(os, "nice") else 0,
        "people": people,
        "minutes": minutes,
        "seconds": [list(row) for one in told for row in one.seconds],
        "uploads": sum(one.uploads for one in told),
        "reopened": sum(one.reopened for one in told),
        "memory_bytes": memory,
        "counted": counted,
        "pages": len(pages),
        "own_pages": len(maps),
        "alone_seconds": round(alone, 1),
        "lost": [sentence for one in told for sentence in one.lost],
        "strange": [sentence for one in told for sentence in one.strange],
        "differing": differing,
    }


async def _crowd(
    server: Server, people: int, minutes: float
) -> tuple[list[Told], list[tuple[float, int]]]:
    """What each of the crowd has to tell, times from the start on; the server's memory by time."""
    began = time.monotonic()
    until, memory = began + 60 * minutes, list[tuple[float, int]]()

    async def watch() -> None:
        while True:
            memory.append((round(time.monotonic() - began, 1), server.memory()))
            await asyncio.sleep(EVERY)

    crowd = [Person(i, load_server.own(i) if i % SENDS == 0 else None) for i in range(people)]
    watching = asyncio.create_task(watch())
    await asyncio.gather(*(person.live(server.url, until) for person in crowd))
    watching.cancel()
    for person in crowd:
        person.told.seconds = [
            (act, round(when - began, 1), round(took, 4)) for act, when, took in person.told.seconds
        ]
    return [person.told for person in crowd], memory


async def _alone(
    server: Server, pages: dict[str, set[str]], maps: dict[str, set[str]]
) -> list[str]:
    """A sentence for each page that somebody saw otherwise than one person alone sees it."""
    wrong = []
    for query in sorted(pages.keys() | maps.keys()):
        async with load_wire.visit(server.url) as visitor:
            await visitor.go(query)
            whole, numbers = visitor.seen()
        if pages.get(query, {whole}) != {whole} or maps.get(query, {numbers}) != {numbers}:
            wrong.append(f"Seen otherwise by one person alone: {query}")
    return wrong


def _together(some: Sequence[dict[str, set[str]]]) -> dict[str, set[str]]:
    """Everything that was seen at an address, by anybody."""
    found = dict[str, set[str]]()
    for one in some:
        for query, hashes in one.items():
            found.setdefault(query, set()).update(hashes)
    return found


if __name__ == "__main__":
    sys.exit(main())
