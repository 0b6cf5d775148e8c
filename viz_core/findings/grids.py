"""Losses with attention cut off, and with heads replaced, as tables of the page."""

from __future__ import annotations

import pandas as pd

from viz_core.findings import losses
from viz_core.findings.claims import name
from viz_core.findings.losses import BEYOND, FAR


def every(reaches: pd.DataFrame, heads: pd.DataFrame) -> list[str]:
    """Both tables in short, as Markdown: loss against reach, and each head's importance."""
    return [*_reach_table(reaches), *_head_table(heads)]


def _reach_table(reaches: pd.DataFrame) -> list[str]:
    trained, longest = losses.trained(reaches), int(reaches["length"].max())
    lines = [
        "## Loss against reach",
        "",
        "Loss with attention past a distance cut off in all heads, less the loss without a cut, "
        f"nats per token, means over {losses.texts(reaches)} held-out texts; intervals, and the "
        "same with the first keys kept: "
        "[attribution-distance.csv](../checkpoints/results/attribution-distance.csv).",
    ]
    for length, place in ((trained, FAR), (longest, BEYOND)):
        rows = reaches[(reaches["length"] == length) & (reaches["place"] == place)]
        rows = rows[(rows["kept"] == 0) & (rows["reach"] < length)]
        wide = rows.pivot_table(index="checkpoint", columns="reach", values="difference")
        lines += [
            "",
            f"At {losses.targets(rows.iloc[0])}, in texts of {length:,} tokens ({place}):",
            "",
            f"| Encoding | {' | '.join(f'{int(r):,}' for r in wide.columns)} |",
            f"|---|{'--:|' * len(wide.columns)}",
            *(
                f"| {name(str(c))} | {' | '.join(f'{v:+z.3f}' for v in wide.loc[c])} |"
                for c in wide.index
            ),
        ]
    return [*lines, ""]


def _head_table(heads: pd.DataFrame) -> list[str]:
    trained = losses.trained(heads)
    first = losses.single(heads, "alibi", trained, FAR, "zero")
    columns = sorted(first["head"].unique())
    lines = [
        "## Importance of each head",
        "",
        f"What the loss at {losses.targets(first.iloc[0])} gains, in thousandths of a nat per "
        f"token, where one head moves nothing (zero ablation); means over {losses.texts(heads)} "
        f"held-out texts of {trained:,} tokens; bold where the 95 % interval over texts lies above "
        "0. Other replacements and places, and the intervals: "
        "[attribution-heads.csv](../checkpoints/results/attribution-heads.csv).",
        "",
        f"| Encoding, layer | {' | '.join(f'Head {h}' for h in columns)} |",
        f"|---|{'--:|' * len(columns)}",
    ]
    for checkpoint in losses.names(heads):
        rows = losses.single(heads, checkpoint, trained, FAR, "zero")
        for layer, some in rows.groupby("layer"):
            cells = [_thousandths(row) for _, row in some.sort_values("head").iterrows()]
            lines.append(f"| {name(checkpoint)}, {layer} | {' | '.join(cells)} |")
    return [*lines, ""]


def _thousandths(row: pd.Series) -> str:
    value = f"{1000 * row['difference']:.1f}".replace("-", "−")
    return f"**{value}**" if row["difference_low"] > 0 else value
