"""Steps that the trainer keeps on its way: the training is the same, and a sweep can take them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from tests.conftest import Cli
from viz_core.errors import AtlasError
from viz_core.model import Transformer
from viz_core.readers import native
from viz_core.training import train
from viz_core.training.recipe import Recipe

RECIPE = Recipe(
    name="tiny", layers=1, heads=2, width=16, mlp=2, vocabulary=24, length=16, passes=2,
    batch=4, rate=1e-2, warmup=3, decay=0.1, clip=1.0, seed=0, validate_every=4,
    precision="float32",
)  # fmt: skip
KEEP = (0.0, 0.3, 0.5, 1.0)
NAMES = [f"step-{n:06}.safetensors" for n in (0, 4, 7, 14)]


class Interrupted(Exception):
    pass


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(train, "VALIDATION_WINDOWS", 8)
    monkeypatch.setattr(train, "CLOSING_WINDOWS", 16)
    monkeypatch.setattr(train, "SAVE_EVERY", 3)


def data() -> train.Data:
    ids = np.random.default_rng(0).integers(24, size=(2, 16 * 4 * 7 + 17), dtype=np.uint16)
    return train.Data(ids[0], ids[1], {"corpus_sha256": "c" * 64, "tokenizer_sha256": "d" * 64})


def stopped_at(stop: int, out: Path, keep: tuple[float, ...]) -> None:
    def interrupt(step: int, steps: int, loss: float) -> None:
        if step == stop:
            raise Interrupted

    with pytest.raises(Interrupted):
        train.train("rope", RECIPE, data(), out, progress=interrupt, keep=keep)


def steps(out: Path) -> list[Path]:
    return sorted(out.glob("step-*.safetensors"))


def test_steps_are_kept_and_the_training_is_the_same(tmp_path: Path) -> None:
    plain = train.train("rope", RECIPE, data(), tmp_path / "plain")
    kept = train.train("rope", RECIPE, data(), tmp_path / "kept", keep=KEEP)
    assert plain.read_bytes() == kept.read_bytes()
    assert [p.name for p in steps(kept.parent)] == NAMES and not steps(plain.parent)
    for path, step in zip(steps(kept.parent), (0, 4, 7, 14), strict=True):
        _, facts = native.header(path)
        assert (facts["step"], facts["tokens_seen"]) == (step, 64 * step)
        assert facts["recipe_sha256"] == RECIPE.sha256 and facts["corpus_sha256"] == "c" * 64
    ends = [native.read(path)[0] for path in (steps(kept.parent)[0], steps(kept.parent)[-1])]
    last = native.read(kept)[0]
    torch.manual_seed(RECIPE.seed)
    drawn = Transformer(RECIPE.model("rope", last.config.parameters))
    for expected, found in zip((drawn, last), ends, strict=True):
        weights = found.state_dict()
        assert all(
            torch.equal(w.half().float(), weights[n]) for n, w in expected.state_dict().items()
        )


@pytest.mark.parametrize("stops", [(2,), (5, 8), (7,)])
def test_a_resumed_run_keeps_what_the_unbroken_one_does(
    stops: tuple[int, ...], tmp_path: Path
) -> None:
    whole = train.train("rope", RECIPE, data(), tmp_path / "whole", keep=KEEP)
    for stop in stops:
        stopped_at(stop, tmp_path / "broken", KEEP)
    broken = train.train("rope", RECIPE, data(), tmp_path / "broken", keep=KEEP)
    for one, other in zip(steps(whole.parent), steps(broken.parent), strict=True):
        assert one.name == other.name and one.read_bytes() == other.read_bytes()


def test_a_step_that_is_past_can_not_be_kept(tmp_path: Path) -> None:
    stopped_at(8, tmp_path, ())
    with pytest.raises(AtlasError, match=r"Expected step 4 to be kept; .* is at step 6"):
        train.train("rope", RECIPE, data(), tmp_path, keep=(0.3, 1.0))
    train.train("rope", RECIPE, data(), tmp_path, keep=(1.0,))
    assert [p.name for p in steps(tmp_path)] == NAMES[-1:]


def test_steps_of_two_trainings_do_not_mix(tmp_path: Path) -> None:
    train.train("rope", RECIPE, data(), tmp_path, keep=(0.3,))
    with pytest.raises(AtlasError, match=r"no steps of another training .* step-000004"):
        train.train("rope", RECIPE, data(), tmp_path, keep=(0.5,))


def test_the_command_takes_shares(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = list[object]()

    def trained(*some: object) -> Path:
        given.extend(some)
        return tmp_path / "model.safetensors"

    monkeypatch.setattr(train, "prepare", lambda *some: data())
    monkeypatch.setattr(train, "train", trained)
    status, out, _ = cli("train", "rope", "--out", tmp_path, "--keep", "0,0.3,1")
    assert status == 0 and out == f"{tmp_path / 'model.safetensors'}\n"
    assert given[-1] == [0.0, 0.3, 1.0]
    for wrong in ("2", "-1", "a", "", "0.1;0.3"):
        status, out, err = cli("train", "rope", "--out", tmp_path, f"--keep={wrong}")
        assert (status, out) == (2, "") and "from 0 to 1, with commas" in err
