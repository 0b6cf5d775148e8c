"""What was kept beside a test, and how it is written anew: with ATLAS_FREEZE set, diff read."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
FREEZE = "ATLAS_FREEZE"


def kept(file: str, name: str, found: Any) -> tuple[Any, Any]:
    """(`found` in JSON types, what `file` keeps under `name`)."""
    found, path = json.loads(json.dumps(found)), FOLDER / file
    every = json.loads(path.read_text("utf-8")) if path.exists() else {}
    if os.environ.get(FREEZE):
        every[name] = found
        lines = (f"{json.dumps(n)}: {json.dumps(v)}" for n, v in every.items())
        path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    return found, every[name]
