"""README, its Chinese twin and docs/: links lead somewhere, commands exist, numbers are true."""

from __future__ import annotations

import importlib.util
import re
import shlex
import tomllib
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from viz_core import catalogue, published, results
from viz_core.arguments import parser

ROOT = Path(__file__).parents[1]
READMES = ("README.md", "README.zh.md")
PAGES = sorted(
    (p.relative_to(ROOT).as_posix() for p in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"))),
)
FENCE = re.compile(r"^```.*?^```\n?", re.M | re.S)
LINK = re.compile(r"\]\(([^)\s]+)\)|(?:src|srcset|href)=\"([^\"]+)\"")
NUMBER = re.compile(r"(?<![\w.,])\d+(?:,\d{3})*(?:\.\d+)?")
TARGETS = re.compile(r"^([a-z]+):", re.M)


def text(page: str) -> str:
    return (ROOT / page).read_text("utf-8")


def links(page: str) -> list[str]:
    """Every address on the page that isn't shown as code."""
    prose = re.sub(r"`[^`\n]*`", "", FENCE.sub("", text(page)))
    return [a or b for a, b in LINK.findall(prose)]


def anchors(page: str) -> set[str]:
    """The anchors that GitHub makes of headings: small letters, no punctuation, "-" for " "."""
    found: Counter[str] = Counter()
    names = set()
    for words in re.findall(r"^#{1,6} +(.+?) *$", FENCE.sub("", text(page)), re.M):
        plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", words)
        name = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        names.add(f"{name}-{found[name]}" if found[name] else name)
        found[name] += 1
    return names


def commands(page: str) -> list[str]:
    """What the page tells a reader to type: lines of code, and commands within a sentence."""
    blocks = "".join(FENCE.findall(text(page))).replace("\\\n", " ")
    lines = [line.partition(" #")[0].split() for line in blocks.splitlines()]
    inline = [c.split() for c in re.findall(r"`([^`\n]+)`", FENCE.sub("", text(page)))]
    known = (["make"], ["python", "-m"])
    return [" ".join(w) for w in (*lines, *inline) if w[:1] in known or w[:2] in known]


def tables(page: str) -> list[list[str]]:
    """The rows of the page's tables, by cells, without the lines below their heads."""
    rows = re.findall(r"^\|(.*)\|$", FENCE.sub("", text(page)), re.M)
    return [
        [c.strip() for c in row.split("|")] for row in rows if not re.fullmatch(r"[-:| ]+", row)
    ]


def numbers(words: str) -> Counter[str]:
    """The numbers in a cell, without addresses."""
    return Counter(NUMBER.findall(re.sub(r"\]\([^)]*\)", "]", words)))


@pytest.mark.parametrize("document", PAGES)
def test_links_lead_to_something(document: str) -> None:
    for link in links(document):
        if re.match(r"[a-z]+:", link):
            assert link.startswith("https://"), f"{document}: {link}"
            continue
        path, _, anchor = link.partition("#")
        found = ((ROOT / document).parent / path).resolve() if path else ROOT / document
        assert found.exists(), f"{document}: {link} leads to nothing"
        assert found.is_relative_to(ROOT), f"{document}: {link} leads out of the project"
        if anchor:
            name = found.relative_to(ROOT).as_posix()
            assert anchor in anchors(name), f"{document}: {name} has no heading #{anchor}"


@pytest.mark.parametrize("document", PAGES)
def test_commands_are_understood(document: str) -> None:
    targets = set(TARGETS.findall(text("Makefile")))
    for command in commands(document):
        words = shlex.split(command)
        if words[0] == "make":
            assert set(w for w in words[1:] if "=" not in w) <= targets, f"{document}: {command}"
        elif words[2] == "viz_core" and len(words) > 3:
            # within a sentence a command's name alone may stand for it
            asked = words[3:] if len(words) > 4 else [words[3], "--help"]
            try:
                parser().parse_args(asked)
            except SystemExit as end:
                assert end.code == 0, f"{document}: {command} is not understood"


def test_both_readmes_say_the_same() -> None:
    one, other = READMES
    heads = [re.findall(r"^(#+) ", FENCE.sub("", text(page)), re.M) for page in READMES]
    assert heads[0] == heads[1]
    assert commands(one) == commands(other)
    twins = [sorted(link for link in links(p) if link not in READMES) for p in READMES]
    assert twins[0] == twins[1]
    assert READMES[1] in links(one)[:1] and READMES[0] in links(other)[:1]
    assert len(tables(one)) == len(tables(other))
    for mine, theirs in zip(tables(one), tables(other), strict=True):
        assert [numbers(c) for c in mine] == [numbers(c) for c in theirs]


def section(page: str, anchor: str) -> str:
    """What stands under a heading of a page."""
    parts = re.split(r"^#+ +(.+)$", text(page), flags=re.M)
    names = [re.sub(r"[^\w\- ]", "", w.lower()).replace(" ", "-") for w in parts[1::2]]
    return parts[2::2][names.index(anchor)]


def test_what_readme_says_was_measured_stands_in_the_findings() -> None:
    said = [row for row in tables("README.md") if "docs/findings.md#" in row[-1]]
    assert len(said) == 5
    quotes = published.rows()
    for claim, measured, more in said:
        under = "".join(section("docs/findings.md", a) for a in re.findall(r"#([\w-]+)\)", more))
        assert numbers(measured).keys() <= numbers(under).keys(), f"{claim}: {measured}"
        if claim.startswith('"'):
            assert [claim[1:-1]] == [
                r[0] for r in tables("docs/findings.md") if r[0] == claim[1:-1]
            ]
        else:
            article = quotes[quotes.source == f"article-{claim[-2].lower()}"]
            curve = article[article.encoding == claim.partition(",")[0].lower()]
            curve = curve[curve.scaling == "none"]
            ends = f"{curve.perplexity.iloc[0]} there, {curve.perplexity.iloc[-1]}"
            at = f"trained at {curve.length.iloc[0]:,}: perplexity {ends} at"
            assert f"{at} {curve.length.iloc[-1]:,}" in claim


def test_what_readme_says_of_speed_is_the_benchmarks() -> None:
    found = numbers(text("docs/benchmarks.md"))
    rows = [row for row in tables("README.md") if re.search(r"\d [kMG]B$", row[1])]
    assert len(rows) == 3
    after = next(p for p in text("README.md").split("\n\n") if p.startswith("At N = "))
    for words in (*(c for row in rows for c in row[1:]), after):
        assert numbers(words).keys() <= found.keys(), f"{words}: README isn't docs/benchmarks.md"


def test_losses_past_the_trained_length_are_those_of_the_tables() -> None:
    settings = {"PI with s = N / L": "linear:fit", "dynamic NTK": "dynamic"}
    settings |= {"YaRN with s = N / L": "yarn:fit", "PI with a fixed s = 4": "linear:4"}
    plain = results.shipped("perplexity-encodings")
    scaled = results.shipped("perplexity-rope")
    head, *rows = tables("docs/extrapolation.md")
    lengths = [int(n.replace(",", "")) for n in head[1:]]
    assert len(rows) == 6 + len(settings)
    for name, *losses in rows:
        encoding, _, setting = name.partition(", ")
        if setting:
            known = scaled[scaled.setting == settings[setting]]
        else:
            known = plain[plain.checkpoint == encoding.split()[0].lower()]
        known = known.astype({"length": int, "loss": float}).set_index("length").loss
        shown = [f"{known[n]:.3f}" if np.isfinite(known[n]) else "undefined" for n in lengths]
        assert losses == shown, name


def test_the_checkpoints_losses_are_their_own() -> None:
    rows = [row for row in tables("docs/checkpoints.md")[1:] if row[0].startswith("[")]
    shipped = {id_: c.row() for id_, c in catalogue.shipped().items()}
    assert {re.findall(r"`(\w+)`", row[0])[0] for row in rows} == shipped.keys()
    for name, *losses in rows:
        row = shipped[re.findall(r"`(\w+)`", name)[0]]
        bins = sorted(row["loss_by_position"].items(), key=lambda b: int(b[0].split("-")[0]))
        known = [row["validation_loss"], *(loss for _, loss in bins)]
        assert losses == [f"{loss:.3f}" for loss in known]


def test_every_page_has_its_place_in_the_site() -> None:
    nav = set(re.findall(r"[\w/.-]+\.md", text("mkdocs.yml").partition("\ntheme:")[0]))
    inside = {"index.md" if p == "README.md" else p.removeprefix("docs/") for p in PAGES}
    assert nav == inside
    listed = {link for link in links("docs/decisions/README.md") if "/" not in link}
    assert listed == {p.name for p in (ROOT / "docs/decisions").glob("*.md")} - {"README.md"}


@pytest.mark.parametrize("side", ["light", "dark"])
def test_the_drawing_of_the_house_is_current(side: str) -> None:
    where = ROOT / "docs/_make/house.py"
    spec = importlib.util.spec_from_file_location("house", where)
    assert spec is not None and spec.loader is not None
    house = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(house)
    drawn = text(f"docs/house-{side}.svg")
    assert drawn == house.draw(side), "run `python docs/_make/house.py`"
    for layer in house.storeys():
        for name in layer:
            assert f">{name}</text>" in drawn


def test_the_citation_is_of_this_version() -> None:
    version = tomllib.loads(text("pyproject.toml"))["project"]["version"]
    assert f"\nversion: {version}\n" in text("CITATION.cff")
    for page in READMES:
        assert f"version = {{{version}}}" in text(page)
