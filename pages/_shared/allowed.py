"""What one request may ask of the device, as `limits.toml` says, and what is done where its memory
doesn't do."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import TypeVar

import torch

from viz_core import devices
from viz_core.errors import AtlasError, LengthError
from viz_core.readers.intake import Limits
from viz_core.subject import Subject
from viz_core.words import say

T = TypeVar("T")

LACK = ("allocate memory", "out of memory", "not enough memory")  # how torch's devices put it


def check_length(length: int) -> None:
    """Raises LengthError for more tokens than one request may have on this server."""
    longest = Limits.read().longest
    if length > longest:
        raise LengthError(
            say(
                "Expected a text of at most {longest:,} tokens, the longest that this server "
                "computes for one person; got {length:,}, so choose a shorter one.",
                longest=longest,
                length=length,
            ),
            longest,
        )


def check_memory(model: Subject, length: int) -> None:
    """Raises LengthError where a pass over so many tokens takes more than one request's share of
    the memory that is free."""
    share = Limits.read().device_percent
    room = devices.free_bytes(model.device) * share // 100
    if length * model.bytes_per_token > room:
        longest = room // model.bytes_per_token
        raise LengthError(
            say(
                "Expected a request that takes at most {share} % of the memory that is free, as "
                "this server allows; {length:,} tokens take more, so choose at most {longest:,}.",
                share=share,
                length=length,
                longest=longest,
            ),
            longest,
        )


def fitting(compute: Callable[[], T], make_room: Callable[[], None]) -> T:
    """`compute()`; where the device's memory ran out, once more after `make_room()`.

    Raises AtlasError where it doesn't do then either.
    """
    for _ in range(2):
        try:
            return compute()
        except (MemoryError, RuntimeError) as error:  # torch.OutOfMemoryError is of the latter
            if isinstance(error, RuntimeError) and not any(word in str(error) for word in LACK):
                raise
        # Out here the error is gone, and with it the frames that hold what was half computed.
        make_room()
        gc.collect()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
    raise AtlasError(
        say(
            "Expected enough memory on the device for this; there was too little, even with all "
            "kept models and traces gone, so choose a shorter text, or try again when fewer people "
            "compute."
        )
    )
