"""What a result is of, and the digest that names it: equal content, equal name, anywhere."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass

CORE = 2  # raise it when numbers that are stored would change: the older ones are then not found
Option = str | int | float | bool | tuple["Option", ...] | None


@dataclass(frozen=True)
class RunKey:
    """What a result is of. Equal content has an equal digest, in any process.

    `checkpoint`: sha256 of the file. `setting`: of its encoding, as in `variants` ("" as trained).
    `texts`: sha256 of the token ids of each, in the order they were averaged in. `length`: tokens.
    `dtype`: what was computed in ("float32"). `what`: the kind of result ("survey", "window").
    `options`: name and value of all else that changes the numbers, kept in the order of the names.
    Raises ValueError where an option is named twice.
    """

    checkpoint: str
    setting: str
    texts: tuple[str, ...]
    length: int
    dtype: str
    what: str
    options: tuple[tuple[str, Option], ...] = ()

    def __post_init__(self) -> None:
        options = dict(self.options)
        if len(options) < len(self.options):
            raise ValueError(f"an option is named twice in {self.options}")
        object.__setattr__(self, "options", tuple((n, options[n]) for n in sorted(options)))

    @property
    def json(self) -> str:
        """Canonical JSON of the content and CORE: sorted names, no spaces, ASCII.

        Raises ValueError for a number that isn't finite, TypeError for one of numpy's integers.
        """
        content = {**asdict(self), "options": dict(self.options), "core": CORE}
        return json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)

    @property
    def digest(self) -> str:
        """The sha256 of `json`, in hex."""
        return hashlib.sha256(self.json.encode()).hexdigest()
