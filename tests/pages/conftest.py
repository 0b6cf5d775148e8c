"""Tables of results with made-up numbers, in a folder of their own."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from viz_core import results

TRAINED = 512
LENGTHS = (256, 512, 1024, 2048, 4096)
# made up: nats per doubling past the trained length
SLOPES = {"nope": 0.2, "sinusoidal": 0.7, "learned": 0.0, "t5": 0.05, "alibi": -0.01, "rope": 0.3}
SETTINGS = {
    "rope": (
        *("linear:4", "linear:fit", "ntk:4", "ntk:fit", "dynamic"),
        *("yarn:4", "yarn:fit", "llama3:4", "theta:50000"),
    ),
    "alibi": ("exponent:6", "exponent:10"),
}
PROTOCOLS = ("fixed-targets", "non-overlapping", "sliding-window")


def loss(encoding: str, setting: str, length: int) -> float | None:
    """A made-up loss: 4 nats and a slope past the trained length."""
    if encoding == "learned" and length > TRAINED:
        return None
    slope = SLOPES[encoding] * (0.5 if setting else 1.0)
    fixed = 0.3 if setting.endswith(":4") else 0.0
    return 4.0 + slope * max(0.0, math.log2(length / TRAINED)) + fixed


def perplexities(encoding: str) -> list[dict[str, object]]:
    """The rows of one encoding's file, for all protocols, texts and settings."""
    rows = []
    for text in ("heldout", "python-docs"):
        for setting in ("", *SETTINGS.get(encoding, ())):
            for n in LENGTHS:
                common = {"checkpoint": encoding, "encoding": encoding, "trained_length": TRAINED}
                common |= {"setting": setting, "text": text, "length": n, "source": "all"}
                value = loss(encoding, setting, n)
                for protocol in PROTOCOLS:
                    paired = value is not None and protocol == "fixed-targets"
                    rows.append(common | _row(protocol, value, value - 4.0 if paired else None))
                if not setting and n == LENGTHS[-1] and value is not None:
                    for first in (1, 32, 256, 512, 1024, 2048):
                        at = loss(encoding, "", first)
                        row = _row("per-position", at + 1 / first, None)
                        rows.append(common | row | {"first": first, "last": 2 * first})
    return rows


def _row(protocol: str, value: float | None, difference: float | None) -> dict[str, object]:
    def band(v: float | None, name: str) -> dict[str, object]:
        low, high = (None, None) if v is None else (v - 0.02, v + 0.02)
        return {name: v, f"{name}_low": low, f"{name}_high": high}

    return {
        "protocol": protocol,
        "first": None,
        "last": None,
        **band(value, "loss"),
        "perplexity": None if value is None else math.exp(value),
        **band(difference, "difference"),
        "tokens": 0 if value is None else 10_752,
        "documents": 42,
        "seconds": 1.0,
        "note": "undefined past its 512 trained positions" if value is None else "",
        "checkpoint_sha256": "0" * 64,
        "text_sha256": "1" * 64,
    }


def write_tables(folder: Path) -> None:
    """All kinds of tables, with numbers that no model ever gave."""
    for encoding in SLOPES:
        command = f"python -m viz_core perplexity {encoding} --made-up"
        results.write(folder / f"perplexity-{encoding}.csv", command, perplexities(encoding))
        rows = []
        for n in LENGTHS[1:]:
            row = {"checkpoint": encoding, "encoding": encoding, "trained_length": TRAINED}
            row |= {"setting": "", "text": "heldout", "length": n, "layer": "all", "texts": 4}
            row |= {"entropy": 3.0, "entropy_share": 0.5 * 512 / n, "sink_mass": 0.1}
            row |= {"mean_distance": n / 8, "mean_distance_share": 0.25}
            row |= {"beyond_trained": 1 - 512 / n, "note": ""}
            row |= {"unseen_phases": 1 - 512 / n if encoding == "rope" else None}
            rows.append(row)
        results.write(folder / f"mechanism-{encoding}.csv", "made up", rows)
    costs = [
        {"encoding": e, "length": n, "parameters": 1000, "forward_seconds_per_token": 0.000123}
        | {"forward_ratio": 1.25, "note": ""}
        for e in SLOPES
        for n in (512, 4096)
    ]
    results.write(folder / "costs.csv", "python -m benchmarks --made-up", costs)
    scores = {"previous_token": 0.5, "previous_token_baseline": 0.01}
    scores |= {"induction": 0.2, "induction_baseline": 0.03, "loss_1_15": 4.4, "loss_256_511": 4.0}
    probes = [{"checkpoint": e, "encoding": e, **scores, "passed": e != "nope"} for e in SLOPES]
    results.write(folder / "probes.csv", "python -m viz_core probes --made-up", probes)


@pytest.fixture(autouse=True)
def own_main() -> Iterator[None]:
    """Streamlit puts the page in the place of `__main__`, which processes started later read."""
    kept = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = kept


@pytest.fixture
def tables_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of made-up tables, which the pages read in place of the shipped ones."""
    write_tables(tmp_path)
    monkeypatch.setattr(results, "FOLDER", tmp_path)
    yield tmp_path


@pytest.fixture
def no_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder without any table."""
    monkeypatch.setattr(results, "FOLDER", tmp_path)
