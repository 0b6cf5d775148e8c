"""What predictions need of tokens, pairs of them, heads and distance; maps show what heads do."""

from viz_core.attribution.heads import REPLACEMENTS, HeadImportance
from viz_core.attribution.pattern import PatternAttribution
from viz_core.attribution.places import Place
from viz_core.attribution.reach import Reach
from viz_core.attribution.targets import KINDS, Target
from viz_core.attribution.tokens import METHODS, TokenAttribution

__all__ = [
    "KINDS",
    "METHODS",
    "REPLACEMENTS",
    "HeadImportance",
    "PatternAttribution",
    "Place",
    "Reach",
    "Target",
    "TokenAttribution",
]
