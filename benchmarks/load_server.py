"""The app as a server with a store of its own, watched from outside; and a checkpoint to upload."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from benchmarks.processes import ROOT, Row

PATIENCE = 180.0  # seconds for the server to start
COUNTERS = re.compile(r"^(atlas_(?:computations|found)_total\{[^}]*\}) (\S+)$", re.MULTILINE)


@dataclass(frozen=True)
class Server:
    """A running app."""

    url: str
    process: subprocess.Popen[bytes]

    def memory(self) -> int:
        """Bytes that it holds now."""
        return int(psutil.Process(self.process.pid).memory_info().rss)


@contextmanager
def served(store: Path) -> Iterator[Server]:
    """The app on a free port with `store` as its store, until the end of the block."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.headless", "true"]
    process = subprocess.Popen(
        [*command, "--server.port", str(port)],
        cwd=ROOT,
        env=os.environ | {"ATLAS_STORE": str(store), "ATLAS_METRICS": "1"},
        stdout=subprocess.DEVNULL,
    )
    server = Server(f"http://127.0.0.1:{port}", process)
    try:
        deadline = time.monotonic() + PATIENCE
        while not _healthy(server.url):
            if process.poll() is not None or time.monotonic() > deadline:
                raise SystemExit(
                    f"Expected the app to answer within {PATIENCE:.0f} s; it did not. "
                    "Run `make app` to see why."
                )
            time.sleep(0.2)
        yield server
    finally:
        process.terminate()
        process.wait()


def counted(server: Server) -> dict[str, int]:
    """What the server counted of itself: computations by outcome, results found by where."""
    with urllib.request.urlopen(f"{server.url}/metrics", timeout=PATIENCE) as answer:
        text = answer.read().decode()
    return {name: int(float(value)) for name, value in COUNTERS.findall(text)}


def own(number: int) -> bytes:
    """The shipped RoPE checkpoint with another header: a file of its own with known results."""
    content = (ROOT / "checkpoints/rope/model.safetensors").read_bytes()
    size = int.from_bytes(content[:8], "little")
    header: Row = json.loads(content[8 : 8 + size])
    header["__metadata__"]["owner"] = str(number)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)  # as the format aligns it
    return len(text).to_bytes(8, "little") + text + content[8 + size :]


def _healthy(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/_stcore/health", timeout=5):
            return True
    except OSError:
        return False
