"""What the server does before its first visitor: the home page's first view is made ready."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio


@asynccontextmanager
async def lifespan(app: Any) -> AsyncIterator[None]:
    """Computes the first view while the server starts, so that opening the page waits for none."""
    await anyio.to_thread.run_sync(_warm)
    yield


def _warm() -> None:
    # imported here: app.py itself stays quick to import
    from pages import compare
    from viz_core.errors import AtlasError

    try:
        compare.prepare()
    except AtlasError as error:  # nothing shipped, or damaged: the page will say it too
        print(f"Attention Atlas starts without its first view: {error}")
