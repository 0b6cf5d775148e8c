"""Encodings of one's own: found beside the others, refused in one sentence, and the documented
example from beginning to end."""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from viz_core import catalogue, encodings
from viz_core.encodings import Geometry
from viz_core.errors import AtlasError, UnknownName
from viz_core.model import ModelConfig, Transformer
from viz_core.readers import native
from viz_core.render import palette
from viz_core.training import recipe, train

DOCUMENT = Path(__file__).parents[2] / "docs" / "your-own-encoding.md"
SHORT = """
from viz_core.encodings import Encoding, Paper, PositionEncoding

class Mine(PositionEncoding):
    def bias(self, distance):
        return {bias}
    def rotate(self, x, positions, seen):
        return {rotate}

ENCODING = Encoding({id!r}, "Mine", {acts!r}, Paper("I", 2026, "A", "https://example.org"), "d",
    "A.", "B.", "C.", {build})
"""
PLAIN = {
    "id": "mine", "acts": "logits", "build": "Mine", "rotate": "x",
    "bias": "-distance.float().expand(self.geometry.heads, *distance.shape)",
}  # fmt: skip
Cli = Callable[..., tuple[int, str, str]]


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], Path]:
    """Writes a file into a folder of one's own, which is read from then on."""
    folder = tmp_path / "mine"
    folder.mkdir()
    monkeypatch.setenv(encodings.OWN, str(folder))
    encodings._every.cache_clear()

    def write(name: str, text: str) -> Path:
        (folder / name).write_text(text, "utf-8")
        return folder / name

    return write


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", DOCUMENT.read_text("utf-8"), re.DOTALL)


def test_the_documented_file_is_found_beside_the_others(own: Callable[[str, str], Path]) -> None:
    own("root.py", blocks("python")[0])
    assert list(encodings.all_encodings())[-1] == "root"
    root, alibi = (encodings.get(e).make(Geometry(8, 4, 32, 16)) for e in ("root", "alibi"))
    d = torch.arange(100)
    torch.testing.assert_close(root.bias(d), -root.slope[:, None] * d.sqrt())
    line = encodings.get("root").make(Geometry(8, 4, 32, 16), {"power": 1.0})
    torch.testing.assert_close(line.bias(d), alibi.bias(d))


def test_without_a_folder_there_are_those_of_the_project(
    own: Callable[[str, str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    own("mine.py", SHORT.format(**PLAIN))
    assert "mine" in encodings.all_encodings()
    monkeypatch.delenv(encodings.OWN)
    assert "mine" not in encodings.all_encodings()
    with pytest.raises(UnknownName, match="or one of your own in the folder ATLAS_ENCODINGS"):
        encodings.get("mine")


WRONG = {
    "an id that is taken": ("alibi.py", {"id": "alibi"}, "'alibi' is taken by an encoding"),
    "another name": ("other.py", {}, "to be called as its card's id is"),
    "capitals": ("Mine.py", {"id": "Mine"}, "in small letters"),
    "another place": ("mine.py", {"acts": "values"}, "acts_on is 'values', none of nothing"),
    "no encoding": ("mine.py", {"build": "dict"}, "it raised TypeError"),
    "a short bias": ("mine.py", {"bias": "-distance.float()"}, "is [2, 3], not [head, 2, 3]"),
    "minus infinity": (
        "mine.py",
        {"bias": f"{PLAIN['bias']}.masked_fill(distance > 3, -1e999)"},
        "no finite number at distance 4",
    ),
    "no way back": ("mine.py", {"rotate": "2 * x"}, "unrotate doesn't give back"),
    "fewer channels": ("mine.py", {"rotate": "x[..., :2]"}, "rotate makes [2, 6, 2] of [2, 6, 4]"),
    "an error inside": ("mine.py", {"rotate": "1 / 0"}, "it raised ZeroDivisionError"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_file_that_is_wrong_is_one_sentence_that_names_it(
    case: str, own: Callable[[str, str], Path]
) -> None:
    name, changes, words = WRONG[case]
    own(name, SHORT.format(**{**PLAIN, **changes}))
    said = refused(encodings.all_encodings)
    assert name in said and words in said


def refused(act: Callable[[], object]) -> str:
    with pytest.raises(AtlasError) as caught:
        act()
    said = str(caught.value)
    assert re.fullmatch(r"Expected [^\n]*\.", said) and not re.search(r"[!?]\s|\.\s", said), said
    return said


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "it sets none"),
        ("ENCODING = 3", "it is of type int"),
        ("import no_such_module", "it raised ModuleNotFoundError"),
        ("def broken(:", "it raised SyntaxError"),
    ],
)
def test_a_file_that_is_no_encoding(text: str, words: str, own: Callable[[str, str], Path]) -> None:
    own("mine.py", text)
    assert words in refused(encodings.all_encodings)


def test_a_folder_without_files_and_none_at_all(
    own: Callable[[str, str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Cli
) -> None:
    own("_part.py", "")  # a private file is no encoding
    assert "there is none there" in refused(encodings.all_encodings)
    monkeypatch.delenv(encodings.OWN)
    status, out, err = cli("--encodings", tmp_path / "nowhere", "train", "alibi")
    assert (status, out) == (1, "") and "there is no such folder" in err


def test_a_mended_file_is_read_anew(own: Callable[[str, str], Path]) -> None:
    own("mine.py", "ENCODING = 3")
    refused(encodings.all_encodings)
    own("mine.py", SHORT.format(**PLAIN))
    assert encodings.get("mine").name == "Mine"


def test_the_option_holds_for_one_command(
    own: Callable[[str, str], Path], monkeypatch: pytest.MonkeyPatch, cli: Cli
) -> None:
    folder = own("mine.py", SHORT.format(**PLAIN)).parent
    monkeypatch.delenv(encodings.OWN)
    ask = ("figure", "encoding-curves", "--encodings", "mine", "--out", folder / "one.csv")
    assert cli(*ask)[0] == 2
    assert cli("--encodings", folder, *ask)[0] == 0  # two options of one name, in two places
    assert (folder / "one.csv").is_file()
    assert "mine" not in encodings.all_encodings()


def test_results_are_those_of_the_weights_and_of_the_formula(
    own: Callable[[str, str], Path],
) -> None:
    path = own("mine.py", SHORT.format(**PLAIN))
    saved(path.parent / "checkpoint", "mine")
    first = catalogue.find(str(path.parent / "checkpoint")).sha256
    own("mine.py", SHORT.format(**PLAIN).replace("-distance", "-2 * distance"))
    encodings._every.cache_clear()  # as another process would begin
    second = catalogue.find(str(path.parent / "checkpoint"))
    assert first != second.sha256
    assert encodings.identity("alibi", "abc") == "abc"


def saved(folder: Path, encoding: str) -> None:
    torch.manual_seed(0)
    folder.mkdir(parents=True)
    model = Transformer(ModelConfig(encoding, 4, 8, 64, 4096, 256, mlp=2))
    native.save(model, folder / "model.safetensors", {})


def test_the_document_holds_from_beginning_to_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Cli
) -> None:
    """Every command of the page, in its order, on a small recipe and made-up text."""
    words = " ".join(str(n * n) for n in range(3000))
    entry = {"source": "a", "licence": "public-domain", "chars": 0, "text": words}
    lines = [json.dumps({**entry, "id": f"a/{s}", "split": s}) for s in ("train", "val")]
    (tmp_path / "corpus.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    small = dict(layers=4, heads=8, width=64, length=256, batch=8, warmup=1, validate_every=2)
    tiny = replace(recipe.load(), **small)
    monkeypatch.setattr(recipe, "load", lambda name="shipped": tiny)
    monkeypatch.setattr(train, "CLOSING_WINDOWS", 4)
    monkeypatch.setattr(train, "BINS", ((1, 15),))
    monkeypatch.setattr(catalogue, "SHIPPED", tmp_path / "checkpoints")
    find = catalogue.find
    monkeypatch.setattr(catalogue, "find", lambda n: find(n, tmp_path / "checkpoints"))
    monkeypatch.setenv("ATLAS_CORPUS", str(tmp_path))
    monkeypatch.delenv(encodings.OWN, raising=False)
    monkeypatch.chdir(tmp_path)
    saved(tmp_path / "checkpoints" / "alibi", "alibi")
    Path("mine").mkdir()
    Path("mine/root.py").write_text(blocks("python")[0], "utf-8")
    done = []
    for line in "".join(blocks("sh")).splitlines():
        if line.startswith("export "):
            monkeypatch.setenv(*line.removeprefix("export ").split("="))
            continue
        program, argv = line.split(" -m viz_core "), shlex.split(line)[3:]
        assert program[0] == "python", line
        status, out, err = cli(*argv)
        assert status == 0, (line, err)
        done.append((argv, out))
    assert len(done) == 7
    assert catalogue.find("root").config.encoding == "root"
    assert {"root.npz", "losses.csv", "curves.pdf", "formula.pdf"} <= {*map(str, Path().iterdir())}
    losses = Path("losses.csv").read_text("utf-8").splitlines()
    assert losses[0].startswith("# python -m viz_core perplexity root alibi")
    assert {line.split(",")[1] for line in losses[2:]} == {"root", "alibi"}
    assert palette.accent("root") == palette.OWN[0]
    assert sys.modules["viz_core_own_encodings.root"].__file__.endswith("root.py")
