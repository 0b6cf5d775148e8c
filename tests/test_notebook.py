"""The library in a notebook: the page runs as it stands, and what it shows is the core's own."""

from __future__ import annotations

import ast
import base64
import html
import io
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from PIL import Image

import viz_core
from viz_core import catalogue, decay, notebook, texts
from viz_core.errors import AtlasError, LengthError, UsageError
from viz_core.export import embedded
from viz_core.model import ModelConfig, Transformer
from viz_core.readers import native

ROOT = Path(__file__).parents[1]
DOCUMENT = ROOT / "docs" / "notebook.md"
SETTINGS = ("", "yarn:2")


@pytest.fixture(scope="module", autouse=True)
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Checkpoints of chance weights in place of the shipped ones."""
    folder = tmp_path_factory.mktemp("checkpoints")
    for encoding in ("alibi", "rope", "learned"):
        torch.manual_seed(0)
        model = Transformer(ModelConfig(encoding, 3, 2, 32, 4096, 256, mlp=2))
        with torch.no_grad():
            model.embedding.weight.mul_(50)  # attention that differs from row to row
        (folder / encoding).mkdir()
        native.save(model, folder / encoding / "model.safetensors", {})
    find, shipped = catalogue.find, catalogue.shipped
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(catalogue, "find", lambda name: find(name, folder))
        patch.setattr(catalogue, "shipped", lambda: shipped(folder))
        yield folder


@pytest.fixture(scope="module")
def alibi() -> notebook.Opened:
    return viz_core.open_checkpoint("alibi", device="cpu")


@pytest.fixture(scope="module")
def traced(alibi: notebook.Opened) -> notebook.Traced:
    return viz_core.trace_text(alibi, viz_core.read_text(alibi, length=100))


def shown(block: str, names: dict[str, Any]) -> object:
    """Runs a cell; what its last line is, as a notebook shows it."""
    cell = ast.parse(block)
    last = cell.body.pop() if isinstance(cell.body[-1], ast.Expr) else None
    exec(compile(cell, DOCUMENT.name, "exec"), names)
    if last is None:
        return None
    return eval(compile(ast.Expression(last.value), DOCUMENT.name, "eval"), names)


def test_the_page_runs_from_top_to_bottom(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = DOCUMENT.read_text("utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    names: dict[str, Any] = {}
    cells = [shown(block, names) for block in blocks]
    assert {*viz_core.__all__} - {"Drawing", "Opened", "Traced"} <= {*names}  # all are shown
    assert names["whole"].shape == (512, 512) and names["corner"].shape == (256, 256)
    drawings = [cell for cell in cells if isinstance(cell, notebook.Drawing)]
    assert len(drawings) == 3 and len([c for c in cells if isinstance(c, pd.DataFrame)]) == 7
    assert cells[-1] == [Path("curves.pdf")] and Path("curves.pdf").read_bytes()[:4] == b"%PDF"
    slope = next(c for c in cells if isinstance(c, pd.Series))
    assert slope["law"] == pytest.approx(-(2.0**-4))  # head 1 of the 2 that are here


def test_the_package_is_imported_without_torch() -> None:
    code = "import sys, viz_core; assert 'torch' not in sys.modules; print(dir(viz_core))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True
    )
    assert all(name in done.stdout for name in viz_core.__all__)


def test_names_are_those_of_the_notebook_and_hide_no_module() -> None:
    assert sorted(viz_core.__all__) == sorted(notebook.__all__)
    assert all(getattr(viz_core, name).__doc__ for name in viz_core.__all__)
    modules = {p.stem for p in (ROOT / "viz_core").iterdir()}
    assert not modules & {*viz_core.__all__}
    with pytest.raises(AttributeError, match="no attribute 'open_sesame'"):
        viz_core.open_sesame  # noqa: B018


def test_maps_are_the_core_s_and_count_from_1(traced: notebook.Traced) -> None:
    one = viz_core.map_attention(traced, layer=3, head=2)
    exact = traced.trace.log_attention(2, (0, 100), (0, 100), slice(1, 2)).exp()[0].double()
    np.testing.assert_allclose(np.nan_to_num(one), exact.numpy(), rtol=1e-5, atol=1e-7)
    assert np.isnan(one[np.triu_indices(100, 1)]).all()  # no query sees a later key
    every = viz_core.map_attention(traced, layer=3)
    np.testing.assert_array_equal(every[1], one)
    coarse = viz_core.map_attention(traced, 3, 2, pixels=10)
    assert coarse.shape == (10, 10) and coarse[3, 3] == pytest.approx(np.nanmean(one[30:40, 30:40]))
    part = viz_core.map_attention(traced, 3, 2, rows=(50, 60), columns=(0, 9))
    np.testing.assert_allclose(part, one[50:60, :9], rtol=1e-5)


@pytest.mark.parametrize(
    ("layer", "head", "words"),
    [(0, 1, "a layer from 1 to 3; got 0"), (4, 1, "got 4"), (1, 3, "a head from 1 to 2; got 3")],
)
def test_a_place_that_is_none(traced: notebook.Traced, layer: int, head: int, words: str) -> None:
    for act in (viz_core.map_attention, viz_core.draw_map):
        with pytest.raises(UsageError, match=words):
            act(traced, layer, head)


def test_decay_is_the_core_s_over_the_same_passages(alibi: notebook.Opened) -> None:
    some = viz_core.read_text(alibi, "random", length=128, count=3)
    found = viz_core.measure_decay(alibi, some)
    traces = [viz_core.trace_text(alibi, passage).trace for passage in some]
    curve = decay.by_distance([decay.part(one, 1) for one in traces])
    mine = found[(found.layer == 2) & (found["head"] == 2)]
    np.testing.assert_allclose(mine.log_attention, curve.value[1])
    np.testing.assert_allclose(mine.error, curve.error[1])
    assert mine.pairs.tolist() == curve.pairs.tolist()
    np.testing.assert_allclose(np.diff(mine.law), -(2.0**-8), rtol=1e-4)  # the second of 2 heads
    one = viz_core.measure_decay(alibi, some[:1], layer=2)
    assert one.error.isna().all() and set(one.layer) == {2}
    learned = viz_core.open_checkpoint("learned", device="cpu")
    assert viz_core.measure_decay(learned, some[:1], layer=1).law.isna().all()
    with pytest.raises(LengthError, match="passages of one length in tokens; got 64, 128"):
        viz_core.measure_decay(alibi, [*some, *viz_core.read_text(alibi, length=64)])


def test_a_setting_is_of_every_measurement() -> None:
    plain, slow = (viz_core.open_checkpoint("rope", s, "cpu") for s in SETTINGS)
    text = viz_core.read_text(plain, length=80)
    a, b = (viz_core.map_attention(viz_core.trace_text(x, text), 1, 1) for x in (plain, slow))
    assert not np.allclose(np.nan_to_num(a), np.nan_to_num(b))
    assert repr(slow) == "<RoPE, YaRN s = 2: 3 layers of 2 heads, trained at 256 tokens>"
    losses = viz_core.measure_losses(slow, [256], text="random", documents=1)
    assert losses.setting.tolist() == ["yarn:2"]
    with pytest.raises(UsageError, match="Expected a checkpoint with RoPE"):
        viz_core.open_checkpoint("alibi", "yarn:2")


def test_losses_past_an_end_are_a_note_and_no_number() -> None:
    learned = viz_core.open_checkpoint("learned", device="cpu")
    rows = viz_core.measure_losses(learned, [512, 256], "random", documents=2)
    assert rows.length.tolist() == [256, 512]
    assert rows.loss.notna().tolist() == [True, False]
    assert rows.note[1] == "undefined past its 256 trained positions"
    with pytest.raises(UsageError, match="Expected one length or more"):
        viz_core.measure_losses(learned, [])


def test_a_text_of_one_s_own_may_be_short_and_says_so(alibi: notebook.Opened) -> None:
    (short,) = viz_core.read_text(alibi, own="Not many words here.")
    assert 0 < len(short.ids) < 256 and "fewer than 256" in short.note
    assert viz_core.trace_text(alibi, [short]).length == len(short.ids)
    for wrong in ("a string", ["strings"], []):
        with pytest.raises(UsageError, match="read_text"):
            viz_core.trace_text(alibi, wrong)


def test_a_figure_shows_itself(traced: notebook.Traced) -> None:
    drawing = viz_core.draw_map(traced, 3, 2)
    png = drawing._repr_png_()
    found = re.fullmatch(r'<figure [^>]*><img src="data:image/png;base64,([^"]*)" alt="([^"]+)" '
                         r"[^>]*><figcaption [^>]*>(.+)</figcaption></figure>",
                         drawing._repr_html_())  # fmt: skip
    assert found is not None and base64.b64decode(found[1]) == png
    assert (html.unescape(found[2]), html.unescape(found[3])) == (
        drawing.spec.alt,
        drawing.caption,
    )
    with Image.open(io.BytesIO(png)) as image:
        assert image.width == round(5.5 * 200)
    assert len(drawing.numbers) == 100 * 101 // 2  # a row for each pair
    assert drawing.spec.panels[0].title == "ALiBi, layer 3, head 2"


def test_a_figure_is_saved_at_a_venue_s_width_with_where_it_comes_from(
    traced: notebook.Traced, tmp_path: Path, cli: Any
) -> None:
    drawing = viz_core.draw_map(traced, 3, 2, rows=(50, 100), columns=(0, 50))
    for venue, inches in (("neurips", 5.5), ("icml", 3.25)):
        (path,) = viz_core.save(drawing, tmp_path / "map.png", venue=venue, dpi=100)
        with Image.open(path) as image:
            assert image.width == round(100 * inches)
    (page,) = viz_core.save(drawing, tmp_path / "map.html")
    assert traced.text.sha256 in page.read_text("utf-8")
    status, _, err = cli("figure", "--from", tmp_path / "map.png", "--out", tmp_path / "b.png")
    assert status == 2 and "a text that others can read too" in err  # the hash alone is in it
    with pytest.raises(UsageError, match="a file name that ends in"):
        viz_core.save(drawing, "map.bmp")
    with pytest.raises(AtlasError, match="Could not write"):
        viz_core.save(drawing, tmp_path / "nowhere" / "map.png")


def test_a_ready_figure_is_that_of_the_command(tmp_path: Path, cli: Any) -> None:
    drawing = viz_core.draw("encoding-curves", encodings=["alibi", "xpos"], length=64)
    assert drawing.command.startswith("python -m viz_core figure encoding-curves")
    (mine,) = viz_core.save(drawing, tmp_path / "a.csv")
    ask = ("--encodings", "alibi,xpos", "--length", 64, "--out", tmp_path / "a2.csv")
    assert cli("figure", "encoding-curves", *ask)[0] == 0
    assert mine.read_text().splitlines()[2:] == (tmp_path / "a2.csv").read_text().splitlines()[2:]
    with pytest.raises(UsageError, match="Expected options of encoding-curves"):
        viz_core.draw("encoding-curves", colour="red")


def test_a_figure_keeps_its_language(traced: notebook.Traced, tmp_path: Path) -> None:
    for figure in (
        viz_core.draw("encoding-curves", language="zh"),
        viz_core.draw_map(traced, layer=3, head=2, language="zh"),
    ):
        assert re.search("[\u4e00-\u9fff]", figure.caption)
        assert re.search("[\u4e00-\u9fff]", figure.export.title)
        (path,) = viz_core.save(figure, tmp_path / "figure.csv", venue="acl")
        assert embedded.read(path).target["language"] == "zh"
    with pytest.raises(UsageError, match="Expected a language among en, zh; got 'tlh'"):
        viz_core.draw_map(traced, 1, 1, language="tlh")


def test_a_device_that_is_not_here() -> None:
    with pytest.raises(UsageError, match="Expected a device among cpu"):
        viz_core.open_checkpoint("alibi", device="abacus")


def test_lists_have_what_is_there() -> None:
    assert viz_core.list_checkpoints().id.tolist() == ["alibi", "learned", "rope"]
    assert {"alibi", "kerple", "xpos"} <= {*viz_core.list_encodings().id}
    assert {"curves", "map"} <= {*viz_core.list_figures().id}
    assert texts.MANUAL == "python-docs"
