"""Two servers on one store, and servers that are killed while they compute."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import time
from multiprocessing.connection import Connection
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from safetensors.numpy import load

from tests.test_store import Arrays, files, same

LENGTHS = (32, 48, 64, 80)
# Each takes a third of a second: all of them on request, ATLAS_FAULTS=1.
KILLS = 100 if os.environ.get("ATLAS_FAULTS") == "1" else 15
SOON = 0.1  # seconds more until some are killed; a survey of these lengths takes some hundredths
spawn = multiprocessing.get_context("spawn")


@pytest.fixture(autouse=True)
def _bare_main(monkeypatch: pytest.MonkeyPatch) -> None:
    """AppTest leaves the app as the main module, which a new process would run first."""
    monkeypatch.setitem(sys.modules, "__main__", ModuleType("__main__"))


def compute(length: int) -> Arrays:
    """What the app shows of RoPE at a length, from its store or computed."""
    from pages._shared import loaded, measuring, offered
    from viz_core import packing, texts
    from viz_core.progress import ignore

    rope = offered.shipped()[0]["rope"]
    some = texts.passages("random", length, 2, loaded.tokenizer(rope))
    return packing.pack(measuring.surveyed(rope, some, "log", ignore))[0]


def found() -> tuple[int, int]:
    """How many results this process has (computed, found in the store)."""
    from pages._shared import metrics

    done = metrics.computations.labels("survey", "done")._value.get()
    return int(done), int(metrics.found.labels("store")._value.get())


def serve(folder: Path, order: tuple[int, ...], tell: Connection) -> None:
    """One server: computes for a visitor who asks for each length in turn."""
    os.environ["ATLAS_STORE"] = str(folder)
    tell.send({length: compute(length) for length in order})
    tell.send(found())


def run(folder: Path, *orders: tuple[int, ...]) -> list[tuple[dict[int, Arrays], tuple[int, int]]]:
    """Servers at the same time, one for each of `orders`: what they showed, and `found`."""
    ends, servers = [], []
    for order in orders:
        ours, theirs = spawn.Pipe()
        servers.append(spawn.Process(target=serve, args=(folder, order, theirs)))
        servers[-1].start()
        theirs.close()
        ends.append(ours)
    told = [(end.recv(), end.recv()) for end in ends]
    for server in servers:
        server.join()
        assert server.exitcode == 0
    return told


def test_two_servers_show_the_same_and_find_what_the_other_has_computed(tmp_path: Path) -> None:
    (one, _), (other, _) = run(tmp_path, LENGTHS, LENGTHS[::-1])
    for length in LENGTHS:
        assert same(one[length], other[length])
    assert len(files(tmp_path)) == len(LENGTHS)
    ((later, (computed, from_store)),) = run(tmp_path, LENGTHS)
    assert (computed, from_store) == (0, len(LENGTHS))
    assert all(same(later[length], one[length]) for length in LENGTHS)


def wait(child: int, folder: Path, results: int) -> None:
    """Until `child` has left as many results in `folder`."""
    while len(list(folder.glob("??/*.safetensors"))) < results:
        assert os.waitpid(child, os.WNOHANG) == (0, 0)
        time.sleep(0.001)


def kill_servers(folder: Path, tell: Connection) -> None:
    """Starts and kills servers; then tells what one that isn't killed shows, and `found`.

    In a process of its own, where torch has one thread: forks of it are quick and safe.
    """
    import torch

    torch.set_num_threads(1)
    os.environ["ATLAS_STORE"] = str(folder)
    from pages._shared import loaded, offered

    loaded.model(offered.shipped()[0]["rope"])  # shared by all that follow
    random = np.random.default_rng(0)
    for turn in range(KILLS):
        order = random.permutation(LENGTHS).tolist()
        child = os.fork()
        if child == 0:
            try:
                for length in order:
                    compute(length)
                signal.pause()
            finally:
                os._exit(1)
        # what decides is how many results there are, not how quick this machine is
        wait(child, folder, results=turn % len(LENGTHS))
        if turn % 2:  # in the midst of the next one, or right after a result
            time.sleep(random.uniform(0, SOON))
        os.kill(child, signal.SIGKILL)
        assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL
        for path in folder.glob("??/*.safetensors"):
            tell.send(path.read_bytes())
            path.unlink()  # so that the next one computes it
    tell.send(None)
    tell.send({length: compute(length) for length in LENGTHS})


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_server_killed_at_any_moment_leaves_whole_results(tmp_path: Path) -> None:
    ours, theirs = spawn.Pipe()
    killer = spawn.Process(target=kill_servers, args=(tmp_path, theirs))
    killer.start()
    theirs.close()
    left = list[bytes]()
    while (entry := ours.recv()) is not None:
        left.append(entry)
    after = ours.recv()
    killer.join()
    assert killer.exitcode == 0
    right = {arrays["curve"].shape: arrays for arrays in after.values()}
    assert 0 < len(left) < KILLS * len(LENGTHS)  # some were killed before their last
    for data in left:
        arrays = load(data)  # raises for a file that isn't whole
        assert same(arrays, right[arrays["curve"].shape])
