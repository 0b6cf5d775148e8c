"""The sweeps of this server: files in folders that its owner named, by the name of the file.

A visitor chooses among these names; no path ever comes from one.
"""

from __future__ import annotations

import os
from pathlib import Path

from viz_core.words import say

EXAMPLES = Path(__file__).parents[2] / "docs" / "sweeps"


def known() -> dict[str, Path]:
    """Every spec by name: those in `$ATLAS_SWEEPS`, then our examples that none of them hides."""
    found = {path.stem: path for path in _specs(own_folder())}
    return found | {path.stem: path for path in _specs(EXAMPLES) if path.stem not in found}


def own_folder() -> Path | None:
    """The folder in `$ATLAS_SWEEPS`; None where the owner named none."""
    chosen = os.environ.get("ATLAS_SWEEPS")
    return Path(chosen).expanduser() if chosen else None


def title(name: str) -> str:
    """What the sweep called `name` is called in a list."""
    path = known().get(name)
    if path is not None and path.parent == EXAMPLES:
        return say("{name} (an example)", name=name)
    return name


def _specs(folder: Path | None) -> list[Path]:
    if folder is None or not folder.is_dir():
        return []
    return sorted(folder.glob("*.toml"))
