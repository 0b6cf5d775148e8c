"""The checkpoints that a session may open: those that are shipped, and its own uploads."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from pages._shared import uploads_known
from viz_core import catalogue
from viz_core.errors import AtlasError
from viz_core.words import LANGUAGES, language


def checkpoints() -> tuple[dict[str, catalogue.Checkpoint], list[str]]:
    """(what this session may open by id, a sentence for all that can't be read).

    The shipped ones come first, then uploads.
    """
    found, damaged = shipped()
    try:
        return found | uploads_known.checkpoints(), damaged
    except AtlasError as error:  # the server's limits are wrong: what is shipped needs none
        return found, [*damaged, str(error)]


def shipped() -> tuple[dict[str, catalogue.Checkpoint], list[str]]:
    """`catalogue.scan()`, read again (and hashed again) only when a file has changed."""
    paths = sorted(catalogue.SHIPPED.glob("*/model.safetensors"))
    marks = tuple((p, p.stat().st_mtime_ns, p.stat().st_size) for p in paths)
    return _scanned(marks, language())


@lru_cache(maxsize=len(LANGUAGES))
def _scanned(
    marks: tuple[tuple[Path, int, int], ...], spoken: str
) -> tuple[dict[str, catalogue.Checkpoint], list[str]]:
    return catalogue.scan()
