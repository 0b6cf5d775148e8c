"""What there is, and how to open it: checkpoints, encodings, figures, texts."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import torch

from viz_core import catalogue, devices, encodings, plates, series, texts, variants
from viz_core.catalogue import Checkpoint
from viz_core.errors import UsageError
from viz_core.subject import Subject
from viz_core.texts import Passage
from viz_core.words import say


@dataclass(frozen=True, repr=False)
class Opened:
    """A checkpoint with its weights on a device, under a setting of its encoding ("" as trained).

    `checkpoint` has its description: `checkpoint.config`, `checkpoint.facts`, `checkpoint.sha256`.
    """

    checkpoint: Checkpoint
    model: Subject
    setting: str = ""

    @property
    def name(self) -> str:
        """What figures call it, such as "RoPE, PI s = 4"."""
        c = self.checkpoint
        return series.name(c.config.encoding, self.setting, c.id)

    def at(self, length: int) -> Subject:
        """The model under its setting for `length` tokens: some settings depend on it."""
        return variants.vary(self.model, self.setting, length)

    def __repr__(self) -> str:
        c = self.checkpoint.config
        trained = f"trained at {c.length:,} tokens" if c.length else "trained length unknown"
        return f"<{self.name}: {c.layers} layers of {c.heads} heads, {trained}>"


def list_checkpoints() -> pd.DataFrame:
    """The shipped checkpoints: id, encoding, sizes, losses in nats per token, sha256."""
    return pd.DataFrame([one.row() for one in catalogue.shipped().values()])


def list_encodings() -> pd.DataFrame:
    """Every encoding, one's own too: id, name, where it acts, its parameters, its paper."""
    return pd.DataFrame(
        {
            "id": card.id,
            "name": card.name,
            "acts_on": card.acts_on,
            "parameters": ", ".join(p.name for p in card.parameters),
            "summary": card.summary,
            "paper": card.paper.url,
        }
        for card in encodings.all_encodings().values()
    )


def list_figures() -> pd.DataFrame:
    """Every figure that `draw` knows: id, title, and the names of its options."""
    return pd.DataFrame(
        {"id": plate.id, "title": plate.title, "options": ", ".join(plate.options)}
        for plate in plates.all_plates().values()
    )


def open_checkpoint(name: str, setting: str = "", device: str = "auto") -> Opened:
    """The shipped checkpoint with the id `name`, or the one at that path, ready to be traced.

    `setting` is one of the command line's --scaling: "linear:4" or another of RoPE's, "exponent:6"
    of ALiBi, "off". `device`: "cpu", "cuda" or "mps", by default the best that is there. Raises
    UsageError for a name, a setting or a device that isn't there, AtlasError for a checkpoint that
    can't be read.
    """
    checkpoint = catalogue.find(name)
    setting = "" if setting == "none" else setting
    config = checkpoint.config
    variants.parameters(config.encoding, setting, config.length or 1, config.length or 1)
    return Opened(checkpoint, checkpoint.load(_device(device)), setting)


def read_text(
    opened: Opened,
    text: str = texts.MANUAL,
    length: int | None = None,
    count: int = 1,
    own: str | None = None,
) -> list[Passage]:
    """`count` passages of `length` tokens, cut by the tokenizer of `opened`.

    `text` is one of the command line's --text: "python-docs" (Python's manual), "prose", "random",
    "repeated", "heldout"; or pass the words of a text of your own as `own`. `length` is the trained
    one by default. A passage that falls short says so in its `note`. Raises TextError and
    LengthError for a text or a length that there isn't.
    """
    size = length or opened.checkpoint.config.length
    pieces = opened.checkpoint.tokenizer()
    if own is not None:
        return texts.passages(texts.PASTED, size, count, pieces, own)
    return texts.passages(text, size, count, pieces)


def _device(name: str) -> torch.device:
    there = {"cpu": True, "cuda": torch.cuda.is_available()}
    there["mps"] = torch.backends.mps.is_available()
    if name == "auto":
        return devices.best()
    if not there.get(name, False):
        raise UsageError(
            say(
                "Expected a device among {known}; got {name!r}. Leave it out to take the best one.",
                known=", ".join(n for n, here in there.items() if here),
                name=name,
            )
        )
    return torch.device(name)
