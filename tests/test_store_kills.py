"""The store under several processes and threads, and under kills at any moment."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections import Counter
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file

from tests.test_store import KEY, MB, Arrays, files, numbered, result, same
from viz_core.store import Entry, Store

# ---- several at once


def right(entry: Entry | None, n: int, size: int) -> bool:
    return (
        entry is not None and same(entry.arrays, result(n, size)) and entry.about == {"n": f"{n}"}
    )


def share(folder: Path, worker: int) -> None:
    """Puts and gets one key that all use, each with numbers of its own, and many that come and go.

    The limit holds about eight entries: the others' sweeps delete files at every step of this.
    """
    store = Store(folder, 8 * MB // 4)
    random = np.random.default_rng(worker)
    met = 0
    for _ in range(100):
        assert store.put(KEY, result(worker, MB // 4), {"n": f"{worker}"}), store.trouble
        entry = store.get(KEY)
        assert entry is not None  # a file that was half written would count as absent
        assert right(entry, int(entry.about["n"]), MB // 4)
        n = int(random.integers(12))
        entry = store.get(numbered(n))
        assert entry is None or right(entry, n, MB // 4)
        met += entry is not None
        assert store.put(numbered(n), result(n, MB // 4), {"n": f"{n}"}), store.trouble
    assert met > 10


def test_four_processes_never_read_what_was_not_put(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=share, args=(tmp_path, n)) for n in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0, 0, 0, 0]
    found = files(tmp_path)
    assert found and not [p for p in found if p.suffix == ".partial"]
    assert sum(p.stat().st_size for p in found) <= 2 * MB * (16 + 3) // 16


def test_threads_may_share_a_store(tmp_path: Path) -> None:
    store = Store(tmp_path, MB)
    wrong: list[int] = []

    def work(seed: int) -> None:
        random = np.random.default_rng(seed)
        for n in random.integers(20, size=50).tolist():
            entry = store.get(numbered(n))
            if not (entry is None or right(entry, n, MB // 10)):
                wrong.append(n)
            if not store.put(numbered(n), result(n, MB // 10), {"n": f"{n}"}):
                wrong.append(n)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == [] and store.trouble is None
    Store(tmp_path, MB)
    assert 0 < sum(p.stat().st_size for p in files(tmp_path)) <= MB


# ---- killed at any moment

KILLS, MOST, NUMBERS, SIZE, LIMIT = 200, 2000, 12, 4 * MB, 32 * MB
IN_EACH, CUT_OFF = 10, 20  # deaths in each step, and files cut off, before the killer leaves it
STEPS = {"open": b"w", "os.rename": b"n", "os.remove": b"d"}  # what Python reports to an audit hook


def put_for_ever(folder: Path, results: list[Arrays], tell: int, seed: int) -> None:
    """Puts one result after another; tells each step as it begins: put, write, name, delete."""

    def step(event: str, about: tuple[object, ...]) -> None:
        if event in STEPS and str(about[0]).startswith(str(folder)):
            os.write(tell, STEPS[event])

    store = Store(folder, LIMIT)
    random = np.random.default_rng(seed)
    sys.addaudithook(step)
    while True:
        n = int(random.integers(NUMBERS))
        os.write(tell, b"p")
        store.put(numbered(n), results[n], {"n": f"{n}"})


def kill_writers(folder: Path, report: Connection) -> None:
    """Kills writers, each up to 1 ms after a step of its put began; reports the steps they died in.

    On a busy machine a write is often over before its writer dies: the killer goes on until each
    step, and files cut off, have had their share. Runs in a process of its own: there is no torch
    in it, so that its forks are quick and safe.
    """
    random = np.random.default_rng(0)
    results = [result(n, SIZE) for n in range(NUMBERS)]
    expected = {f"{numbered(n).digest}.safetensors": results[n] for n in range(NUMBERS)}
    seen: dict[Path, int] = {}
    died_in: Counter[str] = Counter()
    for seed in range(MOST):
        cut_off = len([*folder.rglob("*.partial")])
        if seed >= KILLS and cut_off >= CUT_OFF and min(died_in[s] for s in "pwnd") >= IN_EACH:
            break
        hear, tell = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                put_for_ever(folder, results, tell, seed)
            finally:
                os._exit(1)
        os.close(tell)
        chosen = random.choice([b"w", b"w", b"w", b"p", b"n", b"d"])  # writing is quickly over
        told = b""
        while not told.endswith(chosen):
            told += (heard := os.read(hear, 1))
            assert heard, "the writer ended by itself"
        time.sleep(random.uniform(0, 0.001))
        os.kill(child, signal.SIGKILL)
        assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL
        while heard := os.read(hear, 4096):
            told += heard
        os.close(hear)
        died_in[told[-1:].decode()] += 1
        for path in folder.glob("*/*.safetensors"):
            written = path.stat().st_mtime_ns
            if seen.get(path) != written:  # read without the store, which would hide a bad file
                assert same(load_file(path), expected[path.name]), path
                seen[path] = written
    report.send(died_in)


def test_a_kill_at_any_moment_leaves_whole_entries(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    killer = context.Process(target=kill_writers, args=(tmp_path, theirs))
    killer.start()
    theirs.close()
    died_in = ours.recv()
    killer.join()
    assert killer.exitcode == 0
    partial = [p for p in files(tmp_path) if p.suffix == ".partial"]
    assert died_in.total() >= KILLS and all(died_in[step] >= IN_EACH for step in "pwnd"), died_in
    assert len(partial) >= CUT_OFF

    store = Store(tmp_path, LIMIT)
    assert any(store.get(numbered(n)) is not None for n in range(NUMBERS))
    for n in range(NUMBERS):
        assert store.put(numbered(n), result(n, SIZE), {"n": f"{n}"})
        assert right(store.get(numbered(n)), n, SIZE)
    assert [p for p in files(tmp_path) if p.suffix == ".partial"] == partial  # none an hour old
    for path in partial:
        os.utime(path, (time.time() - 3700,) * 2)
    os.utime(partial[0], (time.time() - 3500,) * 2)
    Store(tmp_path, LIMIT)
    assert [p for p in files(tmp_path) if p.suffix == ".partial"] == partial[:1]
