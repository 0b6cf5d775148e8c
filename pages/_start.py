"""What the server does beside waiting for its first visitor: it makes first views ready."""

from __future__ import annotations

import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from pages._server import logs


@asynccontextmanager
async def lifespan(app: Any) -> AsyncIterator[None]:
    """Starts computing first views; who comes before they are done sees progress instead."""
    logs.start()
    threading.Thread(target=_ready, name="first views", daemon=True).start()
    yield


def _ready() -> None:
    _expire()
    _warm()


def _expire() -> None:
    """Uploads whose hours ended while no server ran go, without waiting for a visitor."""
    from pages._shared import uploads_room
    from viz_core.errors import AtlasError

    try:
        uploads_room.uploads().expire(time.time())
    except AtlasError as error:  # limits that can't be read: the page will say it too
        logs.log.warning("Uploads were not looked through: %s", error)


def _warm() -> None:
    # imported here: the server answers at once, and torch takes seconds
    from pages.attribution import page as attribution
    from pages.compare import page as compare
    from pages.decay import page as decay
    from viz_core.errors import AtlasError

    try:
        compare.prepare()
        decay.prepare()
        attribution.prepare()
    except AtlasError as error:  # nothing shipped, or damaged: the page will say it too
        logs.log.warning("Attention Atlas starts without its first view: %s", error)
