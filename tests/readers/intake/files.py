"""Good and hostile files for the tests of the intake, made here."""

from __future__ import annotations

import io
import json
import struct
import zipfile
from collections import OrderedDict
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file


def entry(dtype: Any, shape: Any, start: Any, end: Any) -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [start, end]}


def safetensors(header: Any, data: bytes = b"", length: int | None = None) -> bytes:
    """A file of that format, right or wrong. `header`: JSON, or the bytes to stand there."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def weights(seed: int = 0) -> dict[str, torch.Tensor]:
    random = torch.Generator().manual_seed(seed)
    return {
        "embedding.weight": torch.randn(12, 8, generator=random),
        "layer.weight": torch.randn(8, 8, generator=random).to(torch.bfloat16),
        "layer.bias": torch.randn(8, generator=random).half(),
        "position_ids": torch.arange(6)[None],
        "mask": torch.full((4, 4), float("-inf")).triu(1),
    }


def good_safetensors(path: Path, metadata: dict[str, str] | None = None) -> Path:
    save_file(weights(), path, metadata=metadata)
    return path


def good_pickle(path: Path, legacy: bool = False) -> Path:
    held = {
        "model": weights(),
        "model_args": {"n_head": 4, "bias": False, "dropout": 0.0, "names": ["a", None]},
        "optimizer": {"state": {0: {"step": torch.ones(3)}}},
    }
    torch.save(held, path, _use_new_zipfile_serialization=not legacy)
    return path


CONFIG = {"model_type": "llama", "hidden_size": 8, "rope_parameters": {"rope_theta": 1e4}}
TOKENIZER = {"version": "1.0", "model": {"type": "BPE", "vocab": {"a": 0, "b": 1}, "merges": []}}


def good_folder(folder: Path) -> Path:
    folder.mkdir()
    good_safetensors(folder / "model.safetensors", {"format": "pt"})
    (folder / "config.json").write_text(json.dumps(CONFIG))
    (folder / "tokenizer.json").write_text(json.dumps(TOKENIZER))
    (folder / "README.md").write_text("A model.")
    return folder


def zipped(path: Path, files: dict[str, bytes], compress: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", compress) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def gguf(
    values: dict[str, bytes] | None = None,
    tensors: list[tuple[str, list[int], int, int]] | None = None,
    data: int = 1_024,
    version: int = 3,
    counts: tuple[int, int] | None = None,
) -> bytes:
    """A GGUF file. `values`: type and content by name; `tensors`: name, shape, type, place."""
    values = {"general.name": text_value("tiny"), **(values or {})}
    tensors = [("a", [32, 4], 0, 0), ("b", [32, 4], 1, 512)] if tensors is None else tensors
    out = io.BytesIO()
    out.write(b"GGUF" + struct.pack("<I", version))
    out.write(struct.pack("<QQ", *(counts or (len(tensors), len(values)))))
    for name, content in values.items():
        out.write(text(name) + content)
    for name, shape, kind, place in tensors:
        out.write(text(name) + struct.pack(f"<I{len(shape)}Q", len(shape), *shape))
        out.write(struct.pack("<IQ", kind, place))
    out.write(bytes(-out.tell() % 32) + bytes(data))
    return out.getvalue()


def text(content: str) -> bytes:
    return struct.pack("<Q", len(content.encode())) + content.encode()


def text_value(content: str) -> bytes:
    return struct.pack("<I", 8) + text(content)


def list_value(items: list[str]) -> bytes:
    return struct.pack("<IIQ", 9, 8, len(items)) + b"".join(text(item) for item in items)


class Runs:
    """Runs `shell` where it is unpickled by Python's own unpickler."""

    def __init__(self, shell: str) -> None:
        self.shell = shell

    def __reduce__(self) -> tuple[Any, ...]:
        import os

        return os.system, (self.shell,)


class Calls:
    """Calls `function` with `arguments` where it is unpickled: a rebuilding function of PyTorch."""

    def __init__(self, function: Any, *arguments: Any) -> None:
        self.function, self.arguments = function, arguments

    def __reduce__(self) -> tuple[Any, ...]:
        return self.function, self.arguments


def view(numbers: int, shape: tuple[int, ...], stride: tuple[int, ...], offset: int = 0) -> Calls:
    """A tensor over `numbers` stored floats that claims any shape and stride."""
    held = torch.arange(float(numbers)).untyped_storage()
    storage = torch.storage.TypedStorage(wrap_storage=held, dtype=torch.float32, _internal=True)
    rebuild = torch._utils._rebuild_tensor_v2
    return Calls(rebuild, storage, offset, shape, stride, False, OrderedDict())
