"""SVG that looks the same where STIX isn't installed: the letters that it uses go with it.

Text stays text: it can be searched, and edited with any face.
"""

from __future__ import annotations

import base64
import io
import re
from html import unescape

from fontTools.subset import Options, Subsetter  # type: ignore[import-untyped]

from viz_core.render.paper import letters, style

WEIGHTS = {"normal": 400, "bold": 700}
# Programs that take no face from a file fall back to one of its kind.
_FALLBACK = "'STIX Two Text', 'Times New Roman', Times, serif"
_TEXT = re.compile(rb"<text[^>]*>([^<]*)</text>")


def with_letters(svg: bytes) -> bytes:
    """matplotlib's SVG with its faces, cut to the letters of its texts."""
    used = "".join(sorted(set(unescape(b"".join(_TEXT.findall(svg)).decode()))))
    usual, *others = style.families()
    wanted = [(usual, weight) for weight in WEIGHTS] + [(other, "normal") for other in others]
    faces = "".join(
        f"@font-face{{font-family:'{family}';font-weight:{WEIGHTS[weight]};"
        f"src:url(data:font/ttf;base64,{_subset(family, weight, used)})}}\n"
        for family, weight in wanted
    )
    named = ", ".join(f"'{family}'" for family in (usual, *others))
    svg = svg.replace(named.encode(), f"{named}, {_FALLBACK}".encode())
    head, mark, rest = svg.partition(b"<defs>\n")
    return head + mark + f'  <style type="text/css">\n{faces}</style>\n'.encode() + rest


def _subset(family: str, weight: str, used: str) -> str:
    """The face in `weight` with the letters `used` alone, as base64."""
    path = letters.find(family, weight)
    assert path is not None  # it was found before
    with letters.opened(path) as font:
        options = Options(hinting=False, notdef_outline=True)
        options.drop_tables += ["FFTM"]  # FontForge's dates
        cutter = Subsetter(options)
        cutter.populate(text=used)
        cutter.subset(font)
        out = io.BytesIO()
        font.save(out)
    return base64.b64encode(out.getvalue()).decode("ascii")
