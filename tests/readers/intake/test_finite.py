"""NaN and infinity are found in each type, wherever they stand; masks are let through."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from tests.readers.intake.files import good_safetensors
from tests.readers.intake.said import LIMITS, refused
from viz_core.readers.intake.finite import _PIECE, check, finite

TYPES = [torch.float64, torch.float32, torch.float16, torch.bfloat16]
NAN, INF = float("nan"), float("inf")


def saved(folder: Path, **tensors: torch.Tensor) -> Path:
    save_file(tensors, folder / "m.safetensors")
    return folder / "m.safetensors"


def test_finite_weights_and_a_mask_pass(tmp_path: Path) -> None:
    done: list[float] = []
    check(good_safetensors(tmp_path / "m.safetensors"), LIMITS, done.append)
    assert done == sorted(done) and done[-1] == 1.0


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("value", [NAN, -NAN, INF, -INF])
@pytest.mark.parametrize("place", [0, -1])
def test_one_odd_number_is_found(
    tmp_path: Path, dtype: torch.dtype, value: float, place: int
) -> None:
    tensor = torch.ones(_PIECE // dtype.itemsize + 5, dtype=dtype)
    tensor[place] = value
    path = saved(tmp_path, before=torch.ones(3), odd=tensor)
    assert finite(path, LIMITS) == "odd"
    message = refused(lambda: check(path, LIMITS))
    assert "'odd' holds NaN or infinity" in message and "'m.safetensors'" in message


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_the_largest_and_the_smallest_numbers_are_finite(
    tmp_path: Path, dtype: torch.dtype
) -> None:
    range_ = torch.finfo(dtype)
    tensor = torch.tensor([range_.max, range_.min, range_.tiny, -0.0], dtype=dtype)
    assert finite(saved(tmp_path, a=tensor), LIMITS) is None


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_a_mask_holds_nothing_above_zero(tmp_path: Path, dtype: torch.dtype) -> None:
    mask = torch.full((5, 5), -INF, dtype=dtype).triu(1)
    bias = mask - torch.arange(5, dtype=dtype)
    assert finite(saved(tmp_path, mask=mask, bias=bias), LIMITS) is None
    for value in (1e-3, NAN, -NAN, INF):
        spoilt = mask.clone()
        spoilt[0, 0] = value
        assert finite(saved(tmp_path, mask=spoilt), LIMITS) == "mask"


def test_integers_are_finite(tmp_path: Path) -> None:
    ids = torch.tensor([-1, 2**62, 0x7FF0_0000_0000_0000])
    assert finite(saved(tmp_path, ids=ids, mask=torch.ones(3, dtype=torch.bool)), LIMITS) is None


def test_a_cancelled_check_ends(tmp_path: Path) -> None:
    class Cancelled(Exception):
        pass

    def cancel(done: float) -> None:
        raise Cancelled

    with pytest.raises(Cancelled):
        finite(good_safetensors(tmp_path / "m.safetensors"), LIMITS, cancel)
