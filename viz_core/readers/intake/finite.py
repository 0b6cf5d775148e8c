"""Whether all weights are numbers: the whole file is read once, in pieces, and nothing is kept."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from viz_core.progress import Progress, ignore
from viz_core.readers.intake import headers
from viz_core.readers.intake.headers import Tensor
from viz_core.readers.intake.limits import Limits
from viz_core.readers.intake.words import damaged, shown
from viz_core.words import say

_PIECE = 1 << 22  # bytes: a piece and what is computed of it stay within a few caches
# Of each kind of float (IEEE 754; bfloat16 is the upper half of float32): the unsigned integer of
# its size, and the bits of its exponent, which are all 1 in NaN and infinity and in nothing else.
_FLOATS: dict[str, tuple[str, int]] = {
    "F64": ("<u8", 0x7FF0_0000_0000_0000),
    "F32": ("<u4", 0x7F80_0000),
    "F16": ("<u2", 0x7C00),
    "BF16": ("<u2", 0x7F80),
}
Bits = npt.NDArray[np.unsignedinteger[Any]]


def finite(path: Path, limits: Limits, progress: Progress = ignore) -> str | None:
    """The name of the first tensor of the safetensors file `path` that isn't finite, or None.

    Negative infinity is let through in a tensor that holds nothing above 0 and no NaN: that is a
    mask, or ALiBi's bias and its mask in one, as scripts keep them beside their weights.
    `progress(done)` may raise, to cancel. Raises DamagedCheckpoint as `headers.read` does.
    """
    found = headers.tensors(path, limits)
    total = path.stat().st_size
    with path.open("rb") as file:
        for name, tensor in found.items():
            progress(tensor.start / total)
            if tensor.dtype not in _FLOATS:
                continue
            for end, bits in _pieces(file, tensor, path):
                progress(end / total)
                exponent = bits.dtype.type(_FLOATS[tensor.dtype][1])
                if ((bits & exponent) == exponent).any():
                    if not _is_mask(file, tensor, path):
                        return name
                    break
    progress(1.0)
    return None


def check(path: Path, limits: Limits, progress: Progress = ignore) -> None:
    """Raises DamagedCheckpoint where `finite` names a tensor, or the header is wrong."""
    name = finite(path, limits, progress)
    if name is not None:
        raise damaged(
            path,
            say("finite weights"),
            say("{name} holds NaN or infinity", name=shown(name)),
            say("train it again, or take an earlier checkpoint"),
        )


def _pieces(file: IO[bytes], tensor: Tensor, path: Path) -> Iterator[tuple[int, Bits]]:
    """(where it ends in the file, floats as unsigned integers: sign, exponent, fraction)."""
    for start in range(tensor.start, tensor.end, _PIECE):
        end = min(start + _PIECE, tensor.end)
        file.seek(start)
        data = file.read(end - start)
        if len(data) < end - start:
            raise damaged(
                path, say("the bytes its header says"), say("it was cut off while it was read")
            )
        yield end, np.frombuffer(data, _FLOATS[tensor.dtype][0])


def _is_mask(file: IO[bytes], tensor: Tensor, path: Path) -> bool:
    """Whether all is 0 or below, down to negative infinity, and no NaN."""
    for _, bits in _pieces(file, tensor, path):
        sign = 1 << (8 * bits.dtype.itemsize - 1)
        zero_or_below = (bits == 0) | (bits >= sign) & (bits <= sign | _FLOATS[tensor.dtype][1])
        if not zero_or_below.all():
            return False
    return True
