"""What a person reads on a page that AppTest has drawn, and in which language it is."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from streamlit.testing.v1 import AppTest

from viz_core import encodings, published, texts, variants, words

READ = {"body", "label", "help", "placeholder", "options", "content", "alt"}  # fields of elements
DRAWN = {"text", "name", "hovertemplate", "ticktext"}  # fields of plotly's charts
SWITCH = {*words.LANGUAGES.values(), "Language, 语言"}  # in both languages on every page
# Neither words nor a language: code, formulas, addresses, marks of HTML and of plotly.
UNREAD = r"`[^`]*`|\$[^$]*\$|\]\([^)]*\)|https?://\S+|<style>.*?</style>|%\{[^}]*\}|:\w+/\w+:"
PEOPLE = r"(?:[A-Z][\w-]+(?:, | & ))*[A-Z][\w-]+(?: et al\.)?,? (?:19|20)\d\d"
SCIENTISTS = ("Cauchy–Schwarz", "Theil", "Sen", "Kendall", "Gram", "Hann", "Kazemnejad et al.")
TERMS = (
    "logit",
    "softmax",
    "Python",
    "LongRoPE",
    "Proof-pile",
    "Haviv et al.",
    "LLaMA",
    "Llama",
)


def read(app: AppTest, tables: bool = True) -> list[str]:
    """Every string of the page that a person reads, in order, those of charts included.

    Those at the head of `tables` can be left out.
    """
    some = (e for e in elements(app.main) if tables or e.type != "dataframe")
    found = [text for element in some for text in _strings(element.proto)]
    return [text for text in found if text.strip() and text not in SWITCH]


def elements(block: Any) -> Iterator[Any]:
    """All that is drawn, in order: what has a message, however deep it lies."""
    for child in block.children.values():
        if getattr(child, "proto", None) is not None:
            yield child
        if hasattr(child, "children"):
            yield from elements(child)


def english(said: Iterable[str], names: Iterable[str] = ()) -> list[str]:
    """Words of three letters and more that are neither a name (`names` are some more) nor a term,
    each with what it was found in."""
    known = {*SCIENTISTS, *TERMS, *_names(), *names}
    name = re.compile("|".join(re.escape(n) for n in sorted(known, key=len, reverse=True)))
    found = []
    for text in said:
        rest = re.sub(UNREAD, " ", text, flags=re.DOTALL)
        rest = re.sub(PEOPLE, " ", " ".join([*re.findall(r'title="([^"]*)"', rest), _bare(rest)]))
        left = re.findall(r"(?<![A-Za-z])(?![A-Z]+(?![a-z]))[A-Za-z]{3,}", name.sub(" ", rest))
        found += [f"{word} in {text[:200]!r}" for word in dict.fromkeys(left)]
    return found


def chinese(said: Iterable[str]) -> list[str]:
    """The strings that hold Chinese characters."""
    return [text for text in said if re.search(r"[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]", text)]


def _bare(text: str) -> str:
    return re.sub(r"<[^>]*>", " ", text)


def _names() -> set[str]:
    """Names that stay as they are in every language."""
    rows = published.rows()
    found = {e.name for e in encodings.all_encodings().values()} | set(variants.FACTORS.values())
    found |= {*rows.model, *rows.text, *(s.authors for s in published.SOURCES.values())}
    found -= {"not stated", *(s.authors for s in published.SOURCES.values() if s.year is None)}
    with words.speaking("zh"):  # of works, as they are called
        found |= {t.title for t in texts.available() if t.id.startswith(f"{texts.HELD_OUT}/")}
    return found


def _strings(message: Any) -> Iterator[str]:
    for field, value in message.ListFields():
        several = value if not isinstance(value, str) and hasattr(value, "__iter__") else [value]
        if field.name == "spec":
            yield from _drawn(json.loads(value))
        elif field.name == "columns" and isinstance(value, str):
            yield from (c["label"] for c in json.loads(value).values() if "label" in c)
        elif field.message_type is not None:
            for one in several:
                if hasattr(one, "ListFields"):
                    yield from _strings(one)
        elif field.name in READ:
            yield from (one for one in several if isinstance(one, str))


def _drawn(chart: Any, key: str = "") -> Iterator[str]:
    if isinstance(chart, dict):
        for name, value in chart.items():
            yield from _drawn(value, name)
    elif isinstance(chart, list):
        for value in chart:
            yield from _drawn(value, key)
    elif isinstance(chart, str) and key in DRAWN:
        yield chart
