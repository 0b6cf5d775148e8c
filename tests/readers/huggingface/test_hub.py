"""Fetching from a hub, from a stand-in of its endpoint that the test runs itself."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlparse

import pytest

from tests.readers.huggingface.families import ids, save
from tests.readers.huggingface.test_attention import read
from viz_core.errors import AtlasError, UsageError
from viz_core.readers.huggingface.hub import fetch
from viz_core.readers.intake import Limits
from viz_core.trace import trace

COMMIT = "0123456789abcdef0123456789abcdef01234567"
ALLOWED = replace(Limits.read(), hub=True)


@dataclass
class Hub:
    """What the stand-in holds of "someone/tiny" (name to content), and what was asked of it."""

    files: dict[str, bytes]
    commit: str = COMMIT
    address: str = ""
    asked: list[str] = field(default_factory=list)
    tokens: list[str] = field(default_factory=list)


def answer(hub: Hub) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self.reply()

        def do_GET(self) -> None:
            self.reply()

        def reply(self) -> None:
            path = unquote(urlparse(self.path).path)
            hub.asked.append(path)
            hub.tokens += self.headers.get_all("Authorization") or []
            if path.startswith("/api/models/someone/tiny/revision/"):
                ok = path.rsplit("/", 1)[1] in ("main", COMMIT)
                self.send(self.about() if ok else None)
            elif path.startswith("/api/models/someone/tiny/tree/"):
                self.send(json.dumps(self.tree()).encode())
            elif path.startswith(f"/someone/tiny/resolve/{COMMIT}/"):
                self.send(hub.files.get(path.split(COMMIT + "/", 1)[1]), file=True)
            else:
                self.send(None)

        def tree(self) -> list[dict[str, object]]:
            return [
                {"type": "file", "path": n, "size": len(c), "oid": hashlib.sha1(c).hexdigest()}
                for n, c in hub.files.items()
            ]

        def about(self) -> bytes:
            siblings = [{"rfilename": n, "size": len(c)} for n, c in hub.files.items()]
            return json.dumps(
                {"id": "someone/tiny", "modelId": "someone/tiny", "sha": hub.commit,
                 "siblings": siblings}
            ).encode()  # fmt: skip

        def send(self, content: bytes | None, file: bool = False) -> None:
            self.send_response(200 if content is not None else 404)
            content = content or b""
            if file:
                self.send_header("ETag", f'"{hashlib.sha1(content).hexdigest()}"')
                self.send_header("X-Repo-Commit", COMMIT)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    return Handler


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Hub]:
    save(tmp_path / "tiny", "llama")
    (tmp_path / "tiny/tokenizer.json").write_text("{}")
    held = Hub({f.name: f.read_bytes() for f in (tmp_path / "tiny").iterdir()})
    held.files |= {
        "pytorch_model.bin": b"a pickle",
        "modeling_evil.py": b"raise SystemExit",
        "onnx/model.onnx": b"another program's",
        "README.md": b"words",
    }
    server = ThreadingHTTPServer(("127.0.0.1", 0), answer(held))
    held.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield held
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_model_is_fetched_at_its_commit(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Configuration, safetensors and tokenizer alone, and no one's credentials."""
    monkeypatch.setenv("HF_TOKEN", "secret")
    folder, commit = fetch("someone/tiny", "main", tmp_path / "in", ALLOWED, hub.address)
    assert commit == COMMIT and folder == tmp_path / "in" / f"someone--tiny@{COMMIT[:12]}"
    names = {f.name for f in folder.iterdir()}
    assert names == {"config.json", "model.safetensors", "tokenizer.json"}
    assert not any(f.is_symlink() for f in folder.rglob("*"))
    assert len(trace(read(folder), ids(20).tolist()).layers) == 2
    assert not hub.tokens
    assert not any("evil" in path or path.endswith(".bin") for path in hub.asked)


def test_a_server_that_may_not_asks_nothing(hub: Hub, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="doesn't fetch from the hub"):
        fetch("someone/tiny", "main", tmp_path, replace(ALLOWED, hub=False), hub.address)
    assert not hub.asked


@pytest.mark.parametrize(
    ("limit", "words"),
    [("largest_upload", "all of someone/tiny"), ("largest_file", "all of"), ("files", "at most 1")],
)
def test_sizes_are_checked_before_a_file_is_fetched(
    hub: Hub, tmp_path: Path, limit: str, words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        fetch("someone/tiny", "main", tmp_path, replace(ALLOWED, **{limit: 1}), hub.address)
    assert not any("/resolve/" in path for path in hub.asked)


@pytest.mark.parametrize("missing", ["config.json", "model.safetensors"])
def test_what_is_no_checkpoint(hub: Hub, tmp_path: Path, missing: str) -> None:
    del hub.files[missing]
    with pytest.raises(UsageError, match="none of one or the other"):
        fetch("someone/tiny", "main", tmp_path, ALLOWED, hub.address)


@pytest.mark.parametrize(
    ("repository", "revision"), [("someone/none", "main"), ("someone/tiny", "v2")]
)
def test_what_the_hub_does_not_have(
    hub: Hub, tmp_path: Path, repository: str, revision: str
) -> None:
    with pytest.raises(AtlasError, match=f"Expected {repository} at {revision}"):
        fetch(repository, revision, tmp_path, ALLOWED, hub.address)


@pytest.mark.parametrize(
    ("repository", "revision"),
    [("../etc", "main"), ("a/b/c", "main"), ("http://x", "main"), ("", "main"), ("a/b", "../x")],
)
def test_names_that_are_none(hub: Hub, tmp_path: Path, repository: str, revision: str) -> None:
    with pytest.raises(UsageError):
        fetch(repository, revision, tmp_path, ALLOWED, hub.address)
    assert not hub.asked


def test_a_hub_that_names_no_commit(hub: Hub, tmp_path: Path) -> None:
    hub.commit = "../../elsewhere"
    with pytest.raises(AtlasError, match="names no commit"):
        fetch("someone/tiny", "main", tmp_path / "in", ALLOWED, hub.address)
    assert not (tmp_path / "in").exists()


def test_a_hub_that_does_not_answer(tmp_path: Path) -> None:
    with pytest.raises(AtlasError, match="can't be fetched"):
        fetch("someone/tiny", "main", tmp_path, ALLOWED, "http://127.0.0.1:9")
