"""From a spec to cells: every combination once, its key, and what can't be."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from viz_core import catalogue, keys, texts
from viz_core.errors import AtlasError, LengthError, TextError, UnknownName, UsageError
from viz_core.jobs import planning, spec
from viz_core.jobs.cell import Cell

Write = Callable[..., Path]


def planned(path: Path) -> list[Cell]:
    return planning.plan(spec.read(path))


def test_every_combination_has_the_key_of_its_result(write: Write, folder: Path) -> None:
    cells = planned(
        write(
            lengths="[256, 300]",
            measurements='["maps", "decay", "signatures", "perplexity"]',
            scalings='["none", "off"]',
        )
    )
    assert len(cells) == len(set(cells)) == 2 * 2 * 2 * 4
    rope = catalogue.find(str(folder / "rope.safetensors"))
    pieces = rope.tokenizer()
    some = texts.passages("python-docs", 300, 2, pieces)
    by = {
        c.measurement: c.key
        for c in cells
        if (c.encoding, c.length, c.setting) == ("rope", 300, "off")
    }
    assert by["maps"] == keys.survey(rope, some, "log", "mean", "off")
    assert by["decay"] == by["signatures"] == keys.portrait(rope, some, "off")
    samples = texts.samples("python-docs", 300, pieces)
    assert by["perplexity"] == keys.losses(rope, samples, 300, "fixed-targets", "off")


def test_globs_take_every_step_once_and_say_where_it_is_from(write: Write, folder: Path) -> None:
    cells = planned(write(checkpoints='["step-*.safetensors", "step-000010.safetensors"]'))
    assert [(c.checkpoint, c.step, c.tokens_seen) for c in cells] == [
        ("step-000010.safetensors", 10, 1000),
        ("step-000200.safetensors", 200, 20000),
    ]
    assert [c.name for c in cells] == [str(folder / c.checkpoint) for c in cells]


def test_what_an_encoding_has_not_is_undefined(write: Write) -> None:
    cells = planned(
        write(
            checkpoints='["rope.safetensors", "learned.safetensors"]',
            lengths="[96, 300]",
            scalings='["none", "linear:4", "off"]',
        )
    )
    assert {(c.setting, c.length): c.obstacle for c in cells if c.encoding == "learned"} == {
        ("", 96): "",
        ("", 300): "Learned is undefined past its 256 trained positions.",
        ("linear:4", 96): "Expected a checkpoint with RoPE for the setting linear:4; got one with "
        "Learned.",
        ("linear:4", 300): "Expected a checkpoint with RoPE for the setting linear:4; got one with "
        "Learned.",
        ("off", 96): "",
        ("off", 300): "",
    }
    assert all(c.undefined == bool(c.obstacle) == (c.key is None) for c in cells)


def test_a_damaged_checkpoint_does_not_stop_the_others(write: Write, folder: Path) -> None:
    (folder / "broken.safetensors").write_bytes(b"not a checkpoint at all")
    cells = planned(write(checkpoints='["*.safetensors"]'))
    broken = [c for c in cells if c.checkpoint == "broken.safetensors"]
    assert len(cells) == 6 and len(broken) == 1 and not broken[0].undefined
    assert broken[0].key is None and "broken.safetensors" in broken[0].obstacle
    assert sum(c.key is not None for c in cells) == 5


@pytest.mark.parametrize(
    ("given", "kind", "words"),
    [
        ({"checkpoints": '["nix-*.safetensors"]'}, UsageError, "that fit nix-*.safetensors"),
        ({"checkpoints": '["nix"]'}, UnknownName, "'nix'"),
        ({"checkpoints": '["nix.safetensors"]'}, AtlasError, "there is none"),
        ({"scalings": '["none", "yran:4"]'}, UsageError, "'yran:4'"),
        ({"texts": '["nix"]'}, UnknownName, "'nix'"),
        ({"texts": '["pasted"]'}, UsageError, "others can read"),
        ({"texts": '["prose"]', "lengths": "[9000]"}, TextError, "fewer passages or shorter"),
        ({"lengths": "[71]"}, LengthError, "at least 72 tokens for signatures; got 71"),
        ({"measurements": '["perplexity"]', "lengths": "[255]"}, LengthError, "from 256"),
    ],
)
def test_what_stands_in_the_way_of_all_is_raised(
    write: Write, given: dict[str, str], kind: type[AtlasError], words: str
) -> None:
    with pytest.raises(kind) as error:
        planned(write(**given))
    assert words in str(error.value)
