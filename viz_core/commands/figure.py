"""`figure`: a ready figure for a paper, drawn from checkpoints, or again from its own file."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from contextlib import redirect_stderr
from dataclasses import asdict, fields
from io import StringIO
from pathlib import Path
from typing import Any

from viz_core import export, plates
from viz_core.arguments import parser
from viz_core.commands import _shared
from viz_core.errors import AtlasError, UsageError
from viz_core.export import embedded, gallery
from viz_core.export.provenance import Provenance
from viz_core.export.target import Target
from viz_core.plates import Plate, tray
from viz_core.progress import within
from viz_core.render import paper

TARGET = [field.name for field in fields(Target)]  # options of what a figure is drawn for
WHOLE = {  # what an option without a value stands for; else all
    "length": "the trained length",
    "table": "the shipped one",
}
INSTEAD = {  # of a sheet that a tray names, what an option given now stands for
    "venue": ("columns", "width"),
    "columns": ("width",),
    "width": ("venue", "columns"),
}
PREVIEW = 200  # dots per inch of the gallery's pictures


def run(options: argparse.Namespace) -> None:
    """Writes the figure and prints the paths; without a name, what figures there are."""
    if options.gallery is not None:
        _gallery(options.gallery)
        return
    if options.name is None and options.source is None and options.tray is None:
        _list()
        return
    if options.out is None:
        raise UsageError("Expected --out F.pdf, or another ending; got none.")
    _shared.check_out(options.out)
    kind = _kind(options)
    before = embedded.read(options.source) if options.source else None
    plate, given = _pinned(options) if options.tray else _asked(options, before)
    target = Target(**{n: given.pop(n) for n in TARGET if given[n] is not None})
    export.check(kind, target)
    with _shared.watched("figure") as progress:
        given = {name: value for name, value in given.items() if name not in TARGET}
        one = plate.export(given, target, options.out.stem, options.dpi, progress)
    about = one.provenance
    if before is not None:
        _compare(before, about, options.source)
    files = one.files(kind)
    if options.grey:
        files = {name: paper.grey(content) for name, content in files.items()}
    if kind != "zip":
        files[f"{options.out.stem}.json"] = f"{about.json(indent=2)}\n".encode()
    paths = _written(options.out.parent, files)
    if options.json:
        _shared.print_json({"files": [str(path) for path in paths], **json.loads(about.json())})
    else:
        print("\n".join(map(str, paths)))


def _list() -> None:
    for plate in plates.all_plates().values():
        print(f"{plate.id}: {plate.title}")
        for name, value in plate.options.items():
            shown = ",".join(map(str, value)) if isinstance(value, list) else value
            said = f"{shown}" if value is not None else WHOLE.get(name, "all")
            print(f"  --{name.replace('_', '-'):<14} {said}")


def _gallery(folder: Path) -> None:
    """Every plate's examples as PDF and PNG, and the page that shows them."""
    examples = [
        (plate, name, options)
        for plate in plates.all_plates().values()
        for name, options in plate.examples.items()
    ]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise AtlasError(f"Could not write to {folder} ({error.strerror}).") from None
    done = []
    with _shared.watched("gallery") as progress:
        for i, (plate, name, options) in enumerate(examples):
            here = within(progress, i / len(examples), (i + 1) / len(examples))
            one = plate.export(options, Target(), name, PREVIEW, here)
            _written(folder, {**one.files("pdf"), **one.files("png")})
            done.append(one)
    about = (
        "Figures as they leave for a paper, made from the shipped checkpoints and results at the "
        "width of a NeurIPS page; `python -m viz_core figure` says what each takes, and "
        "`make gallery` draws them all again."
    )
    _written(folder, {"README.md": gallery.page("Gallery", about, done).encode()})
    print(folder / "README.md")


def _written(folder: Path, files: Mapping[str, bytes]) -> list[Path]:
    for name, content in files.items():
        with _shared.written(folder / name) as file:
            file.write(content)
    return [folder / name for name in files]


def _kind(options: argparse.Namespace) -> str:
    kind: str = options.out.suffix.lower().removeprefix(".")
    if kind not in export.KINDS:
        known = ", ".join(f".{name}" for name in export.KINDS)
        raise UsageError(f"Expected --out to end in one of {known}; got {options.out.name}.")
    if options.grey and kind != "png":
        raise UsageError(f"Expected --out F.png with --grey; got {options.out.name}.")
    return kind


def _asked(options: argparse.Namespace, before: Provenance | None) -> tuple[Plate, dict[str, Any]]:
    """The plate, and the value of each option that figures and targets take (None: not given).

    What a file says of itself passes through the command line's own options, and only those that
    its plate takes; what is given now stands before it.
    """
    if before is None:
        return plates.get(options.name), _given(options)
    file = options.source.name
    if options.name is not None:
        raise UsageError(f"Expected a NAME or --from {file}, not both; got {options.name} too.")
    if before.figure not in plates.all_plates():
        raise AtlasError(
            f"Expected a figure among {', '.join(plates.all_plates())} in {file}; got "
            f"{before.figure[:40]!r}, so draw it again where it was made."
        )
    plate = plates.get(before.figure)
    unknown = [name for name in before.options if name not in plate.options]
    unknown += [name for name in before.target if name not in TARGET]
    if unknown:
        raise AtlasError(f"Expected options of {plate.id} in {file}; got {unknown[0][:40]!r}.")
    try:
        with redirect_stderr(StringIO()) as said:
            found = parser().parse_args(["figure", *before.words()])
    except SystemExit:
        reason = said.getvalue().strip().rpartition("error: ")[2]
        raise AtlasError(f"Expected options of {plate.id} in {file}; {reason}.") from None
    now = {name: value for name, value in _given(options).items() if value is not None}
    return plate, {**_given(found), **now}


def _pinned(options: argparse.Namespace) -> tuple[Plate, dict[str, Any]]:
    """The plate of trays with what the file pins; what it is drawn for may be given now instead."""
    if options.name is not None or options.source is not None:
        other = options.name or f"--from {options.source.name}"
        raise UsageError(f"Expected --tray {options.tray.name} alone; got {other} too.")
    text = _shared.read(options.tray)
    found = tray.Tray.from_json(text, local=True)
    now = {name: value for name, value in _given(options).items() if value is not None}
    kept = asdict(found.target)
    for name, others in INSTEAD.items():
        kept |= dict.fromkeys(others) if name in now else {}
    pins = {"pins": [pin.word() for pin in found.pins]}
    return tray.PLATE, {**kept, **pins, **now}


def _given(options: argparse.Namespace) -> dict[str, Any]:
    known = {name for plate in plates.all_plates().values() for name in plate.options}
    return {name: getattr(options, name) for name in (*sorted(known), *TARGET)}


def _compare(before: Provenance, now: Provenance, path: Path) -> None:
    """Raises AtlasError where what `path` was drawn from isn't what is here; a note where only
    the numbers differ, as they may from one processor to another."""
    if before.options != now.options:
        return  # another figure was asked for
    for source in before.sources:
        if source not in now.sources:
            alike = (s for s in now.sources if (s.what, s.name) == (source.what, source.name))
            found = next((s.sha256 for s in alike), None)
            raise AtlasError(
                f"Expected the {source.what} {source.name} that {path.name} was drawn from "
                f"(sha256 {source.sha256[:12]}); here it is {(found or 'missing')[:12]}, so bring "
                "that one, or draw a new figure without --from."
            )
    if before.data != now.data:
        print(
            f"note: The numbers differ from those of {path.name}: another processor or version "
            "rounds otherwise.",
            file=sys.stderr,
        )
