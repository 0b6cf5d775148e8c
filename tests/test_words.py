"""The words of the interface: all in the catalogue, each translated whole, none by chance.

`make words` gathers what is missing.
"""

from __future__ import annotations

import ast
import re
import threading
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from string import Formatter

import pytest
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po

from viz_core import words
from viz_core.words import mark, say, sentences, speaking

ROOT = Path(__file__).parents[1]
FOLDERS = ROOT / "pages", ROOT / "viz_core"
OTHERS = [language for language in words.LANGUAGES if language != words.PLAIN]


@cache
def said_in_code() -> frozenset[str]:
    """Every message of say() and mark(), as Babel reads the source."""
    found = set()
    for folder in FOLDERS:
        for _, _, message, *_ in extract_from_dir(
            folder,
            method_map=[("**.py", "python")],
            keywords={"say": None, "mark": None},
            directory_filter=lambda path: not Path(path).name.startswith((".", "__")),
        ):
            found.add(message)
    return frozenset(found)


@cache
def catalogue(language: str) -> dict[str, str]:
    with (words.FOLDER / f"{language}.po").open("rb") as file:
        return {m.id: m.string for m in read_po(file, locale=language) if m.id}


@pytest.mark.parametrize("language", OTHERS)
def test_a_catalogue_holds_what_the_code_says_and_nothing_else(language: str) -> None:
    known = catalogue(language)
    assert sorted(said_in_code() - set(known)) == []
    assert sorted(set(known) - said_in_code()) == []
    assert [message for message, found in known.items() if not found] == []


def fields(message: str) -> set[tuple[str, ...]]:
    """The fields of a message with their formats; where its braces are no fields, as they stand."""
    try:
        return {
            (name, spec or "", conversion or "")
            for _, name, spec, conversion in Formatter().parse(message)
            if name is not None
        }
    except ValueError:  # LaTeX
        return {(part,) for part in re.findall(r"\{[^{}]*\}", message)}


@pytest.mark.parametrize("language", OTHERS)
def test_a_translation_has_the_fields_of_its_message(language: str) -> None:
    for message, found in catalogue(language).items():
        if found:
            assert fields(found) == fields(message), message


def calls() -> Iterator[tuple[str, ast.Call, str]]:
    """Every call of say() and mark(): its place, itself, and which of the two."""
    for folder in FOLDERS:
        for path in sorted(folder.rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if not isinstance(node, ast.Call):
                    continue
                called = node.func
                name = getattr(called, "attr" if isinstance(called, ast.Attribute) else "id", "")
                if name in ("say", "mark") and node.args:
                    yield f"{path.relative_to(ROOT)}:{node.lineno}", node, name


def looked_up(node: ast.expr) -> bool:
    """Whether an expression takes words from where they were marked: a name, an attribute, an entry
    of a table, or one of several of these. What a table lacks is called by its own name."""
    match node:
        case ast.Name() | ast.Attribute() | ast.Subscript():
            return True
        case ast.IfExp(body=one, orelse=other):
            return all(looked_up(n) or isinstance(n, ast.Constant) for n in (one, other))
        case ast.Call(func=ast.Attribute(attr="get"), args=[_, *rest]):
            return not any(isinstance(n, ast.JoinedStr | ast.BinOp) for n in rest)
    return False


def test_what_is_said_is_a_literal_or_was_marked() -> None:
    wrong = []
    for place, call, name in calls():
        first = call.args[0]
        literal = isinstance(first, ast.Constant) and isinstance(first.value, str)
        if not literal and (name == "mark" or not looked_up(first)):
            wrong.append(f"{place}: {ast.unparse(first)[:80]}")
    assert wrong == []


def test_english_is_said_as_it_stands() -> None:
    assert say("{n:,} texts", n=1234) == "1,234 texts"
    assert say("braces {stay} here") == "braces {stay} here"
    assert mark("distance") == "distance"


def test_what_has_no_translation_is_said_in_english() -> None:
    with speaking("zh"):
        assert say("no such message: {n}", n=3) == "no such message: 3"
    with speaking("tlh"):
        assert words.language() == "en"


def test_a_language_is_spoken_within_its_block_alone() -> None:
    plain = say("distance (tokens)")
    with speaking("zh"):
        assert words.language() == "zh"
        assert say("distance (tokens)") != plain
        with speaking("en"):
            assert say("distance (tokens)") == plain
        assert words.language() == "zh"
    assert (words.language(), say("distance (tokens)")) == ("en", plain)


def test_a_thread_speaks_its_own_language() -> None:
    heard: dict[str, list[str]] = {}
    both = threading.Barrier(2, timeout=10)

    def visit(language: str) -> None:
        both.wait()
        words.speak(language)
        both.wait()  # the other one speaks now
        heard[language] = [words.language(), say("distance (tokens)")]

    with speaking("zh"):
        translated = say("distance (tokens)")
        visitors = [threading.Thread(target=visit, args=(one,)) for one in ("en", "zh")]
        for visitor in visitors:
            visitor.start()
        for visitor in visitors:
            visitor.join()
        assert words.language() == "zh"
    assert heard == {"en": ["en", "distance (tokens)"], "zh": ["zh", translated]}


def test_sentences_stand_in_a_row_as_their_language_has_it() -> None:
    assert sentences("One.", "", "Two.") == "One. Two."
    assert sentences("第一句。", "第二句。") == "第一句。第二句。"
    assert sentences() == ""
