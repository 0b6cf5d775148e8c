"""The numbers of an encoding in a state dict, held against its formula."""

from __future__ import annotations

from collections.abc import Callable

import torch

from viz_core.encodings.alibi import slopes as reference
from viz_core.encodings.t5 import bucket
from viz_core.readers.description import Finding
from viz_core.readers.script import rotations, slopes
from viz_core.readers.script.survey import Survey
from viz_core.words import mark, say

PAPER = 8.0  # ALiBi's exponent


def findings(found: Survey) -> tuple[Finding, ...]:
    """One finding for the encoding's numbers, where it has any."""
    about: dict[str, Callable[[Survey], Finding]] = {
        "rope": _frequencies,
        "alibi": _slopes,
        "t5": _buckets,
    }
    act = about.get(found.plan.sizes.encoding)
    return () if act is None else (act(found),)


def _frequencies(found: Survey) -> Finding:
    about, sizes = mark("inverse frequencies"), found.plan.sizes
    theta = float(sizes.parameters["theta"])
    formula = f"{theta:,.6g}^(-2k / {sizes.head_dim})"
    if (scaling := sizes.parameters["scaling"]) != "none":
        formula = say("{formula} with {scaling} scaling", formula=formula, scaling=scaling)
    given = found.evidence.given.values()
    if not given:
        words = say("The file has none; those of the formula are used, {formula}.", formula=formula)
        return Finding(about, "unknown", words)
    off = max(rotations.deviation(g, sizes.parameters) for g in given)
    if off <= rotations.CLOSE and found.evidence.factor == 1:
        return Finding(
            about,
            "agrees",
            say("The file's are {formula}, {near}.", formula=formula, near=_to(off)),
        )
    words = say(
        "The file's differ from {formula} by up to {off:.2%}; the file's own are used.",
        formula=formula,
        off=off,
    )
    if (factor := found.evidence.factor) != 1:
        words = say(
            "The file's differ from {formula} by up to {off:.2%}, and it multiplies cosines and "
            "sines by {factor:.6g}; the file's own are used.",
            formula=formula,
            off=off,
            factor=factor,
        )
    return Finding(about, "differs", words)


def _slopes(found: Survey) -> Finding:
    about, heads = mark("ALiBi slopes"), found.plan.sizes.heads
    given = list(found.evidence.given.values())
    exponent = float(found.plan.sizes.parameters["exponent"])
    if not given:
        words = say(
            "The file has none; those of the formula are used, exponent {exponent:g}.",
            exponent=exponent,
        )
        return Finding(about, "unknown", words)
    off = max(slopes.deviation(g, PAPER) for g in given)
    if off <= slopes.CLOSE:
        return Finding(
            about,
            "agrees",
            say("They are the paper's for {heads} heads, {near}.", heads=heads, near=_to(off)),
        )
    if max(slopes.deviation(g, exponent) for g in given) <= slopes.CLOSE:
        words = say(
            "They follow the formula with exponent {exponent:g}; the paper's is {paper:g}.",
            exponent=exponent,
            paper=PAPER,
        )
        return Finding(about, "differs", words)
    first, paper = given[0], reference(heads, PAPER)
    worst = int((first / paper).log().abs().argmax())
    words = say(
        "They aren't the paper's for {heads} heads: that of head {head} is {slope:.4g}, not "
        "{wanted:.4g}; the file's own are used.",
        heads=heads,
        head=worst + 1,
        slope=first[worst],
        wanted=paper[worst],
    )
    return Finding(about, "differs", words)


def _buckets(found: Survey) -> Finding:
    sizes, table = found.plan.sizes, found.evidence.of_layer(0)
    assert table is not None  # without a table there is no T5 bias
    count, farthest = (int(sizes.parameters[n]) for n in ("buckets", "max_distance"))
    place = bucket(torch.arange(farthest + 1), count, farthest, bidirectional=not sizes.causal)
    last = int((place == place.max()).nonzero()[0])
    words = say(
        "The last one begins at distance {last}, for a largest distance of {farthest}; the learned "
        "values run from {low:.3g} to {high:.3g} nats.",
        last=last,
        farthest=farthest,
        low=float(table.min()),
        high=float(table.max()),
    )
    return Finding(mark("T5 buckets"), "note", words)


def _to(off: float) -> str:
    """How near numbers come, in words: single precision itself is off by 6e-8."""
    return say("exactly") if off < 1e-7 else say("to {off:.0e} at most", off=off)
