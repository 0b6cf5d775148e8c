"""What runs in the child process: the tensors of one pickle go into a safetensors file.

A pickle is a program. PyTorch runs it with `weights_only`, which knows a few dozen functions and no
others; errors have been found in that too, so it happens in a process that lives for one file, with
little memory and time, and of which its parent believes nothing but the file it leaves, once that
is checked. What is wrong it says in one word and a name: the parent has the sentences (`reasons`).
"""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

REQUEST, REPLY, MADE = "request.json", "reply.json", "model.safetensors"
WRAPPERS = ("model", "state_dict", "model_state_dict", "module")
# The types that `headers` takes, by their names in safetensors.
_DTYPES = {
    torch.float64: "F64",
    torch.float32: "F32",
    torch.float16: "F16",
    torch.bfloat16: "BF16",
    torch.int64: "I64",
    torch.int32: "I32",
    torch.int16: "I16",
    torch.int8: "I8",
    torch.uint8: "U8",
    torch.bool: "BOOL",
}
_PLAIN = 1_000_000  # values kept beside the weights, and characters in them
_LEFT_OUT = 20  # names of what is not kept that are told
_DEEP = 16  # lists and objects in each other


class Refused(Exception):
    """`reason` is one of those in `reasons`; `name` says where."""

    def __init__(self, reason: str, name: object = "") -> None:
        super().__init__(reason, name)
        self.reason, self.name = reason, str(name)[:500]


def convert(source: Path, made: Path, request: Mapping[str, int]) -> None:
    """Writes the tensors in the pickle `source` to the safetensors file `made`.

    `request`: "zipped", and at most "tensors" and "bytes". Beside the tensors, as texts in the
    file's metadata: "config", JSON of the plain values that stood next to them, and "left_out", the
    names of the rest. Raises Refused, and whatever PyTorch does.
    """
    found, storages = _load(source, bool(request["zipped"]))
    weights, rest = _parted(found)
    if not 0 < len(weights) <= request["tensors"]:
        raise Refused("none" if not weights else "many", len(weights))
    _check(weights, storages, source.stat().st_size, request["bytes"])
    beside, left_out = _plain_values(rest)
    words = {"config": json.dumps(beside), "left_out": json.dumps(left_out), "format": "pt"}
    _write(weights, words, made)


def _load(source: Path, zipped: bool) -> tuple[Any, dict[int, tuple[Any, int]]]:
    """(what it holds; each storage that was read from the file and its bytes, by its address)."""
    storages: dict[int, tuple[Any, int]] = {}

    def here(storage: Any, location: str) -> Any:
        storages[storage._cdata] = (storage, storage.nbytes())
        return storage

    torch.serialization.clear_safe_globals()  # none but PyTorch's own
    try:
        # Mapped: what isn't a weight (an optimiser's state) is then never read.
        found = torch.load(source, map_location=here, weights_only=True, mmap=zipped)
    except Exception as error:
        named = re.search(r"GLOBAL (\S+) was not|GLOBAL (\S+) whose module", str(error))
        if named:
            raise Refused("global", named[1] or named[2]) from None
        raise
    return found, storages


def _parted(found: Any) -> tuple[dict[str, Tensor], dict[Any, Any]]:
    """(tensors by name; all else in the same dictionary, or around it)."""
    if not isinstance(found, dict):
        raise Refused("kind", type(found).__name__)
    rest: dict[Any, Any] = {}
    for name in WRAPPERS:
        inner = dict.get(found, name)
        if isinstance(inner, dict) and any(isinstance(v, Tensor) for v in dict.values(inner)):
            rest = {k: v for k, v in dict.items(found) if k != name}
            found = inner
            break
    # dict.items, not found.items: a pickle may put attributes on an object, under any name.
    weights = {k: _bare(v) for k, v in dict.items(found) if isinstance(v, Tensor)}
    for name in weights:
        if type(name) is not str or not name or len(name) > 500 or not name.isprintable():
            raise Refused("name", name)
        if name == "__metadata__":  # safetensors' own, of what isn't a tensor
            raise Refused("name", name)
    return weights, rest | {k: v for k, v in dict.items(found) if not isinstance(v, Tensor)}


def _bare(tensor: Tensor) -> Tensor:
    """The same numbers, as a tensor without the attributes that the file may have put on it."""
    if type(tensor) not in (Tensor, torch.nn.Parameter):
        raise Refused("kind", type(tensor).__name__)
    return Tensor.detach(tensor)


def _check(
    weights: dict[str, Tensor], storages: dict[int, tuple[Any, int]], size: int, most: int
) -> None:
    """Raises Refused for what is no plain tensor, or claims more than there is in the file.

    A tensor is a view of a storage: with a stride of 0 it has any shape over four bytes, and
    PyTorch makes a storage larger for a view that goes beyond it.
    """
    views: dict[tuple[Any, ...], int] = {}
    written = 0
    for name, tensor in weights.items():
        plain = tensor.layout == torch.strided and not tensor.is_quantized
        if not plain or tensor.is_nested or tensor.device.type != "cpu":
            raise Refused("layout", name)
        if tensor.dtype not in _DTYPES:
            raise Refused("dtype", f"{name} ({tensor.dtype})")
        storage, held = storages.get(tensor.untyped_storage()._cdata, (None, 0))
        if storage is None and tensor.numel() > 0:
            raise Refused("storage", name)
        taken = tensor.numel() * tensor.element_size()
        if taken > held or (storage is not None and storage.nbytes() != held):
            raise Refused("stride", name)
        place = (tensor.untyped_storage()._cdata, tensor.storage_offset(), tensor.dtype)
        views[*place, tuple(tensor.shape), tensor.stride()] = taken
        written += taken
    # One tensor under several names is a model's shared weights; views that overlap are none.
    if sum(views.values()) > size:
        raise Refused("overlap")
    if written > most:
        raise Refused("bytes")


def _plain_values(rest: dict[Any, Any]) -> tuple[dict[str, Any], list[str]]:
    """(what is plain, as JSON has it; names of the rest, at most so many)."""
    beside, left_out = {}, []
    budget = [_PLAIN]
    for name, value in rest.items():
        try:
            if type(name) is not str:
                raise ValueError
            beside[_plain(name, budget, 0)] = _plain(value, budget, 1)
        except ValueError:
            left_out.append(str(name)[:80])
    return beside, left_out[:_LEFT_OUT]


def _plain(value: Any, budget: list[int], depth: int) -> Any:
    """A copy of `value` that is JSON; raises ValueError if it isn't, or is too much or too deep."""
    budget[0] -= 1 + (len(value) if type(value) is str else 0)
    if budget[0] < 0 or depth > _DEEP:
        raise ValueError
    kind = type(value)
    if value is None or kind is bool or (kind is int and abs(value) < 2**63):
        return value
    if kind is float and value - value == 0:  # neither NaN nor infinite
        return value
    if kind is str and not re.search("[\ud800-\udfff]", value):
        return value
    if kind in (list, tuple):
        return [_plain(item, budget, depth + 1) for item in value]
    if kind is dict and all(type(name) is str for name in value):
        return {
            _plain(name, budget, depth): _plain(item, budget, depth + 1)
            for name, item in value.items()
        }
    raise ValueError


def _write(weights: dict[str, Tensor], words: dict[str, str], made: Path) -> None:
    """A safetensors file, a tensor at a time: the library's own writer holds all of them at once.

    As there, larger numbers stand first, so that each is aligned to its size.
    """
    end = 0
    header: dict[str, Any] = {"__metadata__": words}
    ordered = sorted(weights.items(), key=lambda item: (-item[1].element_size(), item[0]))
    for name, tensor in ordered:
        start, end = end, end + tensor.numel() * tensor.element_size()
        places = {"shape": list(tensor.shape), "data_offsets": [start, end]}
        header[name] = {"dtype": _DTYPES[tensor.dtype], **places}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with made.open("xb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for _, tensor in ordered:
            plain = tensor.resolve_neg().contiguous()
            file.write(plain.reshape(-1).view(torch.uint8).numpy().data)


def main() -> None:
    """One file, as the request in the current folder says; the reply is a reason and a name."""
    request = json.loads(Path(REQUEST).read_text())
    reason, name = "done", ""
    try:
        from viz_core.readers.intake.confinement import confine  # not on Windows

        if tuple(int(n) for n in torch.__version__.split(".")[:2]) < (2, 10):
            raise Refused("torch", torch.__version__)
        try:
            confine(request["seconds"], request["memory"], request["written"])
        except (OSError, ValueError):
            raise Refused("limits") from None
        convert(Path(request["source"]), Path(MADE), request)
    except Refused as refused:
        reason, name = refused.reason, refused.name
    except MemoryError:
        reason = "memory"
    except Exception as error:  # a broken pickle may raise anything
        reason = "memory" if "allocate memory" in str(error) else "broken"
    Path(REPLY).write_text(json.dumps([reason, name]))
