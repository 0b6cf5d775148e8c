"""What of attention is used: losses with attention cut off by distance, and with heads replaced."""

from __future__ import annotations

import pandas as pd

from viz_core.findings import losses
from viz_core.findings.claims import Finding, name
from viz_core.findings.losses import BEYOND, FAR

NEAR_SHARE = 4  # attention past L / 4 counts as far
LITTLE = 0.01  # nats per token: a cut that costs less at every longer reach is hardly missed
FAILS = 0.1  # nats per token by which the loss rises past the trained length where a model fails
ALIKE = 0.05  # of what attention is worth: a smaller gap is none


def every(reaches: pd.DataFrame, heads: pd.DataFrame) -> list[Finding]:
    """The findings, from attribution-distance.csv and attribution-heads.csv."""
    return [
        far_ripples(reaches),
        unseen_distances(reaches),
        flattest_head(reaches, heads),
        position_alone(reaches, heads),
    ]


def far_ripples(reaches: pd.DataFrame) -> Finding:
    trained = losses.trained(reaches)
    cut = trained // NEAR_SHARE
    needed = "; ".join(f"{name(c)} {_enough(reaches, c, trained):,}" for c in losses.names(reaches))
    worth = {c: losses.cut(reaches, c, trained, cut) for c in losses.names(reaches)}
    more = "; ".join(
        f"{name(c)} {losses.interval(row)}"
        for c, row in worth.items()
        if row["difference_low"] > LITTLE
    )
    rope = worth["rope"]
    return Finding(
        "RoPE's far ripples carry information",
        f"{_worth(rope)}: without attention past {cut:,} tokens the loss at {losses.targets(rope)} "
        f"changes by {losses.interval(rope)} nats",
        f"Over {losses.texts(reaches)} held-out texts, with that attention cut off in all heads; "
        f"in brackets 95 % intervals. The shortest reach that costs less than {LITTLE:g} nats "
        f"there, itself and every longer one (means): {needed} tokens. Attention past {cut:,} "
        f"tokens is surely worth more than that in {more or 'none of the encodings'}. Through "
        "several layers influence still travels further than a reach, and texts of another kind "
        "may ask for more.",
    )


def unseen_distances(reaches: pd.DataFrame) -> Finding:
    trained, longest = losses.trained(reaches), int(reaches["length"].max())
    cuts = {
        c: losses.cut(reaches, c, longest, trained, BEYOND) for c in losses.names(reaches, longest)
    }
    whole = {c: losses.cut(reaches, c, longest, longest, BEYOND)["loss"] for c in cuts}
    at = losses.cut(reaches, "rope", trained, trained)
    others = "; ".join(
        f"{name(c)} {losses.interval(row)}" for c, row in cuts.items() if c != "rope"
    )
    rope = cuts["rope"]
    failing = [
        name(c)
        for c in cuts
        if whole[c] - losses.cut(reaches, c, trained, trained)["loss"] > FAILS
        and cuts[c]["difference_high"] > 0
    ]
    rest = f" Failing there too, and not helped by it: {_listed(failing)}."
    return Finding(
        "Past the trained length RoPE fails for distances it never saw",
        f"{'Yes' if rope['difference_high'] < 0 else 'Not shown'}: cut at {trained:,} tokens, the "
        f"loss at {losses.targets(rope)} changes by {losses.interval(rope)} nats",
        f"With all of its attention RoPE's loss there is {whole['rope']:.3f} nats; with none past "
        f"{trained:,} tokens it is {rope['loss']:.3f}, and at {losses.targets(at)} it was "
        f"{at['loss']:.3f} (other tokens of the same texts). The same cut in the others: {others}."
        f"{rest * bool(failing)}",
    )


def flattest_head(reaches: pd.DataFrame, heads: pd.DataFrame) -> Finding:
    trained = losses.trained(reaches)
    every = losses.single(heads, "alibi", trained, FAR, "zero")
    last = every["head"].max()
    flat = every[every["head"] == last]
    best = flat.loc[flat["difference"].idxmax()]
    medians = every.groupby("head")["difference"].median()
    by_head = ", ".join(f"{v:.3f}" for v in medians)
    cut = trained // NEAR_SHARE
    past = losses.cut(reaches, "alibi", trained, cut)
    sure = int((flat["difference_low"] > 0).sum())
    return Finding(
        f"ALiBi's head {last} buys long range",
        f"At most {best['difference']:.3f} nats: the loss without it, in layer "
        f"{best['layer']}, is {losses.interval(best)} higher",
        f"Without head 1 to {last}, each alone, the loss at {losses.targets(best)} rises by "
        f"{by_head} nats (medians of {len(flat)} layers). Head {last} has the flattest slope and "
        f"the longest reach; that it is of any use is beyond chance in {sure} of {len(flat)} "
        f"layers, and what it gives need not be far: all of ALiBi's attention past {cut:,} tokens "
        f"is worth {losses.interval(past)} nats."
        f"{' The far steps of the staircase are there and hardly used.' * (_worth(past) != 'Yes')}",
    )


def position_alone(reaches: pd.DataFrame, heads: pd.DataFrame) -> Finding:
    trained, longest = losses.trained(reaches), int(reaches["length"].max())
    keeps, rises, blind = list[str](), list[str](), list[str]()
    for checkpoint in losses.names(reaches):
        zero, uniform, position = (
            losses.together(heads, checkpoint, trained, FAR, r)["difference"]
            for r in ("zero", "uniform", "position")
        )
        keeps.append(f"{name(checkpoint)} {1 - position / zero:.0%} ({1 - uniform / zero:.0%})")
        if abs(uniform - position) < ALIKE * zero:
            blind.append(name(checkpoint))
    for checkpoint in losses.names(reaches, longest):
        inside = losses.cut(reaches, checkpoint, trained, trained)["loss"]
        outside = losses.cut(reaches, checkpoint, longest, longest, BEYOND)["loss"]
        alone = [
            losses.together(heads, checkpoint, n, place, "position")["loss"]
            for n, place in ((trained, FAR), (longest, BEYOND))
        ]
        rises.append(f"{name(checkpoint)} {outside - inside:+z.3f} ({alone[1] - alone[0]:+z.3f})")
    rope = losses.together(heads, "rope", trained, FAR, "position")
    none = losses.together(heads, "rope", trained, FAR, "zero")
    unplaced = f" In {_listed(blind)} both are alike: position has no part in it."
    past = losses.together(heads, "rope", longest, BEYOND, "zero")
    return Finding(
        "What far tokens need of attention is its position",
        f"{1 - rope['difference'] / none['difference']:.0%} of it in RoPE: with every head's "
        f"attention by distance alone the loss rises by {losses.interval(rope)} nats, with none at "
        f"all by {losses.interval(none)}",
        "Each head keeps its mean curve by distance and forgets what the tokens say. Of what "
        f"attention is worth at {losses.targets(rope)}, that keeps (in brackets: attention alike "
        f"to all keys): {', '.join(keeps)}."
        f"{unplaced * bool(blind)} From there to {losses.targets(past)}, in texts of {longest:,} "
        "tokens, the loss changes by (in brackets: by distance alone): "
        f"{', '.join(rises)} nats; the targets are other tokens, for all encodings the same ones.",
    )


def _enough(reaches: pd.DataFrame, checkpoint: str, length: int) -> int:
    """The shortest reach from which on no cut costs more than LITTLE."""
    rows = losses.of(reaches, checkpoint, length, FAR)
    rows = rows[rows["kept"] == 0].sort_values("reach")
    missed = rows[rows["difference"] >= LITTLE]["reach"]
    return int(rows[rows["reach"] > (missed.max() if len(missed) else 0)]["reach"].iloc[0])


def _worth(row: pd.Series) -> str:
    """What the cost of a cut says of what was cut."""
    if row["difference_low"] <= 0:
        return "Not measurably"
    return "Hardly" if row["difference"] < LITTLE else "Yes"


def _listed(words: list[str]) -> str:
    return f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else "".join(words)
