"""SVG that looks the same where STIX isn't installed: the letters that it uses go with it.

Text stays text: it can be searched, and edited with any face.
"""

from __future__ import annotations

import base64
import io
import re
from html import unescape

from fontTools.subset import Options, Subsetter  # type: ignore[import-untyped]
from fontTools.ttLib import TTFont  # type: ignore[import-untyped]
from matplotlib.font_manager import FontProperties, findfont

from viz_core.render.paper import style

WEIGHTS = {"normal": 400, "bold": 700}
# Programs that take no face from a file fall back to one of its kind.
_FALLBACK = f"'{style.FACE}', 'STIX Two Text', 'Times New Roman', Times, serif"
_TEXT = re.compile(rb"<text[^>]*>([^<]*)</text>")


def with_letters(svg: bytes) -> bytes:
    """matplotlib's SVG with its face, cut to the letters of its texts."""
    letters = "".join(sorted(set(unescape(b"".join(_TEXT.findall(svg)).decode()))))
    faces = "".join(
        f"@font-face{{font-family:'{style.FACE}';font-weight:{number};"
        f"src:url(data:font/ttf;base64,{_subset(weight, letters)})}}\n"
        for weight, number in WEIGHTS.items()
    )
    named = svg.replace(f"'{style.FACE}'".encode(), _FALLBACK.encode())
    head, mark, rest = named.partition(b"<defs>\n")
    return head + mark + f'  <style type="text/css">\n{faces}</style>\n'.encode() + rest


def _subset(weight: str, letters: str) -> str:
    """The face in `weight` with these letters alone, as base64."""
    path = findfont(FontProperties(family=style.FACE, weight=weight))
    with TTFont(path, recalcTimestamp=False) as font:
        options = Options(hinting=False, notdef_outline=True)
        options.drop_tables += ["FFTM"]  # FontForge's dates
        cutter = Subsetter(options)
        cutter.populate(text=letters)
        cutter.subset(font)
        out = io.BytesIO()
        font.save(out)
    return base64.b64encode(out.getvalue()).decode("ascii")
