"""Every page in Chinese: no words of English are left but names, and Streamlit's own."""

from __future__ import annotations

import re

import pytest

from tests.browser.visits import PAGES, Visits, Word
from viz_core import published
from viz_core.encodings import all_encodings
from viz_core.words import LANGUAGES

pytestmark = pytest.mark.browser

# What Streamlit writes itself, in English alone: no parameter and no style sheet reaches it.
STREAMLIT = (
    "App pages",
    "Browse files",
    "Choose an option",
    "Clear all",
    "Clear value",
    "Close",
    "close icon",
    "Collapse sidebar",
    "Copy to clipboard",
    "Decrement",
    "Dismiss",
    "Download as CSV",
    "Drag and drop file here",
    "Drag and drop files here",
    "Expand sidebar",
    "Fullscreen",
    "Help",
    "Help for",
    "Increment",
    "Open",
    "Press Ctrl+Enter to apply",
    "Press Enter to apply",
    "Press ⌘+Enter to apply",
    "Remove",
    "Search",
    "Selected values",
    "Show/hide columns",
    "Sidebar",
    "Skip to main content",
    "Upload",
    "file upload",
    "per file",
)
# Names, which have no translation, and what is written the same in Chinese papers.
NAMES = (
    *(
        "Language, 语言",
        "Attention Atlas",
        "English",
        "Hugging Face",
        "GitHub",
        "Slurm",
        "TensorBoard",
    ),
    *("Transformer", "Transformers", "transformers", "PyTorch", "NeMo", "mesh-tensorflow"),
    *("Llama", "LLaMA", "GPT", "BERT", "PaLM", "MPT", "BLOOM", "NTK", "YaRN", "NTK-aware"),
    *(
        "dynamic NTK",
        "LongRoPE",
        "Proof-pile",
        "WikiText-103 dev",
        "softmax",
        "logit",
        "logits",
        "Gram",
        "Hann",
        "bootstrap",
    ),
    *("Spearman", "Kendall", "Holm", "Theil–Sen", "Sen", "Cauchy–Schwarz", "RMSNorm"),
    *("RoFormer", "Python", "Okabe", "cos", "sin", "log", "GiB", "MiB", "mean", "max", "median"),
)
# Data of the page, not its words: what a text says, files and commands, ids as a table has them.
DATA = re.compile(
    r"“[^”]*”|`[^`]*`|https?://\S+|[\w*/-]*\.(?:py|pth?|ckpt|csv|md|toml|json|bin|gguf|safetensors|zip)\b|"
    r"\b[a-z0-9]+[_/=~-][a-z0-9_/=~-]+\b|%\{[^}]*\}|"
    r"\b[A-Z0-9]{2,}\b|[A-Z]\w+(?: & [A-Z]\w+| et al\.)"  # abbreviations, and who wrote a paper
)
ENGLISH = re.compile(
    r"[A-Za-z]{3,}(?:[ '-]+[A-Za-z]+)*"
)  # from three letters on: symbols are shorter
TOKENS = ("token", "token asked", "token unread")  # a text, word by word
SHOWN = 12  # of what is left, in the message of a test


def names() -> list[str]:
    """All names that a page may say, longest first, so that none leaves a part of another."""
    cards = all_encodings().values()
    own = [card.name for card in cards]
    papers = [part for c in cards for part in (c.paper.authors, c.paper.title)]
    cited = [part for s in published.SOURCES.values() for part in (s.authors, s.title)]
    every = {*STREAMLIT, *NAMES, *LANGUAGES.values(), *own, *papers, *cited}
    return sorted(every, key=len, reverse=True)


KNOWN = re.compile("|".join(rf"(?<![A-Za-z]){re.escape(name)}(?![A-Za-z])" for name in names()))


def left(word: Word) -> list[str]:
    """The English words that stand in it beside names."""
    if word.of.split(" of ")[-1].strip() in TOKENS:
        return []
    return ENGLISH.findall(DATA.sub(" ", KNOWN.sub(" ", word.text)))


@pytest.mark.parametrize("name", PAGES)
def test_a_page_in_chinese_is_chinese(visits: Visits, name: str) -> None:
    words = visits.in_chinese(name).words
    assert any("一" <= letter <= "鿿" for word in words for letter in word.text)
    found = {f"{word.of}: {word.text[:160]}" for word in words if left(word)}
    more = f"\n… {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    assert not found, "\n".join(sorted(found)[:SHOWN]) + more


def test_english_beside_names_is_seen() -> None:
    assert left(Word("RoPE 的 scaling", "label")) == ["scaling"]
    assert left(Word("Show the map", "label")) == ["Show the map"]
    assert not left(Word("Help for 编码，Su et al. 2021，T5 bias，第 3 头，12 GiB", "label"))
