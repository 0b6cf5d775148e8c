"""A device whose memory runs out: room is made and it is tried again, or a sentence says so."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from pages._shared import allowed, device, loaded, measuring, metrics
from tests.faults.conftest import Start, opened, seen
from viz_core import survey
from viz_core.catalogue import Checkpoint
from viz_core.errors import LengthError
from viz_core.readers.intake import Limits

OUT = (
    torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB."),
    RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried 1 bytes."),
    MemoryError(),
)


def failing(times: int, error: BaseException) -> Callable[..., survey.Survey]:
    """`survey.survey`, whose first `times` calls fail."""
    left, plain = [times], survey.survey

    def run(*arguments: object, **named: object) -> survey.Survey:
        if left[0]:
            left[0] -= 1
            raise error
        return plain(*arguments, **named)  # type: ignore[arg-type]

    return run


@pytest.mark.parametrize("error", OUT, ids=("cuda", "cpu", "python"))
def test_what_is_kept_makes_room_and_the_page_comes(
    error: BaseException, start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start(tmp_path / "a")
    right = seen(opened())
    start(tmp_path / "b")
    cleared = list[str]()
    monkeypatch.setattr(device.models(), "clear", lambda: cleared.append("models"))
    monkeypatch.setattr(measuring.survey, "survey", failing(1, error))
    assert seen(opened()) == right and cleared == ["models"]


def test_where_that_is_not_enough_one_sentence_says_so_and_the_next_is_served(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start(tmp_path)
    refused = metrics.computations.labels("survey", "refused")._value
    before = refused.get()
    monkeypatch.setattr(measuring.survey, "survey", failing(2, OUT[0]))
    app = opened()
    assert not app.exception and [e.value[:23] for e in app.error] == ["Expected enough memory "]
    assert refused.get() == before + 1 and device.line.length == 0
    seen(opened())


def test_an_error_of_ours_is_not_taken_for_a_lack_of_memory() -> None:
    def wrong() -> None:
        raise RuntimeError("shapes don't match")

    with pytest.raises(RuntimeError, match="shapes"):
        allowed.fitting(wrong, lambda: pytest.fail("nothing is gained by room"))


@pytest.fixture
def limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    def write(text: str) -> None:
        (tmp_path / "limits.toml").write_text(text)
        monkeypatch.setenv("ATLAS_LIMITS", str(tmp_path / "limits.toml"))

    return write


def test_longer_than_the_server_allows_is_a_sentence_with_the_limit_and_a_way_on(
    start: Start, tmp_path: Path, limits: Callable[[str], None]
) -> None:
    start(tmp_path)
    limits("[people]\nlongest = 100")
    app = opened(length="128")
    assert "at most 100 tokens" in app.error[0].value and "got 128" in app.error[0].value
    next(b for b in app.button if b.label == "Use 100 tokens").click().run()
    assert not app.error and len(app.get("plotly_chart")) == 2


def test_one_request_takes_no_more_than_its_share_of_the_memory(
    rope: Checkpoint, limits: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = loaded.model(rope)
    monkeypatch.setattr(allowed.devices, "free_bytes", lambda _: 1000 * model.bytes_per_token)
    limits("[people]\ndevice_percent = 10")
    allowed.check_memory(model, 100)
    with pytest.raises(LengthError, match="at most 10 %") as refused:
        allowed.check_memory(model, 101)
    assert refused.value.largest == 100
    assert Limits.read().device_percent == 10
