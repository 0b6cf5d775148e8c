"""The claims one by one: what was measured of each, and the account of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from viz_core import encodings
from viz_core.signatures import kinds as kinds_
from viz_core.signatures import reach, slope, summary
from viz_core.signatures.portrait import Portrait

LEVEL = 0.05  # p-values below count as found; by chance, so many of a hundred heads are
SINK = 0.3  # probability of the first keys from which a head counts as a sink (Gu et al. 2024)
INDUCTION = 5  # times uniform attention, from which a head counts as one, as in `probes`
Portraits = Mapping[str, Portrait]


class Finding(NamedTuple):
    """One claim, what was measured of it in a few words, and the account."""

    claim: str
    verdict: str
    text: str


def every(portraits: Portraits, table: pd.DataFrame, losses: pd.DataFrame) -> list[Finding]:
    """All findings in the order of the page; `table` are the signatures, layers as numbers."""
    return [
        stairs_across(portraits, table),
        stairs_within(table),
        ripples(table),
        decay_of_rope(portraits, table),
        plain_mean(portraits),
        sinks(table),
        moved(table),
        kinds(table),
        length(losses),
    ]


def of(table: pd.DataFrame, name: str) -> pd.DataFrame:
    return table[table["checkpoint"] == name]


def count(table: pd.DataFrame, name: str, statistic: str) -> str:
    rows = of(table, name)
    return f"{int((rows[f'{statistic}_p'] < LEVEL).sum())} of {len(rows)}"


def name(checkpoint: str) -> str:
    return encodings.get(checkpoint).name


def stairs_across(portraits: Portraits, table: pd.DataFrame) -> Finding:
    alibi = portraits["alibi"]
    layers, heads = alibi.curve.shape[:2]
    number = np.arange(heads, dtype=np.float64)
    far = np.stack([summary.reaches(alibi, layer)[0][:, 1] for layer in range(layers)])
    measured = [reach.progression(row, number) for row in far]
    nominal = reach.reach(reach.geometric(-alibi.nominal, alibi.curve.shape[2]))[:, 1]
    expected = reach.progression(nominal, number)
    error = of(table, "alibi")["slope_error"].abs()
    reaches = ", ".join(f"{x:.0f}" for x in np.median(far, axis=0))
    return Finding(
        "ALiBi decays like a staircase",
        f"Across heads: each reaches {min(m.factor for m in measured):.2f} to "
        f"{max(m.factor for m in measured):.2f} times as far as the one before",
        f"The distance that holds 90 % of a head's attention is {reaches} tokens for heads 1 to "
        f"{heads} (median of {layers} layers). The slopes alone, in a text that ends, give a "
        f"factor of {expected.factor:.2f}; without an end it would be 2. Measured slopes of "
        f"log-attention differ from the set ones by {error.median():.2%} (median of {len(error)} "
        f"heads; at most {error.max():.0%}, in the flattest heads). So the stairs are between the "
        "heads. Within a head there are none: see the next finding.",
    )


def stairs_within(table: pd.DataFrame) -> Finding:
    t5, alibi = of(table, "t5"), of(table, "alibi")
    return Finding(
        "A staircase by distance within a head",
        f"T5's bias: stairs in {count(table, 't5', 'stairs')} heads; ALiBi: in "
        f"{count(table, 'alibi', 'stairs')}",
        "The score compares how much a curve changes at T5's bucket edges with how much it "
        "changes between them: 1 for a perfect staircase, 0 for a line. Its median is "
        f"{t5['stairs'].median():.2f} for T5 and {alibi['stairs'].median():.3f} for ALiBi, whose "
        "heads fall in straight lines. What is called ALiBi's staircase by distance is T5's.",
    )


def ripples(table: pd.DataFrame) -> Finding:
    rope = of(table, "rope")
    found = rope[rope["ripple_p"] < LEVEL]
    by_layer = rope.groupby("layer")["ripple_p"].agg(lambda p: int((p < LEVEL).sum()))
    layers = ", ".join(f"{n} in layer {layer}" for layer, n in by_layer.items())
    rest = table[table["checkpoint"] != "rope"]
    chance = int((rest["ripple_p"] < LEVEL).sum())
    return Finding(
        "RoPE ripples with distance",
        f"Yes, in {count(table, 'rope', 'ripple')} heads, at RoPE's own frequencies",
        f"Waves at RoPE's frequencies explain {found['ripple'].median():.1%} of what is left of "
        "these heads' curves without their trend (median, adjusted); as many random frequencies "
        f"explain {found['ripple_even'].median():.0%}. By layer: {layers}. In the other encodings "
        f"the same frequencies are found in {chance} of {len(rest)} heads, where chance alone "
        f"would find {LEVEL * len(rest):.0f}.",
    )


def decay_of_rope(portraits: Portraits, table: pd.DataFrame) -> Finding:
    rope, portrait = of(table, "rope"), portraits["rope"]
    falling = int((portrait.slope.mean(axis=0) < 0).sum())
    first = rope[rope["layer"] == 1]["position"]
    later = rope[rope["layer"] > 1]["position"]
    return Finding(
        "RoPE makes attention decay with distance",
        f"Not by itself: distance explains {first.median():.0%} of log-attention in the first "
        f"layer and {later.median():.0%} in the others, where it was learnt",
        f"The share of log-attention that distance alone explains, among the {portrait.near} "
        f"nearest keys (adjusted, medians), runs from {rope['position'].min():.0%} to "
        f"{rope['position'].max():.0%} over RoPE's heads. Over all distances {falling} of "
        f"{len(rope)} trained heads fall: what decay there is was learnt. The bound that is often "
        "drawn as RoPE's decay (Su et al. 2021, 3.4.3) limits scores of constant queries and keys; "
        "real heads may peak anywhere.",
    )


def plain_mean(portraits: Portraits) -> Finding:
    nope = portraits["nope"]
    half = nope.curve.shape[2] // 2
    falls = slope.line(np.log(nope.probability[0][:, :half]), nope.pairs[:half]).slope
    fitted = nope.slope.mean(axis=0)[0]
    return Finding(
        "The mean of attention by distance shows how it decays",
        f"It shows a decay of {np.median(falls):.4f} nats per token where there is none",
        "In NoPE's first layer nothing says where a token stands. The plain mean of attention at "
        f"each distance falls all the same, by {-np.median(falls):.4f} nats per token (median of "
        f"{len(falls)} heads, over the nearer half of the distances), because short rows have "
        "larger probabilities and only small distances. That is as steep as ALiBi's flattest head "
        f"({-portraits['alibi'].nominal[-1]:.4f}). With an effect per row the slope is "
        f"{np.median(fitted):+.5f}.",
    )


def sinks(table: pd.DataFrame) -> Finding:
    groups = {c: of(table, c)["sink"] for c in table["checkpoint"].unique()}
    most = max(groups, key=lambda c: groups[c].max())
    each = ", ".join(f"{name(c)} {s.max():.2f}" for c, s in groups.items())
    count = sum(int((s >= SINK).sum()) for s in groups.values())
    even = table["sink_even"].iloc[0]
    return Finding(
        "All encodings grow attention sinks",
        f"{count} of {len(table)} heads give the first keys {SINK:.0%} or more; the largest share "
        f"is {groups[most].max():.0%}, in {name(most)}",
        f"The largest share of any head by encoding: {each}; uniform attention has {even:.3f}. "
        "Sinks grow with size and training, and need a text's true start: here they are weak at "
        "most, so these checkpoints neither show nor refute them.",
    )


def moved(table: pd.DataFrame) -> Finding:
    shift = table.groupby("checkpoint", sort=False)["shift"].mean()
    absolute = [c for c in shift.index if shift[c] > 1e-4]
    words = " and ".join(f"{shift[c]:.0%} ({name(c)})" for c in absolute)
    rest = shift.drop(absolute).max()
    return Finding(
        "Relative encodings don't care where a text stands",
        f"Moved by 100 positions, {words} of attention goes elsewhere; in the others nothing",
        "Half the sum of the absolute changes of each query's attention, as a mean over queries "
        f"and heads. In the relative encodings it is {rest:.0e} at most: rounding. So learned and "
        "sinusoidal positions are not read as distances alone, although the product of two "
        "sinusoidal vectors depends on their distance only: the projections undo that.",
    )


def kinds(table: pd.DataFrame) -> Finding:
    counts = pd.crosstab(table["checkpoint"], table["kind"])
    kinds = [k for k in counts.columns if k != "mixed"]
    mixed = int(counts["mixed"].sum())
    words = "; ".join(
        f"{name(c)}: " + ", ".join(f"{counts.loc[c, k]} {k}" for k in kinds if counts.loc[c, k])
        for c in counts.index
        if any(counts.loc[c, k] for k in kinds)
    )
    best = (table["induction"] / table["induction_even"]).max()
    induction = "No head" if best < INDUCTION else "Some head"
    return Finding(
        "Heads specialise",
        f"{len(table) - mixed} of {len(table)} heads have a clear kind, most often "
        f"{counts[kinds].sum().idxmax()}",
        f"{words}. The rest mix several. A kind counts where it stands {kinds_.LEAST:g} above "
        f"uniform attention (as a share of what is possible) and {kinds_.LEAD:g} above the next. "
        f"{induction} matches prefixes {INDUCTION} times as often as uniform attention would; the "
        f"best does {best:.1f} times.",
    )


def length(losses: pd.DataFrame) -> Finding:
    rows = losses[(losses["protocol"] == "fixed-targets") & (losses["setting"] == "")]
    wide = rows.pivot_table(index="checkpoint", columns="length", values="loss")
    trained, longest = 512, max(wide.columns)
    change = (wide[longest] - wide[trained]).dropna().sort_values()
    words = ", ".join(f"{name(str(c))} {v:+.3f}" for c, v in change.items())
    return Finding(
        "ALiBi extrapolates, RoPE doesn't",
        f"From {trained} to {longest:,} tokens of context the loss changes by "
        f"{change['alibi']:+.3f} (ALiBi) and {change['rope']:+.3f} nats (RoPE)",
        f"The same target tokens, with more text before them: {words} nats; learned positions have "
        "no value there. ALiBi isn't harmed by the longer context and gains next to nothing from "
        "it: its steep heads can't see that far, and the flat ones are few. RoPE's loss under "
        "scalings without retraining stands on the Extrapolation page.",
    )
