"""Every format of a figure, the bundle of all, and where each comes from, read back."""

from __future__ import annotations

import io
import json
import re
import shutil
import subprocess
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from viz_core.errors import AtlasError, UnknownName, UsageError
from viz_core.export import KINDS, Export, embedded, gallery, provenance
from viz_core.export.provenance import Provenance, Source
from viz_core.export.target import Target
from viz_core.figures.spec import Axis, Chart, FigureSpec, Heatmap, Line, Scale
from viz_core.render.venues import VENUES

ROOT = Path(__file__).parents[2]
VALUE = np.where(np.tri(16, dtype=bool), np.linspace(-3, 0, 256).reshape(16, 16), np.nan)
MAP = Heatmap(
    *("RoPE </script> & co", "rope", VALUE.astype(np.float32), np.tri(16, dtype=np.int64)),
    *((0, 16), (0, 16), 1, "log10 A", Scale("cividis", -3.0, 0.0, "attention A", ((-1.0, "0.1"),))),
)
CHART = Chart(
    *("Decay", "rope", (Line("a", np.arange(9.0), -np.arange(9.0), "rope", strong=True),)),
    *(Axis("distance (tokens)", (0.0, 9.0)), Axis("nats", (-9.0, 0.0))),
)
CAPTION = "Means over 4 texts; 95 % of <all> & more, 2π / θ."
SOURCE = Provenance(
    figure="decay-grid",
    options={"checkpoints": ["a(b", "c\\d"], "layers": None, "texts": 4},
    target={"venue": "icml", "columns": None, "width": None, "across": None},
    sources=(Source("checkpoint", "a(b", "0f"), Source("text", "held </script> out", "1e")),
    facts={"length": 512, "share": 0.9, "estimator": "row fixed effects: a(i) + b(i - j)"},
    data="5d",
)


def export(**change: object) -> Export:
    spec = FigureSpec((MAP, CHART), CAPTION, "Alt.")
    return replace(Export(spec, "A title", "fig", Target("icml"), SOURCE, 100), **change)


@pytest.fixture(scope="module")
def bundle() -> dict[str, bytes]:
    ((name, data),) = export().files("zip").items()
    assert name == "fig.zip"
    with zipfile.ZipFile(io.BytesIO(data)) as found:
        return {entry: found.read(entry) for entry in found.namelist()} | {"zip": data}


@pytest.mark.parametrize("kind", [k for k in KINDS if k != "tex"])
def test_every_file_gives_its_provenance_back(kind: str, bundle: dict, tmp_path: Path) -> None:
    path = tmp_path / f"moved.{kind}"
    path.write_bytes(bundle["zip"] if kind == "zip" else bundle[f"fig.{kind}"])
    assert embedded.read(path) == SOURCE


def test_the_json_beside_a_figure_does_too(bundle: dict, tmp_path: Path) -> None:
    path = tmp_path / "fig.json"
    path.write_bytes(bundle["provenance.json"])
    assert embedded.read(path) == SOURCE


def test_a_bundle_holds_all_formats_and_what_a_paper_s_source_takes(bundle: dict) -> None:
    names = [f"fig.{kind}" for kind in KINDS if kind != "zip"]
    names += ["fig-grey.png", "fig-img0.png", "caption.txt", "alt.txt", "command.txt"]
    assert set(bundle) >= {*names, "provenance.json"}
    assert bundle["caption.txt"].decode() == f"{CAPTION}\n"
    assert bundle["command.txt"].decode().endswith(" --out fig.pdf\n")
    assert Image.open(io.BytesIO(bundle["fig-grey.png"])).mode == "L"
    assert export().files("zip")["fig.zip"] == bundle["zip"]


def test_the_latex_includes_the_figure_at_its_width_with_caption_and_label() -> None:
    column, both = export().latex(), export(target=Target("icml", 2)).latex()
    own = export(target=Target(width="88.9mm")).latex()
    assert r"\includegraphics[width=\linewidth]{fig.pdf}" in column
    assert r"\begin{figure}[t]" in column and r"\label{fig:fig}" in column
    assert r"95~\% of <all> \& more, 2$\pi$ / $\theta$." in column
    assert r"\begin{figure*}[t]" in both and r"\end{figure*}" in both
    assert r"\includegraphics[width=252.00bp]{fig.pdf}" in own
    assert column.startswith(f"% {SOURCE.command}\n")


def test_a_page_fetches_nothing_and_runs_nothing_of_its_words(bundle: dict) -> None:
    text = bundle["fig.html"].decode()
    own = text.replace(_plotly(), "")
    assert not re.search(r"""(src|href)\s*=|@import|url\(""", own)
    assert own.count("</script>") == own.count("<script")
    assert "RoPE </script>" not in own and "held </script>" not in own
    assert "&lt;all&gt; &amp; more" in own
    assert own.count('class="plotly-graph-div"') == 2


def _plotly() -> str:
    from plotly.offline import get_plotlyjs

    return get_plotlyjs()


def test_the_command_is_all_options_and_draws_it_again() -> None:
    assert SOURCE.words() == ["decay-grid", "--checkpoints=a(b,c\\d", "--texts=4", "--venue=icml"]
    assert SOURCE.command == (
        "python -m viz_core figure decay-grid '--checkpoints=a(b,c\\d' --texts=4 --venue=icml"
    )


def test_the_version_is_the_project_s() -> None:
    assert f'version = "{provenance.VERSION}"' in (ROOT / "pyproject.toml").read_text()
    assert f"version: {provenance.VERSION}" in (ROOT / "CITATION.cff").read_text()


def test_a_target_is_a_venue_or_a_width() -> None:
    assert Target("icml", 2).sheet().width == 486
    assert Target(width="88.9mm", across=2).sheet().across == 2
    with pytest.raises(UsageError, match="Expected the columns of a venue or a width, not both"):
        Target("icml", 2, "88mm").sheet()


def test_other_kinds_are_refused() -> None:
    with pytest.raises(UnknownName, match=r"Expected a format among pdf, .* got 'docx'"):
        export().files("docx")


WHOLE = json.loads(SOURCE.json())


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"%PDF-1.4\n<< /Keywords (not json) >>",
        b"%PDF-1.4\n<< /Keywords ([1, 2]) >>",
        b"%PDF-1.4\n<< /Title (no keywords) >>",
        b"%PDF-1.4\n/Keywords (" + b"[" * 100_000 + b") ",
    ],
)
def test_a_pdf_of_another_kind_is_refused_in_a_sentence(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "other.pdf"
    path.write_bytes(content)
    with pytest.raises(AtlasError, match=r"Expected .* can't be read"):
        embedded.read(path)


@pytest.mark.parametrize("kind", sorted(embedded.FINDERS))
def test_what_is_no_such_file_is_refused_in_a_sentence(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"x.{kind}"
    with pytest.raises(AtlasError, match=r"can't be read \(No such file"):
        embedded.read(path)
    path.write_bytes(bytes(range(256)) * 8)
    with pytest.raises(AtlasError, match="can't be read"):
        embedded.read(path)


def test_files_of_unknown_kinds_and_huge_ones_are_not_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UnknownName, match=r"got '\.exe'"):
        embedded.read(tmp_path / "x.exe")
    monkeypatch.setattr(embedded, "LARGEST", 3)
    (tmp_path / "x.json").write_text(SOURCE.json())
    with pytest.raises(AtlasError, match="it is too large"):
        embedded.read(tmp_path / "x.json")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"program": "Other"}, "another program"),
        ({"format": 99}, "another program or version"),
        ({"figure": 3}, "no text"),
        ({"options": ["a"]}, "facts is missing"),
        ({"options": {"a": {"b": 1}}}, "no word or number"),
        ({"facts": {"a": float("nan")}}, "no word or number"),
        ({"sources": [{"what": "x"}]}, "name"),
        ({"sources": None}, "not iterable"),
    ],
)
def test_provenance_of_another_shape_is_refused(change: dict, reason: str) -> None:
    with pytest.raises(AtlasError, match=rf"provenance in F\.pdf; .*{reason}"):
        provenance.parsed(json.dumps({**WHOLE, **change}), "F.pdf")


def test_the_gallery_shows_each_figure_with_caption_file_and_command() -> None:
    page = gallery.page("Gallery", "About.", [export(), export(name="two", title="A title")])
    assert page.startswith(gallery.MARK)
    assert page.count("## A title") == 1
    for name in ("fig", "two"):
        assert f'<img src="{name}.png" width="312"' in page
        assert f"[{name}.pdf]({name}.pdf)" in page
        assert f"--out {name}.pdf" in page


@pytest.mark.skipif(not shutil.which("pdflatex"), reason="needs a TeX, such as texlive")
def test_latex_sets_every_width_without_an_overfull_box(tmp_path: Path) -> None:
    parts = [r"\documentclass{article}", r"\usepackage{graphicx,pgf}", r"\begin{document}"]
    for venue, columns in [(v.id, c) for v in VENUES.values() for c in v.columns]:
        name, target = f"{venue}{columns}", Target(venue, columns)
        one = export(target=target, name=name)
        for made, content in {**one.files("pdf"), **one.files("pgf"), **one.files("tex")}.items():
            (tmp_path / made).write_bytes(content)
        width = f"{target.sheet().width:.4f}bp"
        parts.append(rf"\hsize={width}\textwidth=\hsize\columnwidth=\hsize\linewidth=\hsize")
        parts.append(rf"\noindent\includegraphics{{{name}.pdf}}\par")
        parts.append(rf"\noindent\input{{{name}.pgf}}\par")
        parts.append(rf"\input{{{name}.tex}}\clearpage")
    (tmp_path / "all.tex").write_text("\n".join([*parts, r"\end{document}"]), encoding="utf-8")
    run = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"]
    said = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, errors="replace")
    assert said.returncode == 0, said.stdout[-2000:]
    assert "Overfull" not in said.stdout
