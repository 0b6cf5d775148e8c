"""The benchmark's measurements: peers work on our weights, and both ways give the same numbers."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from benchmarks import gpu, limits, maps, processes, steps, windows, work
from viz_core.encodings import all_encodings
from viz_core.errors import UsageError
from viz_core.model import ModelConfig, Transformer
from viz_core.trace import trace

llama = pytest.importorskip("benchmarks.llama", exc_type=ImportError)  # it needs transformers
ROOT = Path(__file__).parents[1]
Row = dict[str, Any]


def small(encoding: str = "rope", **parameters: Any) -> Transformer:
    torch.manual_seed(0)
    config = ModelConfig(encoding, 2, 4, 32, 50, 64, parameters=parameters)
    return Transformer(config).eval().requires_grad_(False)


def test_the_shipped_checkpoint_attends_alike_in_transformers() -> None:
    model, ids = maps.shipped(256)
    ours, peer = trace(model, ids), llama.llama(model)
    theirs = maps.weights(peer, ids)
    assert len(theirs) == model.config.layers
    for layer, a in enumerate(theirs):
        exact = ours.log_attention(layer, (0, 256), (0, 256), slice(None)).exp()
        torch.testing.assert_close(a, exact, atol=1e-5, rtol=0)
    tokens = torch.tensor([ids])
    torch.testing.assert_close(peer(tokens).logits, model(tokens).logits, atol=2e-4, rtol=1e-4)


@pytest.mark.parametrize(
    ("encoding", "parameters"),
    [(e, {}) for e in all_encodings() if e != "rope"]
    + [("rope", {"layout": "interleaved"}), ("rope", {"scaling": "ntk", "factor": 2.0})],
)
def test_what_llama_does_not_know_is_refused(encoding: str, parameters: Row) -> None:
    with pytest.raises(UsageError, match="half-split and unscaled"):
        llama.llama(small(encoding, **parameters))


@pytest.mark.parametrize("count", [59, 60])
def test_both_ways_give_the_same_maps_and_curves(
    count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(maps, "PIXELS", 20)
    model, ids = small(), torch.randint(50, (count,)).tolist()
    mine = maps.ours(model, ids)
    theirs = maps.reduced(maps.weights(llama.llama(model), ids))
    assert len(mine) == len(theirs) == 2
    for one, other in zip(mine, theirs, strict=True):
        np.testing.assert_allclose(np.exp(one[0]), np.exp(other[0]), atol=1e-5)
        np.testing.assert_allclose(one[1], other[1], atol=1e-4)


@pytest.mark.parametrize("way", ["ours", "weights", "reduced"])
def test_each_way_is_measured(way: str) -> None:
    row = maps.measure(way, 128)
    assert row["seconds"] > 0 and row["runs"] == processes.RUNS
    assert row["peak_bytes"] >= row["bytes_before"] > 0


def test_a_peer_that_attends_otherwise_is_not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    convert = llama.llama

    def wrong(model: Transformer) -> Any:
        peer = convert(model)
        peer.model.layers[2].self_attn.q_proj.weight *= 1.1
        return peer

    monkeypatch.setattr(llama, "llama", wrong)
    with pytest.raises(ValueError, match="attend as ours does; off by"):
        maps.measure("weights", 128)


def test_a_peer_is_not_started_where_its_maps_exceed_the_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(processes, "room", lambda: 1000)
    maps_of_all_layers = 4 * 8 * 300**2 * 4
    row = maps.measure("weights", 300)
    assert row["free_bytes"] == 1000 and row.keys() == {"needs_bytes", "free_bytes"}
    assert maps_of_all_layers < row["needs_bytes"] < 2 * maps_of_all_layers
    assert "seconds" in maps.measure("ours", 300)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems take no notice of the limit")
def test_a_process_out_of_memory_says_so() -> None:
    code = (
        "import torch; from benchmarks import processes; processes.room = lambda: 10**9; "
        "processes.answer(lambda: {'sum': torch.ones(10**10).sum().item()})"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=True)
    assert json.loads(done.stdout) == {"exceeded_bytes": 10**9}


def test_other_failures_of_a_process_are_failures(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong() -> Row:
        raise RuntimeError("shapes don't match")

    monkeypatch.setattr(processes, "_confine", lambda: 0)
    with pytest.raises(RuntimeError, match="shapes"):
        processes.answer(wrong)
    with pytest.raises(subprocess.CalledProcessError):
        processes.measured("maps", "ours", "many")


def test_a_process_that_could_not_be_has_a_note(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(processes, "PEERS", tmp_path)
    assert processes.measured("maps", "patterns", 64, peers=True) == {"note": processes.ABSENT}
    ended = subprocess.CompletedProcess([], -9, b"")
    monkeypatch.setattr(processes.subprocess, "run", lambda *_, **__: ended)
    assert processes.measured("maps", "ours", 64) == {"note": "ended by SIGKILL"}


def test_windows_limits_and_the_layer_on_a_device_are_measured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = windows.measure(600)["rows"]
    assert [row["tokens"] for row in rows] == [600, 150, 64]
    assert all(row["seconds"] > 0 for row in rows)
    monkeypatch.setattr(limits, "SECONDS", 1e-9)
    monkeypatch.setattr(limits, "MEMORY", 1 << 16)
    assert all(rate > 0 for rate in limits.measure().values())
    row = gpu.measure(300, torch.device("cpu"))
    assert min(row[f"{name}_seconds"] for name in ("maps", "forward", "flash")) > 0
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert gpu.here(300) == {"note": "no GPU here"}


def test_ways_take_turns_and_the_fastest_counts() -> None:
    asked: list[tuple[Any, ...]] = []

    def act(module: str, way: str, length: int, peers: bool) -> Row:
        asked.append((module, way, length))
        assert peers == (way == "patterns")
        if way == "patterns":
            return {"needs_bytes": 1, "free_bytes": 0}
        return {"seconds": 2.0 - 0.1 * len(asked), "peak_bytes": len(asked), "bytes_before": 0}

    plan = steps.Plan((64, 128), (256,), 64, (), 0, (), 0, 0, ())
    rows = steps.maps(plan, act)
    assert [way for _, way, length in asked if length == 64] == list(steps.WAYS) * 2
    assert [way for _, way, length in asked if length == 128] == list(steps.WAYS)
    assert asked[-1] == ("maps", "ours", 256)
    assert [(r["way"], r["length"]) for r in rows[:4]] == [(way, 64) for way in steps.WAYS]
    assert rows[0]["peak_bytes"] == 5  # the second round was faster
    assert rows[3] == {"way": "patterns", "length": 64, "needs_bytes": 1, "free_bytes": 0}


def test_pages_end_with_the_first_that_is_too_large() -> None:
    def act(module: str, tool: str, length: int, peers: bool) -> Row:
        assert module == "pages" and peers
        if tool == "model_view" and length == 128:
            return {"exceeded_bytes": 7}
        return {"page_bytes": length * 600_000, "seconds": 1.0, "peak_bytes": 1}

    plan = steps.Plan((), (), 0, (64, 128, 256, 512), 0, (), 0, 0, ())
    found = [(r["tool"], r["length"]) for r in steps.pages(plan, act)]
    assert found == [
        *(("head_view", n) for n in (64, 128, 256)),
        *(("model_view", n) for n in (64, 128)),
        *(("attention_heads", n) for n in (64, 128, 256)),
    ]


@pytest.mark.parametrize(("seconds", "peak", "met"), [(1.4, 1, True), (1.6, 1, False), (1, 2e9, 0)])
def test_losses_are_set_beside_the_plain_model(seconds: float, peak: float, met: bool) -> None:
    def act(module: str, way: str, encoding: str, length: int) -> Row:
        assert (module, encoding, length) == ("losses", "rope", 64)
        return {"seconds": seconds if way == "ours" else 1.0, "peak_bytes": int(peak)}

    (row,) = steps.losses(steps.Plan((), (), 0, (), 0, (), 0, 64, ("rope",)), act)
    assert row["plain_seconds"] == 1.0 and row["met"] == met


def test_work_is_counted() -> None:
    model = {"layers": 2, "heads": 4, "width": 32, "mlp": 2}
    pairs = sum(1 for query in range(5) for key in range(5) if key <= query)
    one = work.window(model, 5)
    assert one == work.Work(pairs, pairs * (8 + 2), 0, 4 * pairs)
    every = work.survey(model, 5)
    assert every.exponentials == 2 * 4 * 2 * pairs
    assert every.narrow == 2 * 4 * pairs * (8 + 8 + 8 + 2)
    block = small().blocks[0]  # of the same sizes, but for its MLP of 4 widths
    matrices = sum(p.numel() for p in block.parameters() if p.ndim == 2)
    assert work.survey(model | {"mlp": 4}, 5).wide == 2 * 5 * matrices
    rates = dict.fromkeys(("exponentials", "narrow_products", "wide_products", "bytes_summed"), 2.0)
    assert one.seconds(rates) == (one.exponentials + one.narrow + one.summed) / 2
