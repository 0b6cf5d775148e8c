"""What Encodings says of its pictures: stand-ins, formulas and their sources, by encoding."""

from __future__ import annotations

from viz_core.encodings import Encoding
from viz_core.words import mark, say

HOW = mark("How this is computed")
MAP = mark(
    r"$A_{ij} = e^{b(i-j)} / \sum_{k \leq i} e^{b(i-k)}$ for keys $j \leq i$: the softmax of "
    "attention (Vaswani et al. 2017, section 3.2.1) with logits $b$ that know the distance alone. "
    "A cell of several tokens shows the mean of its pairs. What training would fill in has a "
    "stand-in, which the caption names; an encoding that is nothing but trained numbers has none."
)
WHERE = {
    "nothing": mark("nothing; only the causal mask is there"),
    "embeddings": mark("the token vectors, once, before the first layer"),
    "logits": mark("the attention logits of every layer"),
    "queries and keys": mark("the queries and keys of every layer; values stay as they are"),
}
CURVE = {
    "nope": mark(
        r"$b(d) = 0$ (Kazemnejad et al. 2023): attention is $1/(i+1)$ on each of a query's "
        "keys."
    ),
    "sinusoidal": mark(
        r"$b(d) = \mathrm{PE}_p \cdot \mathrm{PE}_{p-d} / \sqrt{d_{model}} = "
        r"\sum_k \cos(d\,\theta_k) / \sqrt{d_{model}}$, a row of the Gram matrix (Vaswani et al. "
        "2017, section 3.5). A trained head multiplies by its own projections, after which the two "
        "positions count, not their distance alone."
    ),
    "t5": mark(
        r"$b(d)$ is the table's entry for the bucket of $d$, level within a bucket (Raffel et "
        "al. 2020, section 2.1)."
    ),
    "alibi": mark(
        r"$b(d) = -m_h\,d$, not divided by $\sqrt{D}$ (Press et al. 2022, section 3 and "
        "footnote 10)."
    ),
    "rope": mark(
        r"$b(d) = t^2 \sum_k \cos(d\,\theta_k) / \sqrt{D}$, $t$ being YaRN's factor, 1 for "
        "others (Su et al. 2021, section 3.4.2). Dashed, where nothing is scaled: $\\frac{2}{D} "
        r"\sum_j |S_j(d)|$, $S_j = \sum_{k<j} e^{\mathrm{i} d\,\theta_k}$, the factor of the upper "
        "bound of their section 3.4.3, scaled to start with the curve. Other q and k score highest "
        "at any distance one likes, and random ones 0 on average at every distance (Barbero et al. "
        "2024, propositions 3.1 and 3.2)."
    ),
    "prope": mark(
        r"$b(d) = \sum_k \cos(d\,\theta_k) / \sqrt{D}$, where $\theta_k = 0$ from pair "
        r"$\lfloor pD/2 \rfloor$ on: those add the same at every distance (Barbero et al. 2024, "
        "section 6.1)."
    ),
    "xpos": mark(
        r"$b(d) = \sum_k \zeta_k^{d/B} \cos(d\,\theta_k) / \sqrt{D}$, "
        r"$\zeta_k = (2k/D + 0.4) / 1.4$ (Sun et al. 2023): the fastest pair is down to "
        "half after 0.55 B tokens."
    ),
    "kerple": mark(
        r"$b(d) = -r_1 \ln(1 + r_2 d)$, or $-r_1 d^{\,r_2}$ with $r_2 \leq 2$ (Chi et al. "
        "2022). A trained head has numbers of its own; a power of 1 is ALiBi's line with "
        "a learned slope."
    ),
    "sandwich": mark(
        r"$b(d) = \frac{H}{8h} (\sum_k \cos(d / 10000^{2k/d'}) - d'/2)$, "
        r"$k = 0 \ldots d'/2 - 1$ (Chi et al. 2023): the Gram matrix of sinusoidal vectors "
        "without their content, steepest in the first head."
    ),
}
_WAVES = mark(
    r"$\lambda_k = 2\pi/\theta_k$, $\theta_k = b^{-2k/D}$ (Su et al. 2021, section 3.2.2). "
    r"A pair turns $L/\lambda_k$ times within the trained length."
)
_TURNING = ("prope", "rope", "xpos")  # encodings of which that holds
PARTS = {
    "alibi": mark(
        r"Without content, a query with keys without end gives $1 - e^{-md}$ of its attention "
        r"to the $d$ nearest of them, so a share $p$ lies within $-\ln(1-p)/m$: the half-life is "
        r"$\ln 2 / m$. Slopes are those of the authors' `get_slopes`: for a number of heads that "
        "is no power of two, those of the power below and every other one of the power above "
        "(Press et al. 2022, section 3)."
    ),
    "t5": mark(
        r"With $B$ buckets, distance $d < B/2$ is bucket $d$; from there on "
        r"$\frac{B}{2} + \lfloor \frac{B}{2} \ln\frac{d}{B/2} / \ln\frac{D_{max}}{B/2} \rfloor$, "
        "at most $B-1$: the causal form of T5's own code (Raffel et al. 2020, section 2.1, and "
        "mesh-tensorflow)."
    ),
    "rope": mark(
        r"PI divides every $\theta_k$ by "
        r"$s$ (Chen et al. 2023, eq. 4); NTK takes the base $b\,s^{D/(D-2)}$ (Peng et al. 2023, "
        r"definition 1), dynamic NTK $b\,(s\max(1,N/L) - s + 1)^{D/(D-2)}$ as transformers has it; "
        "YaRN keeps the fast pairs, divides the slow ones by $s$ and blends in between by pair, as "
        "its authors' code does, not by turns, as its paper says; Llama 3.1 blends by turns, from "
        "1 to 4 of them."
    ),
    "prope": mark(
        r"Of RoPE's $D/2$ pairs the $\lfloor pD/2 \rfloor$ fastest turn, and they "
        "alone are drawn: the others have no wavelength (Barbero et al. 2024, section 6.1 and "
        "appendix D)."
    ),
    "xpos": mark(
        r"Pair $k$ also shrinks to $\zeta_k = (2k/D + 0.4)/1.4$ of its part in the "
        r"score over each $B$ tokens of distance: to half after $-B \ln 2 / \ln \zeta_k$ (Sun et "
        "al. 2023)."
    ),
    "sinusoidal": mark(
        r"$\mathrm{PE}_p \cdot \mathrm{PE}_q = \sum_k \cos((p-q)\,b^{-2k/d})$; divided "
        "by $d/2$, the squared length of every such vector, it is the cosine of the angle between "
        "two (Vaswani et al. 2017, section 3.5)."
    ),
}


def formula(card: Encoding) -> str:
    """The card's formula, a line for each of its parts: a narrow page holds no longer one."""
    return r"\begin{gathered}" + card.latex.replace(r",\quad ", r"\\[0.6em] ") + r"\end{gathered}"


def parts(card: Encoding) -> str:
    """How the picture of what an encoding is made of is computed; its law, where it has none."""
    said = [say(_WAVES)] if card.id in _TURNING else []
    return "\n\n".join([*said, say(PARTS.get(card.id, card.law))])


def untrained(card: Encoding) -> str:
    """Why there is no map of an encoding that is nothing but trained numbers."""
    return say(
        "**{encoding}**: all its numbers are trained, so without a checkpoint there is nothing to "
        "show; a random start is no result. Compare shows what a trained one does.",
        encoding=card.name,
    )


def bare(card: Encoding, numbers: int, drawn: bool) -> str:
    """Why an encoding has no picture of its parts; `numbers` are those that training sets, and
    `drawn` says whether its curve is there."""
    if card.acts_on == "nothing":
        return say("Nothing: the causal mask is all there is.")
    if not drawn:
        return say(
            "{n:,} trained numbers; without a checkpoint there is nothing to draw.", n=numbers
        )
    if not numbers:
        return say("Its curve by distance is all there is.")
    return say(
        "Its curve by distance is all there is. Training sets {n:,} numbers of it.", n=numbers
    )
