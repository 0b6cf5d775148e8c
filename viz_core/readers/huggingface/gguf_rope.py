"""RoPE as a .gguf file gives it: keys `rope.*`, and tables by which frequencies are divided.

What llama.cpp computes of them (src/llama-context.cpp, ggml's rope_yarn): the angle of pair k is
p base^(-2k/D) / t_k, with t the file's table; type "linear", the default, divides it by the factor;
"yarn" blends both, and multiplies cos and sin by 0.1 ln(factor) + 1; `attn_factor` multiplies them
under every type.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from viz_core.encodings._scalings import Scaling, frequencies
from viz_core.errors import DamagedCheckpoint
from viz_core.readers.huggingface.given import difference
from viz_core.readers.intake.words import shown
from viz_core.words import say

TABLES = ("rope_freqs.weight", "rope_factors_short.weight", "rope_factors_long.weight")
_KINDS = ("none", "linear", "yarn", "longrope")
_SAME = 1e-5  # relative: tables are stored in float32


@dataclass(frozen=True)
class Turning:
    """What the file says: `width` channels turn, at `base`; `original`: the length before scaling.

    `tables` by name [pair]; `attention` multiplies cos and sin beside what the type does.
    """

    base: float
    width: int
    kind: str
    factor: float
    original: int
    attention: float
    fast: float
    slow: float
    tables: Mapping[str, Tensor]

    @property
    def scaling(self) -> Scaling:
        """The rule that its type and factor name."""
        if self.kind in ("none", "longrope") or self.factor == 1:
            return Scaling()
        return Scaling(self.kind, self.factor, self.fast, self.slow)

    def frequencies(self, late: bool = False) -> tuple[Tensor, float]:
        """(radians per token [pair] in float64, factor on cos and sin).

        `late`: of texts longer than `original`, which longrope turns otherwise.
        """
        theta, factor = frequencies(self.width, self.base, self.scaling, self.original)
        table = self.tables.get(TABLES[1 + late] if self.kind == "longrope" else TABLES[0])
        return (theta if table is None else theta / table), factor * self.attention

    def settings(self) -> dict[str, Any]:
        """The same as config.json's `rope_parameters`, as far as those can say it."""
        said: dict[str, Any] = {"rope_theta": self.base, "rope_type": "default"}
        if self.kind == "longrope":
            short, late = (self.tables[name].tolist() for name in TABLES[1:])
            return said | {
                "rope_type": "longrope",
                "short_factor": short,
                "long_factor": late,
                "original_max_position_embeddings": self.original,
                "attention_factor": self.attention,
            }
        if self.scaling.kind != "none":
            said |= {"rope_type": self.kind, "factor": self.factor}
        if self.scaling.kind == "yarn":
            said |= {
                "original_max_position_embeddings": self.original,
                "beta_fast": self.fast,
                "beta_slow": self.slow,
                "attention_factor": self.frequencies()[1],
            }
        return said | self._llama3()

    def _llama3(self) -> dict[str, Any]:
        """Llama 3.1's settings where the file's table is that rule's; empty where it isn't.

        The file keeps the rule's result alone: its factor is the last pair's, and its length is the
        power of two that gives the rest. Meta's 1 and 4 turns are the only ones in use.
        """
        table = self.tables.get(TABLES[0])
        if table is None or self.scaling.kind != "none" or self.attention != 1:
            return {}
        factor = float(table.max())
        for length in (2**power for power in range(6, 21)):
            rule = Scaling("llama3", factor)
            if factor > 1 and difference(self._rule(rule, length), self.frequencies()[0]) < _SAME:
                return {
                    "rope_type": "llama3",
                    "factor": factor,
                    "low_freq_factor": rule.low,
                    "high_freq_factor": rule.high,
                    "original_max_position_embeddings": length,
                }
        return {}

    def _rule(self, rule: Scaling, length: int) -> Tensor:
        return frequencies(self.width, self.base, rule, length)[0]


def turning(values: Mapping[str, Any], tables: Mapping[str, Tensor], width: int) -> Turning:
    """What `values` (a GGUF's keys) and `tables` say of heads of `width` channels.

    Raises DamagedCheckpoint for values that are none, or tables that aren't a pair's each.
    """
    kind = values.get("rope.scaling.type", "linear")
    if kind not in _KINDS:
        raise DamagedCheckpoint(
            say(
                "Expected a rope.scaling.type among {known} in this GGUF file; it is {kind}, which "
                "isn't read.",
                known=", ".join(_KINDS),
                kind=shown(str(kind)),
            )
        )
    for name, table in tables.items():
        if table.shape != (width // 2,) or not bool((table.isfinite() & (table > 0)).all()):
            raise DamagedCheckpoint(
                say(
                    "Expected {n} positive numbers in {name}, one for each pair of a head's "
                    "channels; it holds others, so convert the model again.",
                    n=width // 2,
                    name=name,
                )
            )
    if kind == "longrope" and not set(TABLES[1:]) <= set(tables):
        raise DamagedCheckpoint(
            say(
                "Expected {names} beside a rope.scaling.type of longrope; they are missing, so "
                "convert the model again.",
                names=", ".join(TABLES[1:]),
            )
        )

    def number(key: str, default: float) -> float:
        return float(values.get(key) or default)  # 0 is llama.cpp's "not said"

    return Turning(
        base=number("rope.freq_base", 10000.0),
        width=width,
        kind=kind,
        factor=number("rope.scaling.factor", number("rope.scale_linear", 1.0)),
        original=int(number("rope.scaling.original_context_length", values["context_length"])),
        attention=number("rope.scaling.attn_factor", 1.0),
        fast=number("rope.scaling.yarn_beta_fast", 32.0),
        slow=number("rope.scaling.yarn_beta_slow", 1.0),
        tables={name: table.double() for name, table in tables.items()},
    )
