"""The settings that the weights can be run under: which there are to choose from, and in words."""

from __future__ import annotations

from collections.abc import Iterable

from viz_core import series, variants
from viz_core.catalogue import Checkpoint
from viz_core.errors import AtlasError
from viz_core.model import ModelConfig
from viz_core.words import mark, say

OFF = "off"  # everyone's: the same weights without their encoding
PRESETS = {  # by encoding
    "rope": (
        *("linear:4", "linear:2", "linear:8", "ntk:2", "ntk:4", "ntk:8", "yarn:4", "llama3:4"),
        *("dynamic", "theta:1000", "theta:50000", "theta:500000"),
    ),
    "alibi": ("exponent:4", "exponent:6", "exponent:10", "exponent:12"),
}

FOREIGN = mark(
    "Only models of this project's own format can be run under another setting of their encoding: "
    "this one is shown as it was trained."
)


def ours(checkpoint: Checkpoint) -> bool:
    """Whether its model is of our own kind, and so can be run under other settings."""
    return isinstance(checkpoint.config, ModelConfig)


def choices(checkpoints: Iterable[Checkpoint]) -> list[str]:
    """The settings that some of `checkpoints` can have, those that change the most in use first."""
    kinds = dict.fromkeys(c.config.encoding for c in checkpoints if ours(c))
    found = [s for kind in kinds for s in PRESETS.get(kind, ())]
    return [*found, OFF] if kinds else []


def fits(checkpoint: Checkpoint, setting: str) -> bool:
    """Whether `setting` is one of this checkpoint's encoding, within its range."""
    c = checkpoint.config
    if setting and not ours(checkpoint):
        return False
    try:
        variants.parameters(c.encoding, setting, c.length, c.length)
    except AtlasError:
        return False
    return True


def words(setting: str, whole: bool = True) -> str:
    """ "RoPE, PI s = 4", or less than `whole`, where the encoding is clear, "PI s = 4"."""
    if setting == OFF:
        return say("positions off")
    kind = setting.partition(":")[0]
    encoding = variants.PARAMETERS[kind][0] if kind in variants.PARAMETERS else "rope"
    return (series.name if whole else series.label)(encoding, setting)
