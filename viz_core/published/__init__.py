"""Perplexities that others published, as quoted, and the places where they disagree.

Reference rows for our own figures: other models, texts and protocols, so their levels can't be
compared with ours, only how they change with length.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

import pandas as pd

from viz_core.published.disagreements import DISAGREEMENTS, Disagreement, Quote
from viz_core.words import mark, say

__all__ = ["DISAGREEMENTS", "SOURCES", "Disagreement", "Quote", "Source", "rows"]

Verified = Literal["paper", "notes", "unverified"]


@dataclass(frozen=True)
class Source:
    """Where figures come from, and whether we have them from the "paper" itself, from "notes" on
    it, or from an article that nobody could check ("unverified"); `year` is None if unknown.

    `note`, and what an article is called, are marked: `words.say` says them.
    """

    authors: str
    year: int | None
    title: str
    url: str
    verified: Verified = "paper"
    note: str = ""

    @property
    def label(self) -> str:
        """Authors and year, as in a legend."""
        return f"{self.authors} {self.year}" if self.year else say(self.authors)


_ARTICLE = mark("As published in the article, which states no protocol: nobody could check it.")

SOURCES: dict[str, Source] = {
    "press-2022": Source(
        "Press, Smith & Lewis",
        2022,
        "Train Short, Test Long: Attention with Linear Biases Enables Input Length Extrapolation",
        "https://arxiv.org/abs/2108.12409",
        note=mark(
            "In non-overlapping chunks, loss falls with length for any model that keeps working: "
            "fewer tokens have little context."
        ),
    ),
    "haviv-2022": Source(
        "Haviv et al.",
        2022,
        "Transformer Language Models without Positional Encodings Still Learn Positional "
        "Information",
        "https://arxiv.org/abs/2203.16634",
        note=mark("At the trained length only."),
    ),
    "kazemnejad-2023": Source(
        "Kazemnejad et al.",
        2023,
        "The Impact of Positional Encoding on Length Generalization in Transformers",
        "https://arxiv.org/abs/2305.19466",
        note=mark("The same last tokens of each document, up to 200, at every length of context."),
    ),
    "chen-2023": Source(
        "Chen et al.",
        2023,
        "Extending Context Window of Large Language Models via Positional Interpolation",
        "https://arxiv.org/abs/2306.15595",
        note=mark("Table 1 after 1,000 steps of fine-tuning; Table 3 by number of steps."),
    ),
    "peng-2023": Source(
        "Peng et al.",
        2023,
        "YaRN: Efficient Context Window Extension of Large Language Models",
        "https://arxiv.org/abs/2309.00071",
    ),
    "xiong-2023": Source(
        "Xiong et al.",
        2023,
        "Effective Long-Context Scaling of Foundation Models",
        "https://arxiv.org/abs/2309.16039",
    ),
    "bai-2023": Source(
        "Bai et al.",
        2023,
        "Qwen Technical Report",
        "https://arxiv.org/abs/2309.16609",
        "notes",
        mark("From notes on the paper: not compared with the paper itself."),
    ),
    "ding-2024": Source(
        "Ding et al.",
        2024,
        "LongRoPE: Extending LLM Context Window Beyond 2 Million Tokens",
        "https://arxiv.org/abs/2402.13753",
    ),
    "barbero-2024": Source(
        "Barbero et al.",
        2024,
        "Round and Round We Go! What makes Rotary Positional Encodings useful?",
        "https://arxiv.org/abs/2410.06205",
        note=mark("At the trained length only."),
    ),
    "article-a": Source(
        mark("Article A"),
        None,
        mark("An article that compares RoPE, its scalings, ALiBi and T5 beyond the trained length"),
        "",
        "unverified",
        _ARTICLE,
    ),
    "article-b": Source(
        mark("Article B"),
        None,
        mark("An article that builds ALiBi and RoPE from scratch"),
        "",
        "unverified",
        _ARTICLE,
    ),
}


@cache
def _table() -> pd.DataFrame:
    # only a perplexity can be missing: elsewhere "" and "none" are values
    file = Path(__file__).with_name("tables.csv")
    found = pd.read_csv(file, keep_default_na=False, na_values={"perplexity": [""]})
    facts = pd.DataFrame(
        [(key, s.authors, s.year, s.title, s.url, s.verified) for key, s in SOURCES.items()],
        columns=["source", "authors", "year", "title", "url", "verified"],
    ).astype({"year": "Int64"})
    return found.merge(facts, on="source", how="left", validate="many_to_one")


def rows() -> pd.DataFrame:
    """One row per published value; the frame is the caller's own. Columns:

    - source: key of SOURCES; authors, year (Int64, NA for the articles), title, url, verified:
      as there; table: which one of the source;
    - model, text: "not stated" where we found none;
    - trained_length: tokens, before any fine-tuning for a greater length;
    - encoding: our id;
    - scaling: "none" or, after a ":" with factor, base or part where the source names it,
      "linear" (PI), "ntk", "dynamic", "yarn", "longrope", "abf"; "theta" (that base from the
      start), "p-rope" and "p-rope-reversed" (that part of the frequencies rotates), "partial"
      (that part of the channels); "logn", "windows", "xpos" are joined to others by "+";
    - tuned: "yes" if fine-tuned for a greater length, "no", or "not stated" (the articles);
    - protocol: "non-overlapping", "sliding-window S=1", "sliding-window S=256", "fixed-targets",
      "in-distribution" (at the trained length only), or "not stated" where we found none;
    - length: tokens that the model reads;
    - bound: ">" where the value is above `perplexity`, "OOM" where memory ran out, else "";
    - perplexity: as quoted, over the model's own tokens; NaN for "OOM".

    Rows that agree in everything but length, bound and perplexity are one curve.
    """
    return _table().copy()
