"""A paper for each preset with a figure of ours in it, set by LaTeX: for `make latex` alone.

The classes of the venues can't be shipped; what counts of them here is the width of their text and
of their columns, and the size of their captions.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from viz_core.export.target import Target
from viz_core.render.venues import VENUES

READY = (
    *("staircase-ripples", "extrapolation", "encoding-atlas", "training-curves", "head-wall"),
    *("tray", "decay-grid", "emergence"),
)
FILLER = "Words of a paper stand above and below, as many as fill some lines of a column. " * 12

pytestmark = pytest.mark.skipif(
    not os.environ.get("ATLAS_LATEX"), reason="needs a TeX and its minute: run `make latex`"
)


@pytest.mark.parametrize("venue", VENUES)
def test_a_paper_takes_its_figures_without_an_overfull_box(venue, drawn, tmp_path: Path) -> None:
    known = VENUES[venue]
    first = list(VENUES).index(venue)
    gap = "" if known.column is None else f",columnsep={known.full - 2 * known.column:.4f}bp"
    parts = [
        rf"\documentclass[10pt{'' if known.column is None else ',twocolumn'}]{{article}}",
        rf"\usepackage[textwidth={known.full:.4f}bp,textheight=9in{gap}]{{geometry}}",
        r"\usepackage{graphicx}",
        r"\begin{document}",
    ]
    for i, columns in enumerate(known.columns):
        plate = READY[(first + i) % len(READY)]
        one = drawn(plate, Target(venue, columns))
        for made, content in one.files("pdf").items():
            (tmp_path / made).write_bytes(content)
        parts += [FILLER, one.latex(), FILLER]
    (tmp_path / "paper.tex").write_text("\n".join([*parts, r"\end{document}"]), encoding="utf-8")
    run = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    said = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, errors="replace")
    assert said.returncode == 0, said.stdout[-2000:]
    wrong = [x for x in said.stdout.splitlines() if "Overfull" in x or "Float too large" in x]
    assert not wrong, f"{venue}: {'; '.join(wrong)}"
