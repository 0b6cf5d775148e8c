"""A made-up table of a sweep over the steps of two trainings, as `sweep --out` writes it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

from viz_core import results

STEPS = (0, 10, 100, 1000)
COMMAND = "python -m viz_core sweep made-up.toml"
LAYERS, HEADS = 2, 4


def rows(
    encodings: Sequence[str] = ("alibi", "rope"),
    steps: Sequence[int] = STEPS,
    folder: str = "runs/{encoding}",
    text: str = "heldout",
    length: int = 512,
) -> Iterator[dict[str, object]]:
    """ALiBi's slopes as they are set, and ripples of RoPE that grow from 0.1 nats to 1."""
    for encoding in encodings:
        for step in steps:
            about = {
                "checkpoint": f"{folder.format(encoding=encoding)}/step-{step:06}.safetensors",
                "encoding": encoding,
                "trained_length": 512,
                "step": step,
                "tokens_seen": 4096 * step,
                "setting": "",
                "text": text,
                "length": length,
                "status": "found",
                "reason": "",
            }
            for layer in range(1, LAYERS + 1):
                for head in range(1, HEADS + 1):
                    place = {"measurement": "signatures", "layer": layer, "head": head}
                    yield about | place | {"passages": 8} | _statistics(encoding, step, head)
            loss = 8.3 - math.log10(1 + step)
            found = {"loss": loss, "loss_low": loss - 0.1, "loss_high": loss + 0.1}
            yield about | {"measurement": "perplexity", "documents": 42} | found


def _statistics(encoding: str, step: int, head: int) -> dict[str, object]:
    rope = encoding == "rope"
    nominal = None if rope else -(2.0**-head)
    size = (0.1 if step == 0 else 1.0) if rope else 0.02
    return {
        "slope": -0.01 if nominal is None else nominal,
        "slope_nominal": nominal,
        "reach_90": 250.0 if rope else 4.0 * 2**head,
        "reach_90_even": 298.9,
        "ripple": 0.9 if rope else 0.01,
        "ripple_even": 0.1,
        "swing": size,
        "swing_noise": 0.02,
        "sink": 0.03,
        "sink_even": 0.04,
    }


def write(path: Path, **how: object) -> Path:
    """The table as CSV at `path`."""
    results.write(path, COMMAND, list(rows(**how)))  # type: ignore[arg-type]
    return path
