"""Two addresses for machines: /health for whoever restarts or balances, /metrics for Prometheus."""

from __future__ import annotations

import asyncio
import os
import time
import uuid
from pathlib import Path

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

STARTED = time.monotonic()


async def health(request: Request) -> JSONResponse:
    """200 and {"status": "ok", ...} while pages can be served; 503 and what is wrong if not."""
    wrong = await asyncio.to_thread(_wrong)
    about = {"seconds": round(time.monotonic() - STARTED, 1), "wrong": wrong}
    status = "ok" if not wrong else "failing"
    return JSONResponse({"status": status, **about}, 503 if wrong else 200)


async def metrics(request: Request) -> Response:
    """Prometheus' text format; 404 unless the environment variable ATLAS_METRICS is 1.

    Behind a reverse proxy this address is for the inside alone: docs/deployment.md.
    """
    if os.environ.get("ATLAS_METRICS") != "1":
        return Response("Set ATLAS_METRICS=1 to have metrics here.\n", 404)
    from pages._shared import metrics as counted

    text = await asyncio.to_thread(counted.exposition)
    return Response(text, media_type="text/plain; version=0.0.4; charset=utf-8")


def _wrong() -> list[str]:
    """What keeps the server from its work, in sentences."""
    from viz_core import catalogue, journal

    found = []
    if not any(catalogue.SHIPPED.glob("*/model.safetensors")):
        found.append("There is no shipped checkpoint.")
    if not _writable(journal.store_folder()):
        found.append("The store can't be written: results are computed again for each visitor.")
    return found


def _writable(folder: Path) -> bool:
    probe = folder / f".health.{uuid.uuid4().hex}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe.write_bytes(b"")
        probe.unlink()
    except OSError:
        return False
    return True


ROUTES = (Route("/health", health), Route("/metrics", metrics))
