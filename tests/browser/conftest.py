"""A real browser and a real server for the tests of this folder."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserType

from tests.browser.visits import Visits

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
START_SECONDS = 120  # importing torch on a busy machine takes a while
STOP_SECONDS = 10
Starter = Callable[..., AbstractContextManager[str]]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Every test of this folder is a browser test."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def browser_type_launch_args(
    browser_type_launch_args: dict[str, Any], browser_type: BrowserType
) -> dict[str, Any]:
    """pytest-playwright's own, with an installed Chromium or Chrome if there is one."""
    if browser_type.name != "chromium" or "channel" in browser_type_launch_args:
        return browser_type_launch_args  # chosen on the command line
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    executable = found or browser_type.executable_path
    if not Path(executable).exists():
        reason = (
            f"Expected one of {', '.join(BROWSERS)} on the PATH, or Playwright's own browser; "
            "found none. Install one, or run `python -m playwright install chromium`."
        )
        if os.environ.get("CI"):
            pytest.fail(reason, pytrace=False)
        pytest.skip(reason)
    # Chromium refuses to run as root inside its sandbox.
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    arguments = [*browser_type_launch_args.get("args", []), *(["--no-sandbox"] if root else [])]
    return {**browser_type_launch_args, "executable_path": executable, "args": arguments}


@pytest.fixture(scope="session")
def server(browser_type_launch_args: dict[str, Any]) -> Iterator[str]:
    """The base URL of one running app, shared by all tests."""
    with running_app() as url:
        yield url


@pytest.fixture
def fresh_server(browser_type_launch_args: dict[str, Any]) -> Iterator[str]:
    """The base URL of an app that no one has visited yet, for this test alone."""
    with running_app() as url:
        yield url


@pytest.fixture
def start_app(browser_type_launch_args: dict[str, Any]) -> Starter:
    """`with start_app(*options, port=..., NAME=value) as url`: an app with a configuration and an
    environment of its own."""
    return running_app


@pytest.fixture(scope="session")
def visits(browser: Browser, server: str) -> Visits:
    """Visits to the pages, each made when it is first asked for, and made once."""
    return Visits(browser, server)


@contextmanager
def running_app(*options: str, port: int | None = None, **variables: str) -> Iterator[str]:
    """Starts the app on a free port, waits until it is healthy, and ends it afterwards."""
    port = port or free_port()
    url = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-m", "streamlit", "run", "app.py", *options]
    command += ["--server.port", str(port), "--server.headless", "true"]
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(
            command, cwd=ROOT, stdout=log, stderr=subprocess.STDOUT, env=os.environ | variables
        )
        try:
            wait_until_healthy(url, process)
        except RuntimeError as error:
            stop(process)
            log.seek(0)
            output = log.read().decode(errors="replace")[-4000:]
            pytest.fail(f"The app did not start: {error}. It said:\n{output}", pytrace=False)
        try:
            yield url
        finally:
            stop(process)


def free_port() -> int:
    """A port that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_until_healthy(url: str, process: subprocess.Popen[bytes]) -> None:
    """Returns once the server answers; RuntimeError if it ends or takes too long."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError(f"it ended with status {process.returncode}")
        try:
            with urllib.request.urlopen(f"{url}/_stcore/health", timeout=5):
                return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError(f"no answer within {START_SECONDS} s")


def stop(process: subprocess.Popen[bytes]) -> None:
    """Ends this one process, politely first."""
    process.terminate()
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
