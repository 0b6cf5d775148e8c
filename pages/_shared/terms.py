"""The words that the pages can't do without, one sentence each: on hover, and all in one list."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from viz_core.words import mark, say


@dataclass(frozen=True)
class Term:
    """What a word means here: its name and one sentence, both marked for translation."""

    name: str
    meaning: str


TERMS = {
    "token": Term(
        mark("Token"),
        mark("A piece of text, a word or a part of one: what a model reads and predicts."),
    ),
    "query": Term(
        mark("Query"), mark("A token that looks at tokens before it; each row of a map is one.")
    ),
    "key": Term(mark("Key"), mark("A token that is looked at; each column of a map is one.")),
    "attention": Term(
        mark("Attention"),
        mark("How a query shares its look among the keys: numbers from 0 to 1 that add up to 1."),
    ),
    "head": Term(
        mark("Head"),
        mark("One attention map of its own; a layer has several, which look for different things."),
    ),
    "layer": Term(
        mark("Layer"),
        mark("One round of attention and computation; layers are stacked and counted from below."),
    ),
    "position encoding": Term(
        mark("Position encoding"),
        mark(
            "How a model learns where tokens stand: by vectors that are added, by turning queries "
            "and keys, or by a bias on their scores."
        ),
    ),
    "checkpoint": Term(
        mark("Checkpoint"),
        mark("A model as it was saved at one step of its training: weights, and how it is built."),
    ),
    "distance": Term(
        mark("Distance"),
        mark("How many tokens a key lies before its query; 0 is the query itself."),
    ),
    "log-attention": Term(
        mark("Log-attention"),
        mark("The natural logarithm of attention: 1 nat more is 2.7 times as much attention."),
    ),
    "logit": Term(
        mark("Logit"),
        mark("A score as it is before the softmax, which makes shares of all scores together."),
    ),
    "window": Term(
        mark("Window"), mark("The part of a map that is shown: some of its queries and keys.")
    ),
    "cell": Term(
        mark("Cell"),
        mark(
            "One square of colour; in a large window it stands for several queries and keys "
            "together."
        ),
    ),
    "slope": Term(
        mark("Slope"),
        mark("How much log-attention changes from one token of distance to the next."),
    ),
    "bucket": Term(
        mark("Bucket"),
        mark("Distances next to each other that share one bias of T5; they widen with distance."),
    ),
    "reach": Term(
        mark("Reach"),
        mark("The distance within which a head spends a share of its attention, mostly 90 %."),
    ),
    "staircase": Term(
        mark("Staircase"),
        mark(
            "ALiBi's heads side by side, each half as steep as the one before; within one head, "
            "stairs are levels with steps between, as T5's bias has them."
        ),
    ),
    "ripple": Term(
        mark("Ripple"),
        mark(
            "Attention that rises and falls with distance again and again, as RoPE's waves make it."
        ),
    ),
    "wavelength": Term(
        mark("Wavelength"),
        mark("How many tokens one turn takes; each pair of channels that RoPE turns has its own."),
    ),
    "sink": Term(
        mark("Sink"),
        mark("The first tokens where they draw much attention for being first, whatever they say."),
    ),
    "induction": Term(
        mark("Induction"),
        mark("To look, from a token that was there before, at what followed it the last time."),
    ),
    "entropy": Term(
        mark("Entropy"),
        mark("How evenly a query spreads its attention: most when all keys get the same."),
    ),
    "trained length": Term(
        mark("Trained length"),
        mark("The longest text, in tokens, that a model read in training; more is extrapolation."),
    ),
    "extrapolation": Term(
        mark("Extrapolation"), mark("Reading texts that are longer than any read in training.")
    ),
    "law": Term(
        mark("Law"),
        mark("The curve by distance that an encoding sets on its own, before anything is learnt."),
    ),
    "row-centred": Term(
        mark("Row-centred"),
        mark("Log-attention less the mean of its row, so that only a query's preference is left."),
    ),
    "null": Term(
        mark("Null"),
        mark("What chance, or attention without preference, would give: a number must beat it."),
    ),
    "uniform attention": Term(
        mark("Uniform attention"),
        mark(
            "The same attention for every key that a query sees: what a head without preference "
            "has."
        ),
    ),
    "p": Term(
        mark("p"),
        mark("How often chance alone gives so clear a number, or a clearer one; small is clear."),
    ),
    "interval": Term(
        mark("Interval"),
        mark("A range so wide that 95 of 100 such ranges hold the true number."),
    ),
    "loss": Term(
        mark("Loss"),
        mark("How surprised a model is by each next token, in nats on average; less is better."),
    ),
    "nat": Term(
        mark("Nat"),
        mark("A unit of surprise, of natural logarithms: 1 nat is a probability of 1 in 2.7."),
    ),
    "perplexity": Term(
        mark("Perplexity"),
        mark("The loss as a number of choices: as if the model guessed among so many tokens."),
    ),
    "attribution": Term(
        mark("Attribution"),
        mark("How much each part of the input, or each head, changed one prediction."),
    ),
}


def of(*names: str) -> str:
    """What the terms `names` mean, a paragraph each: for the `help` of what they stand in."""
    some = (TERMS[name] for name in names)
    return "\n\n".join(
        say("**{name}**: {meaning}", name=say(one.name), meaning=say(one.meaning)) for one in some
    )


def below(*names: str) -> str:
    """The same, below what a help says besides."""
    return f"\n\n{of(*names)}"


def show() -> None:
    """All of them behind a word, at the top of every page."""
    with st.popover(say("Terms"), type="tertiary", key="terms"):
        st.markdown(of(*TERMS))
