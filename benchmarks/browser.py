"""One measurement: the bytes that a browser receives for a page of the app, in a real Chromium.

`python -m benchmarks.browser PATH` starts the app, opens PATH ("/" is the home page: two maps, two
walls, curves) in a fresh browser, and counts what comes over the wire until nothing more comes:
frames of the WebSocket, and bodies of HTTP responses as they were encoded.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

from playwright.sync_api import Error, Page, Request, WebSocket, sync_playwright

from benchmarks import processes
from benchmarks.processes import Row

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MAPS = 2
PATIENCE = 180.0  # seconds for the server to answer, and for the maps to be drawn
QUIET = 4.0  # seconds without a byte: the page has come
OWN = "/static/"  # where Streamlit keeps its own scripts, styles and fonts


def measure(path: str) -> Row:
    """Bytes of frames, of responses, of Streamlit's own files; a note without a browser."""
    with sync_playwright() as tools:
        executable = next((p for name in BROWSERS if (p := shutil.which(name))), None)
        root = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
        try:
            browser = tools.chromium.launch(executable_path=executable, args=root)
        except Error:
            return {"note": "no Chromium or Chrome here"}
        with _app() as url:
            row = _received(browser.new_page(), url, path)
        browser.close()
        return row


def _received(page: Page, url: str, path: str) -> Row:
    frames, requests = list[int](), list[Request]()

    def opened(socket: WebSocket) -> None:
        socket.on("framereceived", lambda frame: frames.append(len(frame)))

    page.on("websocket", opened)
    page.on("requestfinished", lambda request: requests.append(request))
    page.goto(url + path)
    page.locator("canvas.map").nth(MAPS - 1).wait_for(timeout=1000 * PATIENCE)
    came = -1
    while came != (came := len(frames) + len(requests)):
        page.wait_for_timeout(1000 * QUIET)
    sizes = {True: 0, False: 0}
    for request in requests:
        if request.url.startswith(url):  # and no blob: or data: of the page's own making
            asked = urlsplit(request.url).path
            sizes[asked == "/" or OWN in asked] += request.sizes()["responseBodySize"]
    return {
        "path": path,
        "frame_bytes": sum(frames),
        "frames": len(frames),
        "response_bytes": sizes[False],
        "static_bytes": sizes[True],
    }


@contextmanager
def _app() -> Iterator[str]:
    """The URL of the app, started on a free port and ended afterwards."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.headless", "true"]
    server = subprocess.Popen(
        [*command, "--server.port", str(port)], cwd=processes.ROOT, stdout=subprocess.DEVNULL
    )
    try:
        deadline = time.monotonic() + PATIENCE
        while not _healthy(url):
            if server.poll() is not None or time.monotonic() > deadline:
                raise SystemExit(
                    f"Expected the app to answer within {PATIENCE:.0f} s; it did not. "
                    "Run `make app` to see why."
                )
            time.sleep(0.2)
        yield url
    finally:
        server.terminate()
        server.wait()


def _healthy(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/_stcore/health", timeout=5):
            return True
    except OSError:
        return False


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1])))  # unconfined, for the browser reserves far more
