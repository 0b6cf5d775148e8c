"""Published figures: known sources, values as typed from the papers, and honest quotations."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import combinations, pairwise

import pandas as pd
import pytest

from viz_core import published
from viz_core.encodings import all_encodings
from viz_core.published import DISAGREEMENTS, SOURCES, Disagreement, Quote
from viz_core.series import ORDER

CURVE = [
    *("source", "table", "model", "text", "trained_length"),
    *("encoding", "scaling", "tuned", "protocol"),
]
SCALING = re.compile(r"(none|linear|ntk|dynamic|yarn|longrope|abf|theta|xpos|logn|windows|partial"
                     r"|p-rope|p-rope-reversed)(:\d+(\.\d+)?)?")  # fmt: skip


@pytest.fixture
def rows() -> pd.DataFrame:
    return published.rows()


def curve(rows: pd.DataFrame, source: str, table: str, **where: object) -> dict[int, float]:
    """Perplexity by length of the one curve that `where` describes."""
    found = rows[(rows.source == source) & (rows.table == table)]
    for column, value in where.items():
        found = found[found[column] == value]
    assert len(found[CURVE].drop_duplicates()) == 1, f"{source}, {table}, {where}: {len(found)}"
    return dict(zip(found.length, found.perplexity, strict=True))


def test_the_table_has_one_value_per_row_in_columns_of_one_type(rows: pd.DataFrame) -> None:
    numbers = {"trained_length": "int64", "length": "int64", "perplexity": "float64"}
    for column in rows:
        if column in numbers:
            assert rows[column].dtype == numbers[column]
        elif column == "year":
            assert rows.year.dtype == "Int64"
        else:
            assert rows[column].map(type).eq(str).all(), column
            assert (rows[column] == rows[column].str.strip()).all(), column
    assert not rows.duplicated([*CURVE, "length"]).any()
    assert (rows.drop(columns=["bound", "url"]) != "").all(axis=None)
    assert len(rows) == 358  # so that none is lost unnoticed


def test_words_are_from_the_documented_lists(rows: pd.DataFrame) -> None:
    assert set(rows.encoding) == set(ORDER) <= set(all_encodings())
    assert set(rows.tuned) == {"yes", "no", "not stated"}
    assert set(rows.verified) == {"paper", "notes", "unverified"}
    assert set(rows.bound) == {"", ">", "OOM"}
    assert set(rows.protocol) == {
        *("non-overlapping", "sliding-window S=1", "sliding-window S=256", "fixed-targets"),
        *("in-distribution", "not stated"),
    }
    for scaling in set(rows.scaling):
        assert all(SCALING.fullmatch(part) for part in scaling.split("+")), scaling
    assert (rows.encoding[rows.scaling != "none"] == "rope").all()
    assert (rows.scaling[rows.encoding != "rope"] == "none").all()


def test_numbers_are_in_a_possible_range(rows: pd.DataFrame) -> None:
    assert (rows.perplexity.isna() == (rows.bound == "OOM")).all()
    assert rows.perplexity.dropna().between(1, 10_000).all()
    assert (rows.trained_length > 0).all() and (rows.length > 0).all()
    own = rows[rows.protocol == "in-distribution"]
    assert (own.length == own.trained_length).all() and (own.tuned == "no").all()
    assert (rows.length[rows.tuned == "yes"] >= 2048).all()


def test_every_source_is_known_and_used(rows: pd.DataFrame) -> None:
    assert set(rows.source) == set(SOURCES)
    for key, source in SOURCES.items():
        assert source.authors and source.title and source.label
        if source.verified == "unverified":
            assert not source.url and source.year is None
        else:
            assert re.fullmatch(r"https://arxiv\.org/abs/\d{4}\.\d{5}", source.url)
            assert source.label == f"{source.authors} {source.year}"
            assert key.endswith(str(source.year)) and source.year is not None
            assert 0 <= source.year - 2000 - int(source.url[22:24]) <= 1  # a paper may be revised
    assert (rows.year.isna() == (rows.verified == "unverified")).all()


def test_only_the_articles_are_unverified_and_they_name_no_protocol(rows: pd.DataFrame) -> None:
    articles = rows.source.isin(["article-a", "article-b"])
    assert ((rows.verified == "unverified") == articles).all()
    assert (rows[articles][["protocol", "model", "text", "tuned"]] == "not stated").all(axis=None)
    assert set(rows.source[rows.verified == "notes"]) == {"bai-2023"}


def test_a_caller_cannot_change_the_table_for_others() -> None:
    mine = published.rows()
    mine["perplexity"] = 0.0
    assert published.rows().perplexity.dropna().min() > 1


# source, table, what else picks the curve, some of its values by length
KNOWN: list[tuple[str, str, dict[str, object], dict[int, float]]] = [
    ("press-2022", "Table 2", {"encoding": "sinusoidal"}, {512: 20.05, 1012: 43.54, 15512: 406.01}),
    ("press-2022", "Table 2", {"encoding": "rope"}, {712: 19.79, 2512: 31.58, 15512: 79.25}),
    ("press-2022", "Table 2", {"encoding": "t5"}, {1112: 18.77, 3512: 22.91, 8512: 43.08}),
    ("press-2022", "Table 2", {"encoding": "alibi"}, {612: 19.38, 4512: 18.41, 15512: 18.31}),
    ("press-2022", "Table 4", {"encoding": "t5"}, {3072: 18.01, 6072: 17.68, 12072: 18.93}),
    ("press-2022", "Table 5", {"encoding": "alibi", "trained_length": 256}, {3072: 19.03}),
    ("press-2022", "Table 5", {"encoding": "sinusoidal", "trained_length": 1536}, {1536: 19.05}),
    ("press-2022", "Table 13", {}, {512: 18.35, 1536: 264.74, 3072: 360.12}),
    ("press-2022", "Table 15", {"trained_length": 1024}, {1024: 17.46, 3072: 17.92}),
    ("chen-2023", "Table 1", {"scaling": "linear:16"}, {2048: 7.23, 16384: 6.80, 32768: 6.77}),
    ("chen-2023", "Table 1", {"scaling": "none", "tuned": "yes"}, {2048: 7.21, 8192: 7.69}),
    ("chen-2023", "Table 3", {"scaling": "linear:8", "tuned": "no"}, {16384: 112.13}),
    ("peng-2023", "Table 1", {"scaling": "ntk"}, {2048: 4.20, 8192: 3.59, 10240: 6.24}),
    ("peng-2023", "Table 2", {"scaling": "yarn:32"}, {8192: 3.56, 131072: 2.37}),
    ("peng-2023", "Table 6", {}, {4096: 3.09, 8192: 2.96, 16384: 36.8}),
    ("ding-2024", "Table 1", {"scaling": "longrope", "text": "PG19"}, {8192: 9.37, 16384: 11.34}),
    ("bai-2023", "Table 3", {"scaling": "none"}, {2048: 3.78, 8192: 469.81, 16384: 2645.09}),
    ("kazemnejad-2023", "Table 3", {"encoding": "nope"}, {512: 2.850, 1400: 2.504, 2560: 536.23}),
    ("kazemnejad-2023", "Table 3", {"encoding": "rope"}, {1200: 3.323, 1400: 156.282}),
    ("haviv-2022", "Table 3", {"trained_length": 256, "encoding": "nope"}, {256: 14.98}),
    ("barbero-2024", "Table 2", {"scaling": "p-rope:0.75", "text": "Wiki"}, {8192: 4.4414}),
    ("xiong-2023", "Table 5", {"scaling": "abf:500000", "text": "Books"}, {32768: 6.323}),
]  # fmt: skip


@pytest.mark.parametrize(("source", "table", "where", "expected"), KNOWN)
def test_values_are_those_of_the_papers(
    rows: pd.DataFrame,
    source: str,
    table: str,
    where: dict[str, object],
    expected: dict[int, float],
) -> None:
    found = curve(rows, source, table, **where)
    assert {n: found.get(n) for n in expected} == expected


def test_bounds_and_missing_values_are_where_the_papers_have_them(rows: pd.DataFrame) -> None:
    def at(which: str) -> set[tuple[str, str, str, int, float | None]]:
        r = rows[rows.bound == which].astype({"perplexity": object})
        r["perplexity"] = r.perplexity.where(r.perplexity.notna(), None)
        picked = r[["source", "table", "scaling", "length", "perplexity"]]
        return set(picked.itertuples(index=False, name=None))

    assert at("OOM") == {
        ("press-2022", "Table 2", "none", 15512, None),
        ("press-2022", "Table 3", "none", 16024, None),
    }
    lengths = (4096, 8192, 16384, 32768)
    assert at(">") == {("chen-2023", "Table 1", "none", n, 1000) for n in lengths} | {
        ("peng-2023", "Table 2", "linear:8", 65536, 100),
        ("peng-2023", "Table 2", "linear:8", 98304, 1000),
        ("peng-2023", "Table 2", "linear:8", 131072, 10000),
        ("peng-2023", "Table 2", "yarn:16", 98304, 10),
        ("peng-2023", "Table 2", "yarn:16", 131072, 10),
        ("peng-2023", "Table 6", "none", 65536, 1000),
    }


def test_in_article_a_t5_beats_plain_rope_beyond_the_trained_length(rows: pd.DataFrame) -> None:
    t5 = curve(rows, "article-a", "perplexity table", encoding="t5")
    rope = curve(rows, "article-a", "perplexity table", encoding="rope", scaling="none")
    assert [n for n in t5 if t5[n] < rope[n]] == [1024, 2048, 4096]  # not at 512: 18.4, 18.3


def test_in_the_alibi_paper_t5_beats_rotary_at_every_length(rows: pd.DataFrame) -> None:
    t5 = curve(rows, "press-2022", "Table 2", encoding="t5")
    rope = curve(rows, "press-2022", "Table 2", encoding="rope")
    shared = [n for n in rope if t5[n] == t5[n]]  # it ran out of memory at the last
    assert len(shared) == 9 and all(t5[n] < rope[n] for n in shared)
    assert min(t5, key=lambda n: t5[n] if t5[n] == t5[n] else 1e9) == 1112  # about twice 512


def test_alibi_falls_with_length_in_chunks_but_not_in_windows(rows: pd.DataFrame) -> None:
    chunks = curve(rows, "press-2022", "Table 2", encoding="alibi")
    values = list(chunks.values())
    assert list(chunks) == sorted(chunks) and values[-1] == min(values)
    assert all(b <= a + 0.0101 for a, b in pairwise(values))  # 18.40, 18.41 at 3512, 4512
    windows = curve(rows, "press-2022", "Table 15", trained_length=512)
    assert windows[3072] > windows[512]


def test_in_longrope_the_order_of_untuned_scalings_is_reversed_by_the_text(
    rows: pd.DataFrame,
) -> None:
    def order(text: str) -> list[str]:
        r = rows[(rows.source == "ding-2024") & (rows.table == "Table 1") & (rows.text == text)]
        r = r[(r.length == 16384) & (r.scaling != "longrope")]
        return list(r.sort_values("perplexity").scaling)

    assert order("PG19") == ["linear", "dynamic", "yarn"] == order("Proof-pile")[::-1]


def matches(rows: pd.DataFrame, quote: Quote) -> pd.DataFrame:
    same = pd.Series(True, rows.index)
    for column, value in vars(quote).items():
        same &= rows[column] == value
    return rows[same]


@pytest.mark.parametrize("quote", [q for d in DISAGREEMENTS for q in d.quotes], ids=str)
def test_every_quotation_is_one_row_of_the_table(rows: pd.DataFrame, quote: Quote) -> None:
    assert len(matches(rows, quote)) == 1


def test_a_misquotation_would_be_found(rows: pd.DataFrame) -> None:
    assert matches(rows, Quote("article-b", "perplexity table", "rope", "none", 2048, 15.8)).empty


def decimals(text: str) -> Iterable[float]:
    """Perplexities in a sentence: decimal numbers but for percentages and sizes of models."""
    return map(float, re.findall(r"(?<![\d.,+])\d+\.\d+(?![\d BM%]*[BM%])", text))


@pytest.mark.parametrize("case", DISAGREEMENTS, ids=lambda d: d.id)
def test_sentences_quote_what_they_list_and_nothing_else(case: Disagreement) -> None:
    exact = {q.perplexity for q in case.quotes if not q.bound}
    assert set(decimals(case.text)) == exact
    whole = {int(n.replace(",", "")) for n in re.findall(r"(?<![\d.])\d+,\d{3}\b", case.text)}
    assert whole <= {q.length for q in case.quotes} | {q.perplexity for q in case.quotes if q.bound}
    assert all(SOURCES[q.source].verified != "notes" for q in case.quotes)  # no fact for a sentence
    assert len(case.sources) == len(set(case.sources)) and set(case.sources) <= set(SOURCES)
    assert case.text.endswith(".") and "- " not in case.text and "  " not in case.text


@pytest.mark.parametrize("case", DISAGREEMENTS, ids=lambda d: d.id)
def test_percentages_are_those_of_two_quoted_values(case: Disagreement) -> None:
    by_source: dict[str, list[float]] = {}
    for q in case.quotes:
        by_source.setdefault(q.source, []).append(q.perplexity)
    growths = {
        f"{100 * (b / a - 1):+.1f} %" for v in by_source.values() for a, b in combinations(v, 2)
    }
    assert set(re.findall(r"[+-][\d.]+ %", case.text)) <= growths


def test_article_b_grows_by_what_is_said_of_it(rows: pd.DataFrame) -> None:
    for encoding, growth in (("alibi", 6.5), ("rope", 33.1)):
        found = curve(rows, "article-b", "perplexity table", encoding=encoding)
        assert round(100 * (found[2048] / found[1024] - 1), 1) == growth
        assert any(f"(+{growth} %)" in d.text for d in DISAGREEMENTS)


def test_disagreements_have_ids_and_titles_of_their_own() -> None:
    assert len({d.id for d in DISAGREEMENTS}) == len({d.title for d in DISAGREEMENTS}) == 9
