"""A spec from TOML: what it says, its defaults, and one sentence for whatever is wrong."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from viz_core.errors import UsageError
from viz_core.jobs import spec
from viz_core.jobs.cell import How
from viz_core.jobs.spec import Limits

Write = Callable[..., Path]


def test_what_it_says_is_what_is_read(write: Write) -> None:
    found = spec.read(
        write(
            "store_gb = 1.5",
            "[maps]\nview = 'centred'\npooling = 'max'",
            "[perplexity]\nprotocol = 'sliding-window'\ndocuments = 3",
            "[executor]\nkind = 'slurm'\nminutes = 5\nmemory_gb = 0.5\ncpus = 3\ngpus = 1",
            "at_once = 7\ntasks = 9\npartition = 'p'\nsbatch = {constraint = 'a100'}",
            lengths="[96, 64, 96]",
            scalings='["none", "linear:4"]',
            measurements='["maps", "perplexity"]',
        )
    )
    assert found.checkpoints == ("alibi.safetensors", "rope.safetensors")
    assert found.lengths == (96, 64) and found.settings == ("", "linear:4")
    assert found.texts == ("python-docs",) and found.measurements == ("maps", "perplexity")
    assert found.how == How(2, "centred", "max", "sliding-window", 3, 96)
    assert found.limits == Limits(
        "slurm", None, 5, 0.5, 3, 1, 7, 9, "p", sbatch={"constraint": "a100"}
    )
    assert found.store_gb == 1.5


def test_what_it_leaves_out_has_defaults(write: Write) -> None:
    found = spec.read(write(texts="", passages=""))
    assert found.settings == ("",) and found.texts == ("heldout",)
    assert found.how == How(longest=96) and found.limits == Limits()


@pytest.mark.parametrize(
    ("lines", "given", "words"),
    [
        (["length = 3"], {}, ("a key of the spec", "lengths", "'length'")),
        (["[executor]\nkind = 'sge'"], {}, ("kind among inline, local, slurm", "'sge'")),
        (["[executor]\nnodes = 3"], {}, ("a key of [executor]", "at_once", "'nodes'")),
        (["[executor]\nminutes = 0"], {}, ("minutes as a whole number from 1 on", "got 0")),
        (["[executor]\ngpus = -1"], {}, ("gpus as a whole number from 0 on", "-1")),
        (["[executor]\nmemory_gb = 'all'"], {}, ("memory_gb as a number above 0", "'all'")),
        (["[executor]\nqos = 3"], {}, ("qos of [executor] as a word", "got 3")),
        (["[executor]\nsbatch = 'x'"], {}, ("sbatch of [executor] as a table", "'x'")),
        (["executor = 'local'"], {}, ("[executor] as a table", "'local'")),
        (["[maps]\nview = 'pretty'"], {}, ("probability, log, centred", "'pretty'")),
        (["[perplexity]\nprotocol = 'all'"], {}, ("fixed-targets", "'all'")),
        (["[perplexity]\ndocuments = true"], {}, ("documents as a whole number", "True")),
        (["store_gb = 0"], {}, ("store_gb", "got 0")),
        ([], {"lengths": ""}, ("lengths as a list of whole numbers", "nothing")),
        ([], {"lengths": "[1]"}, ("from 2 on", "[1]")),
        ([], {"lengths": "512"}, ("lengths as a list", "512")),
        ([], {"checkpoints": "[]"}, ("checkpoints as a list of words", "[]")),
        ([], {"texts": "[3]"}, ("texts as a list of words", "[3]")),
        ([], {"measurements": '["slopes"]'}, ("measurements among maps", "'slopes'")),
        ([], {"passages": "0"}, ("passages as a whole number from 1 on", "got 0")),
        (["="], {}, ("Expected a sweep in TOML", "line")),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(
    write: Write, lines: list[str], given: dict[str, str], words: tuple[str, ...]
) -> None:
    with pytest.raises(UsageError) as error:
        spec.read(write(*lines, **given))
    said = str(error.value)
    assert said.startswith("Expected ") and said.endswith(".") and "\n" not in said
    for word in words:
        assert word in said


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="No such file"):
        spec.read(tmp_path / "nix.toml")


@pytest.mark.parametrize("path", sorted((Path(__file__).parents[2] / "docs/sweeps").glob("*.toml")))
def test_the_examples_are_specs(path: Path) -> None:
    assert spec.read(path).checkpoints
