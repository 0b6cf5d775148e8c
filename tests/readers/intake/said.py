"""What the intake says when it refuses: a sentence fit to be shown.

Apart from `files`, which needs PyTorch: tests that start processes import this alone.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from viz_core.errors import AtlasError
from viz_core.readers.intake.limits import Limits

LIMITS = Limits.read()


def refused(act: Callable[[], object]) -> str:
    """What is said when `act` is refused: one sentence of moderate length, on one line."""
    with pytest.raises(AtlasError) as caught:
        act()
    return sentence(str(caught.value))


def sentence(message: str) -> str:
    assert message.startswith(("Expected ", "Could not ")) and message.endswith(".")
    assert message.isprintable() and len(message) <= 600
    return message
