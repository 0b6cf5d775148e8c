"""What training puts around a model's names: torch.compile, parallel training, checkpointing."""

from __future__ import annotations

import re
from collections.abc import Iterable

from viz_core.errors import DamagedCheckpoint
from viz_core.readers.intake.words import shown
from viz_core.words import say

# The modules that wrap others, at any place in a name: torch.compile's, FSDP's, and the one of
# torch.utils.checkpoint; DistributedDataParallel's is before every name.
_INSIDE = re.compile(r"(?<![^.])(_orig_mod|_fsdp_wrapped_module|_checkpoint_wrapped_module)\.")
_AROUND = "module."


def unwrapped(names: Iterable[str], file: str) -> dict[str, str]:
    """The `names` of the tensors in `file` by what they are without wrappers.

    Raises DamagedCheckpoint where two become one.
    """
    found: dict[str, str] = {}
    inner = {name: _INSIDE.sub("", name) for name in names}
    around = bool(inner) and all(plain.startswith(_AROUND) for plain in inner.values())
    for name, plain in inner.items():
        plain = plain.removeprefix(_AROUND) if around else plain
        if found.setdefault(plain, name) != name:
            raise DamagedCheckpoint(
                say(
                    "Expected each tensor once in {file}; without what training puts before names, "
                    "{one} and {other} are the same, so keep one of them.",
                    file=file,
                    one=shown(found[plain]),
                    other=shown(name),
                )
            )
    return found
