"""A sweep on a real Slurm of three nodes, one of which dies in the middle: `make slurm`."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd
import pytest
import torch

from tests.slurm.cluster import NEEDED, Cluster
from viz_core.model import ModelConfig, Transformer
from viz_core.readers import native

ROOT = Path(__file__).parents[2]
ENCODINGS = ("alibi", "rope", "t5", "nope")
WAITING = 900.0  # seconds for a whole sweep, on two busy cores

if not os.environ.get("ATLAS_SLURM"):
    pytest.skip("starts a real Slurm on this machine: run `make slurm`", allow_module_level=True)
missing = [name for name in NEEDED if shutil.which(name) is None]
if missing or os.geteuid() != 0:
    pytest.fail(f"`make slurm` needs root and {', '.join(missing) or 'the packages it has'}")
pytest.importorskip("submitit", reason="pip install -r requirements-slurm.txt")


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    made = Cluster()
    try:
        made.start()
        yield made
    finally:
        made.stop()


@pytest.fixture(scope="module")
def spec(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """4 checkpoints x 3 lengths x 3 measurements: 36 cells."""
    folder = tmp_path_factory.mktemp("sweep")
    for name in ENCODINGS:
        torch.manual_seed(0)
        model = Transformer(ModelConfig(name, 2, 2, 16, 4096, 256))
        with torch.no_grad():
            model.embedding.weight.mul_(50)
        native.save(model, folder / f"{name}.safetensors", {})
    (folder / "sweep.toml").write_text(
        """
        checkpoints = ["*.safetensors"]
        lengths = [256, 384, 512]
        texts = ["python-docs"]
        passages = 2
        measurements = ["signatures", "maps", "perplexity"]

        [perplexity]
        documents = 2

        [executor]
        kind = "slurm"
        minutes = 30
        memory_gb = 1.5
        cpus = 1
        partition = "p"
        """,
        encoding="utf-8",
    )
    return folder / "sweep.toml"


def begun(spec: Path, store: Path, cluster: Cluster, *more: str) -> subprocess.Popen[str]:
    """The command, as a person has it run."""
    return subprocess.Popen(
        [sys.executable, "-m", "viz_core", "sweep", str(spec), *more],
        cwd=ROOT,
        env={**cluster.environment, "ATLAS_STORE": str(store), "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def kept(store: Path) -> int:
    return len(list(store.glob("??/*.safetensors")))


def running_on(node: str, cluster: Cluster) -> str:
    """A task that runs on `node`, once there is one."""
    found = list[str]()

    def look() -> bool:
        found[:] = cluster.ask("squeue", "-h", "-t", "R", "-w", node, "-o", "%i").split()
        return bool(found)

    until(f"{node} works", look)
    return found[0]


def until(what: str, so: Callable[[], bool], seconds: float = WAITING) -> None:
    end = time.monotonic() + seconds
    while not so():
        assert time.monotonic() < end, f"waited {seconds:.0f} s until {what}"
        time.sleep(0.5)


def test_a_node_dies_a_task_is_queued_again_and_the_table_is_complete(
    cluster: Cluster, spec: Path, tmp_path: Path
) -> None:
    expected, found = tmp_path / "inline.parquet", tmp_path / "slurm.parquet"
    here = begun(spec, tmp_path / "a", cluster, "--executor", "inline", "--out", str(expected))
    assert "36 computed" in here.communicate(timeout=WAITING)[0]

    store = tmp_path / "b"
    sweep = begun(spec, store, cluster, "--out", str(found), "--json")
    try:
        until("results come", lambda: kept(store) >= 6)
        lost = running_on("n2", cluster)
        assert cluster.kill("n2"), "nothing ran there"
        at_death = kept(store)
        again = running_on("n1", cluster)
        cluster.ask("scontrol", "requeue", again)
        out, err = sweep.communicate(timeout=WAITING)
    finally:
        sweep.kill()
    assert sweep.returncode == 0, err
    assert at_death < 36 and kept(store) == 36
    assert cluster.ask("sinfo", "-h", "-n", "n2", "-o", "%T").strip().startswith("down")
    told = json.loads(out)
    assert told["cells"] == {"computed": 36}

    one, other = pd.read_parquet(expected), pd.read_parquet(found)
    pd.testing.assert_frame_equal(one, other)
    assert set(one.status) == {"computed"} and len(one) == 12 * (4 + 4 + 1)
    print(f"\nn2 died with {at_death} of 36 results kept, over {lost}; {again} was queued again")


def test_running_it_again_computes_nothing(cluster: Cluster, spec: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    first = begun(spec, store, cluster, "--executor", "local")
    assert "36 computed" in first.communicate(timeout=WAITING)[0]
    before = cluster.ask("squeue", "-h"), cluster.ask("scontrol", "-o", "show", "jobs")
    again = begun(spec, store, cluster, "--json")
    out, err = again.communicate(timeout=WAITING)
    assert again.returncode == 0, err
    assert json.loads(out)["cells"] == {"found": 36}
    assert (cluster.ask("squeue", "-h"), cluster.ask("scontrol", "-o", "show", "jobs")) == before


def test_who_stops_it_cancels_the_array(cluster: Cluster, spec: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    sweep = begun(spec, store, cluster)
    until("a result comes", lambda: kept(store) > 0)
    sweep.send_signal(signal.SIGINT)
    _, err = sweep.communicate(timeout=60)
    assert sweep.returncode == 1 and "run the same command again to go on" in err
    until("the queue is empty", lambda: not cluster.ask("squeue", "-h").strip(), 60)
    assert 0 < kept(store) < 36


def test_what_the_cluster_has_not_is_said(cluster: Cluster, spec: Path, tmp_path: Path) -> None:
    other = spec.with_name("gpus.toml")
    other.write_text(spec.read_text("utf-8") + "\ngpus = 1\n", encoding="utf-8")
    sweep = begun(other, tmp_path / "store", cluster)
    out, err = sweep.communicate(timeout=WAITING)
    assert (sweep.returncode, out) == (1, "")
    assert "Expected Slurm to take the sweep; it refused (" in err.splitlines()[-1]
    assert "generic resource" in err.splitlines()[-1]
