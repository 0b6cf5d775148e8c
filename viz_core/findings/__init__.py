"""What the shipped checkpoints say about what is said of position encodings, as Markdown.

Every number comes from the shipped portraits and tables; where a number decides a sentence, the
sentence is chosen by it.
"""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from viz_core import results
from viz_core.errors import AtlasError
from viz_core.findings import claims, grids, used
from viz_core.signatures.portrait import Portrait

MARK = "<!-- Written by `python -m viz_core findings` from checkpoints/results/. -->"


def current() -> str:
    """The page that the shipped results give now. Raises AtlasError where they are missing."""
    portraits = {name: kept.portrait for name, kept in results.portraits().items()}
    table = results.shipped("signatures")
    losses = results.shipped("perplexity-encodings")
    reaches, heads = (results.shipped(f"attribution-{to}") for to in ("distance", "heads"))
    missing = {"alibi", "rope", "t5", "nope", "sinusoidal", "learned"} - set(portraits)
    if missing or any(t.empty for t in (table, losses, reaches, heads)):
        raise AtlasError(
            "Expected portraits, signatures.csv, perplexity-encodings.csv, "
            "attribution-distance.csv and attribution-heads.csv of all six encodings in "
            "checkpoints/results; some are missing, so run `make results`."
        )
    return page(portraits, table, losses, reaches, heads)


def page(
    portraits: Mapping[str, Portrait],
    table: pd.DataFrame,
    losses: pd.DataFrame,
    reaches: pd.DataFrame,
    heads: pd.DataFrame,
) -> str:
    """The page of these portraits, signatures and losses: as trained, cut off and replaced."""
    table = table.assign(layer=pd.to_numeric(table["layer"]))
    found = [*claims.every(portraits, table, losses), *used.every(reaches, heads)]
    one = portraits["alibi"]
    lines = [
        MARK,
        "",
        "# Findings",
        "",
        "Six checkpoints that differ in their position encoding alone, one seed each; attention "
        f"over {one.texts} held-out texts of {one.length:,} tokens, the first {one.sink} keys left "
        "out unless said otherwise. What holds here holds for models of this size and training. A "
        f"head counts where p < {claims.LEVEL:g}; chance does that in {100 * claims.LEVEL:.0f} of "
        "100 heads without any effect. Each statistic, its null and its source: "
        "`viz_core/signatures/`; each head's numbers: "
        "[signatures.csv](../checkpoints/results/signatures.csv).",
        "",
        "| What is said | What was measured |",
        "|---|---|",
        *(f"| {f.claim} | {f.verdict} |" for f in found),
        "",
    ]
    for f in found:
        lines += [f"## {f.claim}", "", f"**{f.verdict}.** {f.text}", ""]
    lines += [*_by_encoding(table), "", *grids.every(reaches, heads)]
    return "\n".join(lines).rstrip() + "\n"


def _by_encoding(table: pd.DataFrame) -> list[str]:
    lines = [
        "## By encoding",
        "",
        "Medians over all heads; in brackets, in how many heads it was found.",
        "",
        "| Encoding | Stairs | Ripple (random) | Position | Reach 90 % | Entropy | Moved |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    for name in table["checkpoint"].unique():
        rows = claims.of(table, name)
        m = rows.median(numeric_only=True)
        lines.append(
            f"| {claims.name(name)} | {m['stairs']:.3f} ({claims.count(table, name, 'stairs')}) "
            f"| {m['ripple']:.2f} ({m['ripple_even']:.2f}; {claims.count(table, name, 'ripple')}) "
            f"| {m['position']:.2f} | {m['reach_90']:.0f} | {m['entropy']:.2f} "
            f"| {rows['shift'].mean():.2f} |"
        )
    return lines
