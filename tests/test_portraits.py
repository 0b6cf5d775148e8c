"""Portraits: each array against the core's own numbers; statistics where they are known."""

from __future__ import annotations

import math
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer

from viz_core import catalogue, decay, mechanism, packing, portraits, probes, results
from viz_core import trace as traces
from viz_core.encodings import all_encodings
from viz_core.errors import AtlasError, LengthError
from viz_core.model import ModelConfig, Transformer
from viz_core.results import Kept
from viz_core.signatures import summary
from viz_core.signatures.portrait import Portrait
from viz_core.signatures.split import split
from viz_core.store import RunKey, Store
from viz_core.types import SINK

LAYERS, HEADS, N, TEXTS = 2, 4, 150, 6


def made(encoding: str, content: float = 10.0) -> Transformer:
    torch.manual_seed(0)
    model = Transformer(ModelConfig(encoding, LAYERS, HEADS, 64, 4096, 400))
    model.eval().requires_grad_(False).embedding.weight.mul_(content)
    return model


def texts(count: int = TEXTS, length: int = N) -> list[list[int]]:
    generator = torch.Generator().manual_seed(5)
    return torch.randint(4096, (count, length), generator=generator).tolist()


@pytest.fixture(scope="module")
def pieces() -> Tokenizer:
    return Tokenizer.from_file(str(catalogue.TOKENIZER))


@pytest.fixture(scope="module")
def every(pieces: Tokenizer) -> dict[str, Portrait]:
    return {name: portraits.measure(made(name), texts(), pieces) for name in all_encodings()}


def logs(trace: traces.Trace, layer: int) -> np.ndarray:
    whole = trace.log_attention(layer, (0, trace.length), (0, trace.length), slice(None))
    return whole.double().numpy()


@pytest.mark.parametrize("encoding", all_encodings())
def test_a_portrait_holds_what_the_core_measures(encoding: str, every: dict[str, Portrait]) -> None:
    model, portrait = made(encoding), every[encoding]
    passed = [traces.trace(model, ids) for ids in texts()]
    layer = 1
    parts = [decay.part(t, layer) for t in passed]
    curve = decay.by_distance(parts, floor=0)
    np.testing.assert_allclose(portrait.curve[layer], curve.value)
    np.testing.assert_allclose(portrait.error[layer], curve.error)
    assert (portrait.pairs == TEXTS * np.arange(N - SINK, 0, -1)).all()
    np.testing.assert_allclose(portrait.slope.mean(0)[layer], decay.slope(parts), rtol=1e-9)
    open_ = decay.by_distance([decay.part(t, layer, 0) for t in passed], floor=0)
    np.testing.assert_allclose(portrait.with_sink[layer], open_.value[:, : N - SINK])
    a = np.exp(np.stack([logs(t, layer) for t in passed]))  # [text, head, query, key]
    late = [np.diagonal(a[..., SINK:, SINK:], -d, 2, 3).mean((0, 2)) for d in range(N - SINK)]
    np.testing.assert_allclose(portrait.probability[layer], np.stack(late, 1), atol=1e-7)
    sink = a[:, :, SINK:, :SINK].sum(-1).mean((0, 2))
    np.testing.assert_allclose(portrait.sink_mass[layer], sink, rtol=1e-5)
    assert portrait.sink_even == pytest.approx(np.mean(SINK / np.arange(SINK + 1, N + 1)))
    entropy = np.mean([mechanism.measure(t).entropy_share[layer] for t in passed], axis=0)
    np.testing.assert_allclose(portrait.entropy_share[layer], entropy)


def test_near_sums_are_those_of_every_near_pair() -> None:
    trace = traces.trace(made("rope"), texts(1)[0])
    y = logs(trace, 1)[:, SINK:, SINK:]
    for distances in (7, 64, N):
        found = decay.near(trace, 1, distances)
        size = min(distances, N - SINK)
        band = np.tril(np.ones((N - SINK, N - SINK))) - np.tril(np.ones((N - SINK,) * 2), -size)
        kept = np.where(band > 0, y, 0.0)
        diagonal = [np.diagonal(kept, -d, 1, 2).sum(-1) for d in range(size)]
        np.testing.assert_allclose(found.diagonal, np.stack(diagonal, 1), rtol=1e-5)
        np.testing.assert_allclose(found.row, kept.sum(-1), rtol=1e-5)
        np.testing.assert_allclose(found.squares, (kept**2).sum((1, 2)), rtol=1e-5)


def test_the_share_of_position_is_that_of_the_near_sums(every: dict[str, Portrait]) -> None:
    some = [decay.near(traces.trace(made("t5"), ids), 0, portraits.NEAR) for ids in texts()]
    sums = (np.stack([getattr(n, name) for n in some]) for name in ("diagonal", "row", "squares"))
    np.testing.assert_allclose(every["t5"].explained[0], split(*sums).explained)


@pytest.mark.parametrize("encoding", all_encodings())
def test_moving_all_positions_changes_absolute_encodings_alone(
    encoding: str, every: dict[str, Portrait]
) -> None:
    moved = every[encoding].shift
    assert moved.shape == (LAYERS, HEADS)
    if encoding in ("sinusoidal", "learned"):
        assert moved.min() > 1e-3 and moved.max() < 1
    else:
        assert moved.max() < 1e-5


def test_where_no_position_lies_that_far_the_shift_is_not_a_number() -> None:
    assert np.isnan(portraits.shift(made("learned"), texts(1, 256)[0], by=200)).all()
    assert np.isfinite(portraits.shift(made("learned"), texts(1, 256)[0], by=144)).all()


def test_the_law_of_added_positions_is_the_curve_of_position_alone(pieces: Tokenizer) -> None:
    """With tokens that hardly count, log-attention of the first layer is the Gram matrix."""
    for encoding in ("sinusoidal", "learned"):
        model = made(encoding, content=1e-4)
        if encoding == "learned":
            model.encoding.table.weight.data.normal_(std=0.5)  # type: ignore[union-attr, operator]
        portrait = portraits.measure(model, texts(2), pieces)
        law, curve = portrait.law[0], portrait.curve[0]
        gap = (curve - law) - (curve - law).mean(axis=1, keepdims=True)
        assert np.abs(gap).max() < 0.01 * np.ptp(curve, axis=1).max()
        assert np.isnan(portrait.law[1]).all()


def test_laws_nominal_slopes_edges_and_frequencies(every: dict[str, Portrait]) -> None:
    np.testing.assert_allclose(every["alibi"].nominal, -(2.0 ** -np.arange(2, 9, 2)))
    assert all((p.nominal == 0).all() for name, p in every.items() if name != "alibi")
    assert every["t5"].edges.tolist()[:18] == [*range(16), 16, 19]
    rope = every["rope"]
    assert rope.theta.shape == (8,) and rope.query_norm.shape == (LAYERS, HEADS, 8)
    q = traces.trace(made("rope"), texts()[0]).layers[0].q.double()
    norms = [torch.hypot(q[..., :8], q[..., 8:]).mean(1).numpy()]
    for ids in texts()[1:]:
        q = traces.trace(made("rope"), ids).layers[0].q.double()
        norms.append(torch.hypot(q[..., :8], q[..., 8:]).mean(1).numpy())
    np.testing.assert_allclose(rope.query_norm[0], np.mean(norms, axis=0), rtol=1e-6)
    assert not len(every["nope"].theta) and not len(every["nope"].query_norm)
    for name in ("alibi", "t5", "nope", "rope"):
        assert np.isfinite(every[name].law).all()


def test_induction_is_that_of_the_probes(every: dict[str, Portrait], pieces: Tokenizer) -> None:
    score = probes.induction(made("alibi"), pieces)
    np.testing.assert_allclose(every["alibi"].induction, score.value)
    assert every["alibi"].induction_even == score.baseline


def test_texts_that_have_no_curve_are_refused(pieces: Tokenizer) -> None:
    for wrong in ([], [[1] * 40, [1] * 50], [[1] * (4 * SINK - 1)]):
        with pytest.raises(LengthError, match="texts of one length of at least 16"):
            portraits.measure(made("nope"), wrong, pieces)


def test_progress_rises_and_can_cancel(pieces: Tokenizer) -> None:
    seen: list[float] = []
    portraits.measure(made("rope"), texts(2), pieces, progress=seen.append)
    assert seen == sorted(seen) and 0 < seen[0] < 0.5 and math.isclose(seen[-1], 1.0)

    def stop(done: float) -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        portraits.measure(made("rope"), texts(2), pieces, progress=stop)


def test_a_row_for_each_head_with_each_null(every: dict[str, Portrait]) -> None:
    rows = {name: summary.rows(p) for name, p in every.items()}
    names = list(rows["rope"][0])
    assert all(list(row) == names for some in rows.values() for row in some)
    for some in rows.values():
        places = [(r["layer"], r["head"]) for r in some]
        assert places == [(a, b) for a in (1, 2) for b in (1, 2, 3, 4)]
    for score in ("stairs", "ripple", "position"):
        assert {f"{score}_p"} <= set(names)
    for score in ("reach_90", "sink", "induction", "diagonal", "previous_token", "incomplete"):
        assert f"{score}_even" in names
    first = rows["alibi"][0]
    assert first["slope_nominal"] == -0.25
    assert first["slope"] == pytest.approx(-0.25, rel=0.05)
    assert rows["nope"][0]["slope_nominal"] is rows["nope"][0]["incomplete"] is None
    assert rows["rope"][0]["incomplete_even"] == pytest.approx(4 / 8)  # periods above 400 tokens
    assert all(isinstance(r["kind"], str) for some in rows.values() for r in some)


def test_a_text_too_short_for_stairs_or_ripples_has_none(pieces: Tokenizer) -> None:
    row = summary.rows(portraits.measure(made("rope"), texts(2, 72), pieces))[0]
    assert row["ripple"] is None or isinstance(row["ripple"], float)
    short = replace(portraits.measure(made("alibi"), texts(2, 72), pieces), edges=np.arange(16))
    assert summary.rows(short)[0]["stairs"] is None


def test_a_portrait_comes_back_from_the_store_and_from_a_folder(
    every: dict[str, Portrait], tmp_path: Path
) -> None:
    store = Store(tmp_path / "store", 1 << 26)
    key = RunKey("c", "", ("t",), N, "float32", "portrait")
    for name, portrait in every.items():
        assert store.put(key, *packing.pack_portrait(portrait))
        entry = store.get(key)
        assert entry is not None
        results.write_portrait(tmp_path, name, Kept(portrait, "made up", "c" * 64, ("a", "b")))
        kept = results.portraits(tmp_path)[name]
        assert (kept.command, kept.checkpoint, kept.texts) == ("made up", "c" * 64, ("a", "b"))
        for got in (packing.unpack_portrait(entry), kept.portrait):
            for f in fields(Portrait):
                one, other = getattr(portrait, f.name), getattr(got, f.name)
                if isinstance(one, str):
                    assert one == other
                else:
                    np.testing.assert_allclose(one, other, rtol=1e-6)


def test_a_damaged_portrait_is_said_to_be(every: dict[str, Portrait], tmp_path: Path) -> None:
    results.write_portrait(tmp_path, "nope", Kept(every["nope"], "made up", "c", ()))
    path = tmp_path / "portrait-nope.safetensors"
    for damage in (path.read_bytes()[:-9], b"", b"no portrait at all"):
        path.write_bytes(damage)
        with pytest.raises(AtlasError, match=r"portrait in portrait-nope.safetensors"):
            results.portraits(tmp_path)
