"""Uploads on disk: each its owner's, within quotas, whole or not there, whatever happens."""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import random
import signal
import stat
import time
from collections.abc import Iterator
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from tests.readers.intake.said import LIMITS, refused
from viz_core.errors import AtlasError
from viz_core.readers.intake.uploads import Uploads

MB = 1 << 20
DEATHS = 5  # at least, in each step of a writer that is killed
SMALL = replace(
    LIMITS, largest_file=4 * MB, largest_upload=5 * MB, quota=8 * MB, total_quota=12 * MB
)


@pytest.fixture
def uploads(tmp_path: Path) -> Uploads:
    return Uploads(tmp_path / "uploads", SMALL)


def upload(uploads: Uploads, owner: str, *contents: bytes) -> str:
    with uploads.begin(owner) as incoming:
        for n, content in enumerate(contents):
            incoming.write(f"{n}.pt", [content[:10], content[10:]])
        return incoming.finish().id


def everything(uploads: Uploads) -> list[Path]:
    return [path for path in uploads.root.rglob("*") if path.is_file()]


def test_an_upload_comes_back_to_its_owner(uploads: Uploads) -> None:
    id = upload(uploads, "ann", b"a" * 30, b"b")
    (found,) = uploads.list("ann")
    assert found == uploads.open("ann", id)
    assert (found.id, found.owner, found.files, found.bytes) == (id, "ann", ("0.pt", "1.pt"), 31)
    assert [path.read_bytes() for path in found.paths] == [b"a" * 30, b"b"]
    assert abs(found.created - time.time()) < 60
    sums = [(hashlib.sha256(p.read_bytes()).hexdigest(), p.name) for p in found.paths]
    listed = "".join(f"{digest}  {name}\n" for digest, name in sums)
    assert id == hashlib.sha256(listed.encode()).hexdigest()


def test_no_one_else_sees_it(uploads: Uploads) -> None:
    id = upload(uploads, "ann", b"a")
    assert uploads.list("bob") == ()
    uploads.remove("bob", id)
    for owner in ("bob", "", "ann/", "../people/ann", "a" * 10_000):
        assert "none with the id" in refused(lambda owner=owner: uploads.open(owner, id))
    assert uploads.open("ann", id)
    place = str(uploads.open("ann", id).folder)
    assert "ann" not in place.replace(str(uploads.root), "")  # a session's id is a secret


@pytest.mark.parametrize("id", ["", "..", "../..", "a" * 64 + "/", "A" * 64, "*", "a\x00", "g"])
def test_what_is_no_id(uploads: Uploads, id: str) -> None:
    known = upload(uploads, "ann", b"a")
    refused(lambda: uploads.open("ann", id))
    refused(lambda: uploads.publish(id))
    uploads.remove("ann", id)
    uploads.withdraw(id)
    assert uploads.open("ann", known)


def test_files_and_folders_are_their_owners_alone(uploads: Uploads) -> None:
    old = os.umask(0)
    try:
        upload(uploads, "ann", b"a")
    finally:
        os.umask(old)
    for path in (uploads.root / "people").rglob("*"):
        expected = 0o700 if path.is_dir() else 0o600
        assert stat.S_IMODE(path.stat().st_mode) == expected, path
    assert stat.S_IMODE((uploads.root / "people").stat().st_mode) == 0o700


def test_the_same_again_is_one_and_begins_anew(uploads: Uploads) -> None:
    id = upload(uploads, "ann", b"a")
    files = uploads.open("ann", id).folder / "files"
    os.utime(files, (1.0, 1.0))
    assert upload(uploads, "ann", b"a") == id
    assert len(uploads.list("ann")) == 1 and uploads.open("ann", id).created > 1.0
    assert upload(uploads, "bob", b"a") == id
    uploads.remove("bob", id)
    assert uploads.open("ann", id) and len(everything(uploads)) == 1


def test_names_that_no_checkpoint_has(uploads: Uploads) -> None:
    with uploads.begin("ann") as incoming:
        for name in ("../a.pt", "/a.pt", "a/b.pt", "evil.py", ".a.pt", "a\x00.pt", "", "a.pt\n"):
            assert "got" in refused(lambda name=name: incoming.write(name, [b"x"]))
        incoming.write("a.pt", [b"x"])
        assert "twice" in refused(lambda: incoming.write("A.pt", [b"x"]))
        assert incoming.finish().files == ("a.pt",)
    with uploads.begin("ann") as incoming:
        for n in range(SMALL.files):
            incoming.write(f"{n}.pt", [])
        assert "at most 64" in refused(lambda: incoming.write("one more.pt", [b"x"]))
    with uploads.begin("ann") as incoming:
        assert "at least one" in refused(incoming.finish)


def endless() -> Iterator[bytes]:
    while True:
        yield bytes(MB // 8)


def test_a_file_an_upload_and_a_person_have_limits(uploads: Uploads) -> None:
    with uploads.begin("ann") as incoming:
        assert "4.0 MiB" in refused(lambda: incoming.write("a.pt", endless()))
        incoming.write("b.pt", [bytes(2 * MB)])
        assert "5.0 MiB in one upload" in refused(lambda: incoming.write("c.pt", [bytes(4 * MB)]))
    assert everything(uploads) == [] and uploads.list("ann") == ()
    upload(uploads, "ann", bytes(4 * MB), b"a")
    assert "for each person" in refused(lambda: upload(uploads, "ann", bytes(4 * MB), b"b"))
    upload(uploads, "bob", bytes(4 * MB))
    assert uploads.room("ann") == 4 * MB - 1 and uploads.room("cem") == 4 * MB - 1
    assert "of all people" in refused(lambda: upload(uploads, "cem", bytes(4 * MB)))
    upload(uploads, "cem", bytes(3 * MB))
    assert uploads.room("ann") == MB - 1
    assert len(everything(uploads)) == 4


def test_quotas_are_looked_at_while_bytes_come_in(tmp_path: Path) -> None:
    limits = replace(SMALL, largest_file=99 * MB, largest_upload=99 * MB)
    uploads = Uploads(tmp_path, limits)
    with uploads.begin("ann") as incoming:
        refused(lambda: incoming.write("a.pt", endless()))
    written = []

    def counted() -> Iterator[bytes]:
        for chunk in endless():
            written.append(len(chunk))
            yield chunk

    with uploads.begin("ann") as incoming:
        refused(lambda: incoming.write("a.pt", counted()))
    assert sum(written) < limits.quota + 10 * MB


def test_what_is_made_of_an_upload_counts_and_goes_with_it(uploads: Uploads) -> None:
    id = upload(uploads, "ann", b"a")
    found = uploads.open("ann", id)
    found.admitted.mkdir()
    (found.admitted / "model.safetensors").write_bytes(bytes(MB))
    assert uploads.room("ann") == 7 * MB - 1
    assert uploads.open("ann", id) == found
    uploads.remove("ann", id)
    assert everything(uploads) == [] and uploads.room("ann") == 8 * MB


def test_a_published_upload_is_everyones(uploads: Uploads) -> None:
    id = upload(uploads, "ann", b"a")
    later = upload(uploads, "bob", b"b")
    uploads.publish(id)
    uploads.publish(id)
    for owner in ("ann", "bob"):
        assert uploads.open(owner, id).owner == ""
        uploads.remove(owner, id)
    assert [u.id for u in uploads.list("bob")] == [later, id]
    assert uploads.room("ann") == 8 * MB
    uploads.expire(time.time() + 10**9)
    assert [u.id for u in uploads.list("bob")] == [id]
    uploads.withdraw(id)
    assert uploads.list("ann") == () and everything(uploads) == []
    refused(lambda: uploads.publish(id))


def test_what_is_old_expires(uploads: Uploads) -> None:
    old, new = upload(uploads, "ann", b"a"), upload(uploads, "ann", b"b")
    now = time.time()
    hours = 3_600 * SMALL.hours
    os.utime(uploads.open("ann", old).folder / "files", (now - hours - 60,) * 2)
    os.utime(uploads.open("ann", new).folder / "files", (now - hours + 60,) * 2)
    uploads.expire(now)
    assert [u.id for u in uploads.list("ann")] == [new]


def test_parts_go_when_no_one_writes_to_them(uploads: Uploads) -> None:
    left, alive = uploads.begin("ann"), uploads.begin("ann")
    left.write("a.pt", [b"x"])
    alive.write("a.pt", [b"x"])
    now = time.time()
    for path in left._folder.rglob("*"):
        os.utime(path, (now - 4_000,) * 2)
    os.utime(left._folder, (now - 4_000,) * 2)
    uploads.expire(now)
    assert not left._folder.exists()
    assert alive.finish() in uploads.list("ann")


def test_folders_of_those_who_left_go(uploads: Uploads) -> None:
    uploads.remove("ann", upload(uploads, "ann", b"a"))
    uploads.expire(time.time())
    assert len(list((uploads.root / "people").iterdir())) == 1  # someone may be beginning
    uploads.expire(time.time() + 4_000)
    assert list((uploads.root / "people").iterdir()) == []


def test_an_error_while_it_comes_in_leaves_nothing(uploads: Uploads) -> None:
    def broken() -> Iterator[bytes]:
        yield b"x"
        raise ConnectionError("gone")

    with pytest.raises(AtlasError), uploads.begin("ann") as incoming:
        incoming.write("a.pt", broken())
    with pytest.raises(ZeroDivisionError), uploads.begin("ann") as incoming:
        incoming.write("a.pt", (1 // 0 for _ in "x"))  # type: ignore[misc]
    assert everything(uploads) == []


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert "Could not keep" in refused(lambda: Uploads(tmp_path / "file", SMALL).begin("ann"))
    assert Uploads(tmp_path / "none", SMALL).list("ann") == ()
    Uploads(tmp_path / "none", SMALL).expire(time.time())


# ---- several processes, and kills


def fill(root: Path, worker: int) -> None:
    """Uploads as one person, over and over, each time something new, until nothing more fits."""
    uploads = Uploads(root, SMALL)
    for n in range(12):
        try:
            upload(uploads, "ann", bytes([worker, n]) * (MB // 2))
        except AtlasError:
            return


def test_two_processes_stay_within_one_quota(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=fill, args=(tmp_path, n)) for n in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0, 0]
    found = Uploads(tmp_path, SMALL).list("ann")
    assert 6 <= len(found) <= 8 and sum(u.bytes for u in found) <= SMALL.quota
    assert len(everything(Uploads(tmp_path, SMALL))) == len(found)


def write_for_ever(root: Path, tell: int) -> None:
    """Uploads and removes; says by a letter which of them it is about to do."""
    uploads, n = Uploads(root, LIMITS), 0
    while True:
        n += 1
        os.write(tell, b"w")
        with uploads.begin("ann") as incoming:
            for name in ("a.pt", "b.pt"):
                incoming.write(name, [b"%06d" % n] * 300)
            os.write(tell, b"f")
            id = incoming.finish().id
        if n % 3 == 0:
            os.write(tell, b"r")
            uploads.remove("ann", id)


def kill_writers(root: Path, times: int, report: Connection) -> None:
    """Kills writers, then more of them in steps that lack deaths, up to ten times as many.

    Which step a kill falls in depends on how fast the machine is, and on what else it does.
    Forked from a small process: a fork of the whole test process would take long.
    """
    random.seed(0)
    died_in = dict.fromkeys("wfr", 0)
    for n in range(10 * times):
        step = "wfr"[n % 3]
        if n >= times:
            step = min(died_in, key=died_in.__getitem__)
            if died_in[step] >= DEATHS:
                break
        hear, tell = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                write_for_ever(root, tell)
            finally:
                os._exit(1)
        os.close(tell)
        told = b""
        while not told.endswith(step.encode()):
            told += (heard := os.read(hear, 1))
            assert heard, "the writer ended by itself"
        time.sleep(random.uniform(0, 0.0005))
        os.kill(child, signal.SIGKILL)
        assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL
        while heard := os.read(hear, 4096):
            told += heard
        os.close(hear)
        died_in[told[-1:].decode()] += 1
    report.send(died_in)


def test_a_kill_at_any_moment_leaves_whole_uploads(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    killer = context.Process(target=kill_writers, args=(tmp_path, 90, theirs))
    killer.start()
    theirs.close()
    died_in = ours.recv()
    killer.join()
    assert min(died_in.values()) >= DEATHS, f"{sum(died_in.values())} deaths: {died_in}"
    uploads = Uploads(tmp_path, LIMITS)
    found = uploads.list("ann")
    assert found
    for each in found:
        assert each.files == ("a.pt", "b.pt") and each.bytes == 2 * 6 * 300
        first, second = (path.read_bytes() for path in each.paths)
        assert first == second == first[:6] * 300
    (person,) = (tmp_path / "people").iterdir()
    parts = [path for path in person.iterdir() if "-" in path.name]
    assert parts  # which a kill has left, and no one sees
    for path in parts:
        for inside in (path, *path.rglob("*")):
            os.utime(inside, (time.time() - 4_000,) * 2)
    uploads.expire(time.time())
    assert uploads.list("ann") == found
    assert sorted(path.name for path in person.iterdir()) == sorted(each.id for each in found)
