"""Pickles: opened by a child process alone, and what is made of them; nothing in them ever runs."""

from __future__ import annotations

import os
import signal
import sys
import time
import zipfile
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from tests.readers.intake.child import reasons
from tests.readers.intake.files import Calls, Runs, good_pickle, view, weights, zipped
from tests.readers.intake.said import LIMITS, refused, sentence
from viz_core.readers.intake import headers, pickles, unpickling
from viz_core.readers.intake.pickles import beside, convert, left_out
from viz_core.readers.intake.reasons import SENTENCES
from viz_core.readers.intake.reasons import refused as refusal
from viz_core.readers.intake.unpickling import Refused, _plain_values

OLD = {"_use_new_zipfile_serialization": False}


def same(found: dict[str, torch.Tensor], expected: dict[str, torch.Tensor]) -> bool:
    return found.keys() == expected.keys() and all(
        found[n].dtype == expected[n].dtype and torch.equal(found[n], expected[n]) for n in found
    )


@pytest.mark.parametrize("legacy", [False, True])
def test_weights_and_what_stood_beside_them(tmp_path: Path, legacy: bool) -> None:
    path, out = good_pickle(tmp_path / "ckpt.pt", legacy), tmp_path / "out.safetensors"
    convert(path, out, LIMITS)
    assert same(load_file(out), weights())
    assert beside(out, LIMITS) == {
        "model_args": {"n_head": 4, "bias": False, "dropout": 0.0, "names": ["a", None]}
    }
    assert left_out(out, LIMITS) == ["optimizer"]
    assert sorted(os.listdir(tmp_path)) == ["ckpt.pt", "out.safetensors"]
    assert out.stat().st_mode & 0o777 == 0o600


def test_a_pickle_that_runs_code_runs_nothing(tmp_path: Path) -> None:
    path, marker = tmp_path / "evil.pt", tmp_path / "ran"
    torch.save({"a": torch.ones(3), "b": Runs(f"touch {marker}")}, path)
    message = refused(lambda: convert(path, tmp_path / "out", LIMITS))
    assert "system'" in message and "never run" in message
    assert sorted(os.listdir(tmp_path)) == ["evil.pt"]
    torch.load(path, weights_only=False)  # where anyone else would open it
    assert marker.exists()


def test_memory_that_a_file_claims_is_not_given(tmp_path: Path) -> None:
    path = tmp_path / "m.pt"
    torch.save({"a": torch.ones(3), "b": Calls(bytearray, 1 << 30)}, path)
    limits = replace(LIMITS, memory=1 << 28)
    assert "'memory'" in refused(lambda: convert(path, tmp_path / "out", limits))
    assert os.listdir(tmp_path) == ["m.pt"]


def test_a_child_that_does_not_end_is_killed_with_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, started = good_pickle(tmp_path / "m.pt"), tmp_path / "started"
    shell = tmp_path / "python"
    shell.write_text(f"#!/bin/sh\nsleep 600 &\necho $! > {started}.part\n"
                     f"mv {started}.part {started}\nsleep 600\n")  # fmt: skip
    shell.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(shell))
    assert "'seconds'" in refused(
        lambda: convert(path, tmp_path / "out", replace(LIMITS, seconds=1))
    )
    child = int(started.read_text())
    for _ in range(500):  # until init has collected it
        try:
            os.kill(child, 0)
            state = Path(f"/proc/{child}/stat")
            if state.exists() and state.read_text().rpartition(")")[2].split()[0] == "Z":
                break
        except (ProcessLookupError, FileNotFoundError):
            break
        time.sleep(0.01)
    else:
        pytest.fail("what the child had started goes on")


def test_a_child_out_of_processor_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shell = tmp_path / "python"
    shell.write_text("#!/bin/sh\nkill -XCPU $$\n")
    shell.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(shell))
    path = good_pickle(tmp_path / "m.pt")
    assert "'seconds'" in refused(lambda: convert(path, tmp_path / "out", LIMITS))


REPLIES: dict[str, str] = {
    "nothing": "true",
    "a crash": f"kill -{signal.SIGSEGV.value} $$",
    "no JSON": "echo hello > reply.json",
    "deep JSON": "printf '[%.0s' $(seq 4000) > reply.json",
    "a link": "ln -s /etc/passwd reply.json",
    "a pipe": "mkfifo reply.json",
    "a folder": "mkdir reply.json",
    "an unknown word": """echo '["<b>", "x"]' > reply.json""",
    "all done, and no file": """echo '["done", ""]' > reply.json""",
    "all done, and a link": """echo '["done", ""]' > reply.json
        ln -s /etc/passwd model.safetensors""",
    "all done, and a folder": """echo '["done", ""]' > reply.json; mkdir model.safetensors""",
    "all done, and no safetensors": """echo '["done", ""]' > reply.json
        echo evil > model.safetensors""",
    "a name that moves the cursor": r"""printf '["dtype", "\\u001b[2J%%s{0}"]' > reply.json""",
}


@pytest.mark.parametrize("name", REPLIES)
def test_nothing_a_child_says_is_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """The child stands for one that a pickle has taken over."""
    shell = tmp_path / "python"
    shell.write_text(f"#!/bin/sh\n{REPLIES[name]}\n")
    shell.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(shell))
    path = good_pickle(tmp_path / "m.pt")
    message = refused(lambda: convert(path, tmp_path / "out", LIMITS))
    assert "'m.pt'" in message and "<b>" not in message and "root" not in message
    assert sorted(os.listdir(tmp_path)) == ["m.pt", "python"]


class Odd(torch.Tensor):
    pass


def parameter_with_state(**state: Any) -> Calls:
    rebuild = torch._utils._rebuild_parameter_with_state
    return Calls(rebuild, torch.ones(2), False, OrderedDict(), state)


def aliases(count: int) -> dict[str, torch.Tensor]:
    shared = torch.ones(1 << 16)
    return {f"layer.{n}": shared for n in range(count)}


def pieces() -> dict[str, torch.Tensor]:
    return dict(zip("abc", torch.randn(9, 4).split(3), strict=True))


def overlapping() -> dict[str, Calls]:
    first = view(9_999, (9_000,), (1,))
    return {f"{n}": Calls(first.function, first.arguments[0], n, *first.arguments[2:])
            for n in range(9)}  # fmt: skip


# What is in the file, and how the child judges it.
JUDGED: dict[str, tuple[Callable[[], Any], str]] = {
    "tensors alone": (weights, "done"),
    "under state_dict": (lambda: {"state_dict": weights(), "epoch": 3}, "done"),
    "under model_state_dict": (lambda: {"model_state_dict": weights()}, "done"),
    "under module": (lambda: {"module": weights()}, "done"),
    "parameters": (lambda: {"a": torch.nn.Parameter(torch.ones(2))}, "done"),
    "a transposed view": (lambda: {"a": torch.randn(6, 4).T}, "done"),
    "pieces of one storage": (pieces, "done"),
    "shared by 12 layers": (lambda: aliases(12), "done"),
    "empty and single": (lambda: {"a": torch.zeros(0, 3), "b": torch.tensor(2.0)}, "done"),
    "no dictionary": (lambda: [torch.ones(2)], "kind"),
    "a tensor alone": (lambda: torch.ones(2), "kind"),
    "no tensors": (lambda: {"epoch": 3}, "none"),
    "two levels down": (lambda: {"model": {"inner": weights()}}, "none"),
    "too many": (lambda: {str(n): torch.ones(1) for n in range(101)}, "many"),
    "a name of bytes": (lambda: {b"a": torch.ones(2)}, "name"),
    "a name of a number": (lambda: {3: torch.ones(2)}, "name"),
    "a name that moves": (lambda: {"\x1b[2J": torch.ones(2)}, "name"),
    "half a character": (lambda: {"\ud800": torch.ones(2)}, "name"),
    "an endless name": (lambda: {"a" * 501: torch.ones(2)}, "name"),
    "a name of the format": (lambda: {"__metadata__": torch.ones(2)}, "name"),
    "sparse": (lambda: {"a": torch.eye(3).to_sparse()}, "layout"),
    "quantised": (
        lambda: {"a": torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.qint8)},
        "layout",
    ),
    "without numbers": (lambda: {"a": torch.ones(10**12, device="meta")}, "layout"),
    "complex": (lambda: {"a": torch.ones(2, dtype=torch.complex64)}, "dtype"),
    "float8": (lambda: {"a": torch.ones(2).to(torch.float8_e4m3fn)}, "dtype"),
    "a stride of 0 over terabytes": (lambda: {"a": view(4, (10**12,), (0,))}, "stride"),
    "strides of 0 that overflow": (lambda: {"a": view(4, (2**40, 2**40), (0, 0))}, "broken"),
    "a view beyond its storage": (lambda: {"a": view(4, (100,), (1,))}, "broken"),
    "a view from before it": (lambda: {"a": view(4, (2,), (1,), -8)}, "broken"),
    "overlapping views": (overlapping, "overlap"),
    "shared by 99 layers": (lambda: aliases(99), "bytes"),
    "made without the file": (lambda: {"a": Calls(torch.FloatTensor, 10_000)}, "storage"),
    "attributes in place of methods": (
        lambda: {"a": parameter_with_state(numel=torch.Size, contiguous=torch.Size, dtype=3)},
        "broken",
    ),
    "memory": (lambda: {"a": torch.ones(2), "b": Calls(bytearray, 1 << 34)}, "memory"),
    "a class of its own": (lambda: {"a": torch.ones(2).as_subclass(Odd)}, "global"),
    "a whole model": (lambda: torch.nn.Linear(2, 2), "global"),
}  # fmt: skip


IN_OLD = {"float8": "broken"}  # which older PyTorch knew nothing of


@pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor")
def test_how_the_child_judges(tmp_path: Path) -> None:
    """Each in the format of today and of before PyTorch 1.6."""
    sources, expected = [], []
    for n, (name, (make, reason)) in enumerate(JUDGED.items()):
        for form in ({}, OLD):
            sources.append(tmp_path / f"{n}{'old' if form else ''}.pt")
            torch.save(make(), sources[-1], **form)
            expected.append((name, IN_OLD.get(name, reason) if form else reason))
    out = tmp_path / "out"
    found = [reason for reason, _ in reasons(sources, out)]
    assert [(name, r) for (name, _), r in zip(expected, found, strict=True)] == expected
    assert set(found) - {"done"} == SENTENCES.keys()  # so each is met
    done = [s.name for s, reason in zip(sources, found, strict=True) if reason == "done"]
    assert sorted(p.name for p in out.iterdir()) == sorted(f"{n}.safetensors" for n in done)
    for path in out.iterdir():
        headers.read(path, LIMITS)


def test_of_what_stands_beside_only_the_plain_is_kept() -> None:
    billion: Any = ["laugh"]
    for _ in range(40):
        billion = [billion, billion]
    deep: Any = 1
    for _ in range(100):
        deep = [deep]
    rest = {
        "plain": {"a": [1, 2.5, True, None], "b": ("x", {})},
        "nan": float("nan"),
        "whole": 2**63,
        "half": "\ud800",
        "bytes": b"x",
        "keys": {1: 2},
        "deep": deep,
        3: 4,
        "billion": billion,
    }
    kept, others = _plain_values(rest)
    assert kept == {"plain": {"a": [1, 2.5, True, None], "b": ["x", {}]}}
    assert others == ["nan", "whole", "half", "bytes", "keys", "deep", "3", "billion"]


def archive(path: Path, change: Callable[[dict[str, bytes]], object], method: int = 0) -> Path:
    """The checkpoint at `path`, with the entries of its zip changed."""
    with zipfile.ZipFile(good_pickle(path)) as opened:
        entries = {name: opened.read(name) for name in opened.namelist()}
    change(entries)
    return zipped(path, entries, method)


def test_the_zip_is_one_that_pytorch_writes(tmp_path: Path) -> None:
    path, out = tmp_path / "m.pt", tmp_path / "out"

    def bad(change: Callable[[dict[str, bytes]], object], method: int = 0) -> str:
        archive(path, change, method)
        return refused(lambda: convert(path, out, LIMITS))

    assert "TorchScript" in bad(lambda entries: entries.update({"m/constants.pkl": b""}))
    assert "code" in bad(lambda entries: entries.update({"m/code/__torch__.py": b"import os"}))
    assert "lead" not in bad(lambda entries: entries.update({"../../data.pkl": b""}))
    assert "is compressed" in bad(lambda entries: None, zipfile.ZIP_DEFLATED)
    assert "beside its tensors" in bad(
        lambda entries: entries.update({"m/data.pkl": bytes(LIMITS.header + 1)})
    )


def test_sizes_before_anything_is_opened(tmp_path: Path) -> None:
    path = good_pickle(tmp_path / "m.pt")
    limits = replace(LIMITS, largest_file=1_000)
    assert "'largest_file'" in refused(lambda: convert(path, tmp_path / "out", limits))
    limits = replace(LIMITS, entries=3)
    assert "'entries'" in refused(lambda: convert(path, tmp_path / "out", limits))
    assert "No such file" in refused(lambda: convert(tmp_path / "no.pt", tmp_path / "out", LIMITS))


def test_each_reason_has_its_sentence() -> None:
    for reason in [*SENTENCES, "torch", "limits", "anything else"]:
        message = sentence(str(refusal(Path("m.pt"), reason, "{name} \x1b[2J {0}")))
        assert "\x1b" not in message
    assert Refused("name", "x" * 10**6).name == "x" * 500


def test_parent_and_child_know_the_same_types() -> None:
    assert set(unpickling._DTYPES.values()) == headers.DTYPES.keys()


def test_without_limits_on_processes_no_pickle_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pickles.sys, "platform", "win32")
    path = good_pickle(tmp_path / "m.pt")
    assert "safely" in refused(lambda: convert(path, tmp_path / "out", LIMITS))
