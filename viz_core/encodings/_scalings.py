"""RoPE's frequencies, and the rules that stretch them to longer inputs without retraining.

Each rule takes the pair index k = 0 .. D/2 - 1 of theta_k = base^(-2k/D) and returns the new
frequencies, float64 [pair], and the factor on cos and sin. Held in the tests against the golden
numbers of transformers 5.24 `modeling_rope_utils` and, where it is installed, that code itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from viz_core.errors import UsageError
from viz_core.words import say

SCALINGS = ("none", "linear", "ntk", "dynamic", "yarn", "llama3")


@dataclass(frozen=True)
class Scaling:
    """How frequencies are scaled: `kind`, its `factor` s, and the numbers that some kinds use.

    `fast` and `slow` are YaRN's beta and alpha: turns within the trained length above which a pair
    is kept and below which it is interpolated. `high` and `low` are llama3's counterparts.
    """

    kind: str = "none"
    factor: float = 1.0
    fast: float = 32.0
    slow: float = 1.0
    high: float = 4.0
    low: float = 1.0
    truncate: bool = True


def frequencies(
    head_dim: int,
    base: float = 10000.0,
    scaling: Scaling | None = None,
    length: int = 512,
    seen: int | None = None,
) -> tuple[Tensor, float]:
    """(theta [pair] in radians per token, float64; the factor on cos and sin).

    `head_dim` is the width that turns: where rotary is partial, the exponent counts in it too.
    `length` is the trained length L; `seen` the current length N, used by `dynamic` alone:
    its base depends on N, so keys rotated for one N don't fit queries rotated for another.
    """
    scaling = scaling or Scaling()
    s = scaling.factor
    plain = base ** (-torch.arange(0, head_dim, 2, dtype=torch.float64) / head_dim)
    match scaling.kind:
        case "none":
            return plain, 1.0
        case "linear":  # Chen et al. 2023, eq. 4: positions divided by s
            return plain / s, 1.0
        case "ntk":  # YaRN Definition 1: the last pair is divided by exactly s, the first kept
            return frequencies(head_dim, base * s ** (head_dim / (head_dim - 2)))
        case "dynamic":  # transformers' formula; with factor 1 exactly ntk at s = max(1, N / L)
            ratio = max(seen or length, length) / length
            alpha = s * ratio - (s - 1)
            return frequencies(head_dim, base * alpha ** (head_dim / (head_dim - 2)))
        case "yarn":
            return _yarn(plain, base, scaling, length)
        case "llama3":
            return _llama3(plain, scaling, length), 1.0
    known = ", ".join(SCALINGS)
    raise UsageError(
        say("Expected a RoPE scaling among {known}; got {kind!r}.", known=known, kind=scaling.kind)
    )


def _yarn(plain: Tensor, base: float, scaling: Scaling, length: int) -> tuple[Tensor, float]:
    """NTK-by-parts and a temperature (Peng et al. 2023), as the authors' code has it.

    Paper and code disagree: the paper's ramp (eq. 18) is linear in the turns r = L / lambda, the
    code's is linear in the pair index between two corrected dimensions. This is the code's.
    """
    dim = 2 * len(plain)

    def index(turns: float) -> float:
        return dim * math.log(length / (turns * 2 * math.pi)) / (2 * math.log(base))

    low, high = index(scaling.fast), index(scaling.slow)
    if scaling.truncate:
        low, high = math.floor(low), math.ceil(high)
    low, high = (
        max(low, 0),
        min(high, dim - 1),
    )  # dim - 1, not dim / 2 - 1: as in the code
    k = torch.arange(len(plain), dtype=torch.float64)
    ramp = ((k - low) / max(high - low, 1e-3)).clamp(0, 1)
    temperature = 0.1 * math.log(scaling.factor) + 1.0 if scaling.factor > 1 else 1.0
    return plain * (1 - ramp) + plain / scaling.factor * ramp, temperature


def _llama3(plain: Tensor, scaling: Scaling, length: int) -> Tensor:
    """Llama 3.1's rule: keep short waves, divide long ones by s, blend linearly in between."""
    turns = length * plain / (2 * math.pi)
    blend = ((turns - scaling.low) / (scaling.high - scaling.low)).clamp(0, 1)
    return plain * blend + plain / scaling.factor * (1 - blend)
