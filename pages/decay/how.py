"""How each statistic of Decay is computed: formula, null and source, opened on demand."""

from __future__ import annotations

import streamlit as st

from viz_core.signatures import kinds, staircase
from viz_core.signatures.chance import DRAWS
from viz_core.words import mark, say

WORDS = {
    "curves": mark(
        r"""
$\log A_{ij} = \alpha_i + b(i-j)$ is fitted by least squares over all pairs of a query $i$ and a key
$j \le i$: each row has a constant of its own, so that the row's normaliser, and how many keys it
has, drop out. $b$ is known up to a constant. One fit per text; the curve is their mean, its band
two standard errors by text, since pairs of one text share their content.

**Null.** A head without any bias has a level curve. The plain mean of $A$ at each distance does
not: a row of few keys has large probabilities, and small distances alone. The mean logit is taken
before the softmax; it is level too, where rows are alike.

**Laws.** ALiBi's line and T5's table are those of the checkpoint. RoPE's is
$\sum_k |\bar q_k||\bar k_k|\cos(d\,\theta_k+\varphi_k)/\sqrt{D}$ of the head's mean query and mean
key before rotation (Su et al. 2021, 3.4.2), from the same texts. Sinusoidal and learned vectors
have one in the first layer only: their Gram matrix through the head's own projections.
"""
    ),
    "slopes": mark(
        r"""
The slope is the least-squares line of $\log A_{ij}$ on the distance within rows, over all pairs:
the curve's $b(d) = -m\,d$. The interval is Student's over texts. The error is the slope over the
nominal one, less 1.

**Null.** Without any bias the slope is 0, and the interval holds 0 in 19 heads of 20. A slope says
nothing of straightness: any curve that keeps falling has one.

Source: ALiBi's slopes $m_h = 2^{-8h/n}$ are from Press et al. 2022, section 3.
"""
    ),
    "reach": mark(
        r"""
The distance within which a head spends 50, 90 or 99 % of its attention, all queries of a text taken
together. Nominal: the same of attention $\propto e^{-m d}$ over the same queries, without any
content. The factor is the median slope of $\log_2$ reach between all pairs of heads (Theil and
Sen), with Sen's interval (1968).

**Null.** Uniform attention over the keys that each query sees has the same reach in every head: a
factor of 1. The p-value says how often shuffled heads are in as good an order (Kendall).

In a text without end ALiBi's reach doubles from head to head (Press et al. 2022). A text that ends
cuts the flattest heads short, so that the nominal factor here is below 2.
"""
    ),
    "steps": mark(
        r"""
Around each edge of T5's buckets (where both neighbours are at least 3 distances wide) lies a
stretch of equally many distances. Score: the share of the curve's rises and falls in these
stretches that happens at the edges, less what an even spread would have there, over the most it
could be.

**Null.** Each edge is moved, on its own, to any place in its stretch, {draws} times: where a curve
changes smoothly no place is special. Scores nearer than {tie:g} count as equal. At
p ≤ 0.05 one head of 20 passes by chance.

Source: the buckets are those of Raffel et al. 2020 and its code. For encodings without buckets the
usual ones (32, up to 128 tokens) are tested: they should say "no".
"""
    ),
    "ripples": mark(
        r"""
RoPE's score is a sum of waves with the periods $\lambda_k = 2\pi/\theta_k$, one per pair of
channels (Su et al. 2021, 3.4.2). The curve, less its trend (a constant, $d$, $d^2$,
$\ln(1+d)$ and the waves too slow to be told from it), is fitted by cosines and sines of these
frequencies; adjusted $R^2$. The spectrum is the Fourier transform of the same rest under a Hann
window.

**Null.** Every frequency is moved by up to half a step towards a neighbour, {draws} times: as many
waves, as evenly spread. p is the share of them that explain as much. For encodings without rotation
the frequencies of plain RoPE are tested: they should say "no".

**Frequency use.** $|q_k||k_k|$ is the most that pair $k$ can add to a score (Cauchy–Schwarz;
Barbero et al. 2024, section 4); its share of the sum over pairs. Null: all pairs alike.
"""
    ),
    "control": mark(
        r"""
Position interpolation divides every frequency by $s$ (Chen et al. 2023), so each wavelength is $s$
times as long. NTK raises the base to $\theta\,s^{D/(D-2)}$: the fastest pair stays, the slowest is
divided by $s$, those between by $s^{k/(D/2-1)}$. The same weights are run again under each setting.

A head's highest peak, among the pairs that turn fast enough under both settings, should then lie
where the same pair turns now, to within the spectrum's resolution.

**Null.** If ripples were a matter of the text, not of rotation, peaks would stay where they were,
and the trained frequencies would explain the new curves as well as the new ones do.
"""
    ),
    "kinds": mark(
        r"""
Each kind has a score, a mean probability: attention on the token itself, on the one before, on the
2 to {near} before, on those at least half a text away, on the first keys (sink), and, on
random tokens that repeat, on what followed the earlier copy (induction, Olsson et al. 2022).
Excess: what lies above uniform attention, as a share of what could. A head is of the kind with the
largest excess if that is at least {least:g} and leads the next by {lead:g}; otherwise
mixed. The threshold is that of Gu et al. 2024 for sinks.

**Null.** Uniform attention, whose score stands with each.
"""
    ),
    "position": mark(
        r"""
Within each row of the map, the variance of $\log A$ over the near keys; of that, the share that one
curve of distance explains for all rows and texts: adjusted $R^2$. Place in the text counts along:
within a row, place and distance are one.

**Null.** Curves turned upside down at random, text by text, {draws} times: p is how often they
agree as well with each other. Entropy is $-\sum A\log A$ of a row over that of uniform
attention, $\ln$ of the number of keys; uniform attention has 100 %.
"""
    ),
    "shift": mark(
        r"""
All positions of a text move by 100: the same tokens, the same distances. The number is half the sum
of $|A - A'|$ over the keys of a query (total variation), the mean over queries: 0 if nothing
changes, 1 at most. **Null.** Where position acts through distance alone it is 0 up to rounding.
"""
    ),
    "difference": mark(
        r"""
$\overline{\log A'} - \overline{\log A}$, cell by cell, the mean over texts of log-attention under
the new setting less that as trained; curves are row-fixed-effects fits of each. The weights are the
same; queries and keys of higher layers change with what lower layers pass on.

**Null.** The setting as trained: the difference is 0 everywhere.
"""
    ),
}


FIELDS: dict[str, dict[str, object]] = {  # of those that have any
    "steps": {"draws": DRAWS, "tie": staircase.TIE},
    "ripples": {"draws": DRAWS},
    "kinds": {"near": kinds.NEAR, "least": kinds.LEAST, "lead": kinds.LEAD},
    "position": {"draws": DRAWS},
}


def show(name: str) -> None:
    """The text called `name`, folded up."""
    with st.expander(say("How this is computed")):
        st.markdown(say(WORDS[name], **FIELDS.get(name, {})))
