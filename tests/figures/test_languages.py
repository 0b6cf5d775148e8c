"""Every figure in Chinese: no word of it is left in English, and no number of it changes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass

import numpy as np
import pytest

from tests.figures.test_contract import build
from viz_core.figures import all_figures
from viz_core.figures.spec import Chart, FigureSpec, Heatmap
from viz_core.words import say, speaking

NAMES = list(all_figures())
# What the examples hand to a figure; who calls one says it in the reader's language.
GIVEN = (
    *("undefined past its 512 trained positions", "the first 4 keys left out", "held-out English"),
    *("the first 4 keys in", "row fixed effects", "RoPE's wavelengths", "it moves nothing"),
    *("Of these texts", "fixed targets", "the same tokens", "far targets", "the bias"),
    *("layer 1, head 2", "layer 1, head 1", "Reported", "head 0", "head 1", "token 5"),
    *("learned", "prose", "alibi", "rope", "nope", "far", "one"),
)
# Names, symbols and terms that Chinese papers leave as they are.
KEPT = {
    *("RoPE", "ALiBi", "NoPE", "T", "bias", "Sinusoidal", "Learned", "PI", "NTK", "YaRN", "KERPLE"),
    *("Su", "Hann", "logit", "softmax", "A", "N", "L", "H", "R", "S_j", "W_q", "W_k"),
    *("a", "b", "c", "d", "e", "f", "k", "p", "q", "s"),
}


def said(spec: FigureSpec) -> Iterator[str]:
    """Everything in a figure that a person reads."""
    yield from (spec.caption, spec.alt)
    for panel in spec.panels:
        yield panel.title
        if isinstance(panel, Heatmap):
            yield from (panel.where, panel.of, panel.scale.label)
            yield from (guide.label for guide in panel.guides)
            continue
        yield from (panel.x.label, panel.y.label, re.sub(r"\{.*?\}", "", panel.read))
        yield from (words for _, words in (*panel.marks, *panel.levels))
        for line in panel.lines:
            yield from (line.name, line.label, line.group, *line.notes)
            yield line.band.words if line.band else ""


@pytest.mark.parametrize("name", NAMES)
def test_no_word_of_a_figure_stays_english(name: str) -> None:
    with speaking("zh"):
        spec, title = build(name), say(all_figures()[name].title)
    for words in {title, *said(spec)}:
        rest = words
        for given in GIVEN:
            rest = rest.replace(given, "")
        assert set(re.findall("[A-Za-z_]+", rest)) <= KEPT, words
    for words in (title, spec.caption, spec.alt):
        assert re.search("[\u4e00-\u9fff]", words) or words in GIVEN or words[:-1] in GIVEN


SAID = {"title", "label", "caption", "alt", "where", "of", "read", "name", "words"}
TOLD = {"notes", "group"}  # as many in any language


def numbers(value: object, name: str = "") -> Iterator[object]:
    """All of a figure but its words: arrays, limits, ticks with their labels, colours, dashes."""
    if name in SAID:
        yield bool(value)
    elif name in TOLD:
        yield len(value) if isinstance(value, tuple) else bool(value)  # type: ignore[arg-type]
    elif name in ("marks", "levels"):
        yield from ((place, bool(words)) for place, words in value)  # type: ignore[attr-defined]
    elif is_dataclass(value):
        for field in fields(value):
            yield from numbers(getattr(value, field.name), field.name)
    elif isinstance(value, tuple):
        yield len(value)
        for one in value:
            yield from numbers(one)
    else:
        yield value


@pytest.mark.parametrize("name", NAMES)
def test_no_number_of_a_figure_changes(name: str) -> None:
    english = [*numbers(build(name))]
    with speaking("zh"):
        chinese = [*numbers(build(name))]
    assert len(chinese) == len(english)
    for one, other in zip(english, chinese, strict=True):
        np.testing.assert_array_equal(one, other)


def test_what_is_read_on_hover_has_the_same_places() -> None:
    for name in NAMES:
        english = [p.read for p in build(name).panels if isinstance(p, Chart)]
        with speaking("zh"):
            chinese = [p.read for p in build(name).panels if isinstance(p, Chart)]
        for one, other in zip(english, chinese, strict=True):
            assert re.findall(r"\{.*?\}", one) == re.findall(r"\{.*?\}", other)
