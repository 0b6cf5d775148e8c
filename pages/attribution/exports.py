"""How the figures of Attribution leave it, and what they are made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from pages._shared import export_sources
from pages._shared.export import Shown
from pages.attribution.losses import HEADS
from pages.attribution.question import Question
from pages.attribution.state import AttributionState
from viz_core.catalogue import Checkpoint
from viz_core.export.provenance import Facts, Source
from viz_core.figures import all_figures
from viz_core.figures.spec import FigureSpec
from viz_core.texts import Passage
from viz_core.words import PLAIN, mark, say, speaking

PAGE = "attribution"
NO_PLATE = mark(
    "No command draws this one: it can be exported, and the page's address shows it again."
)


def of_question(name: str, figure: FigureSpec, asked: Question, state: AttributionState) -> Shown:
    """The figure called `name`, of one head and one prediction."""
    made = (
        *export_sources.checkpoints([asked.checkpoint]),
        *export_sources.texts(state.text, [asked.passage]),
    )
    with speaking(PLAIN):  # whoever reads a file's provenance may not read what this visitor does
        target = asked.public
    facts = {
        "length": asked.target.reads,
        "trained_length": asked.checkpoint.config.length,
        "texts": 1,
        "target": target,
        "method": "integrated gradients on the post-softmax pattern of one layer",
        "steps": state.steps,
        "layers": [state.layer + 1],
        "heads": [state.head + 1],
    }
    return _shown(name, figure, lambda: made, facts)


def of_tables(kind: str, name: str, figure: FigureSpec, state: AttributionState) -> Shown:
    """The figure called `name`, of the shipped losses called `kind`."""
    facts: Facts = {"targets": state.place, "interval": "95 % bootstrap over texts"}
    if kind == HEADS:
        facts = {**facts, "replacement": state.replacement}
    return _shown(name, figure, partial(export_sources.tables, kind), facts)


def of_text(
    name: str, figure: FigureSpec, checkpoint: Checkpoint, text: Passage, state: AttributionState
) -> Shown:
    """The figure called `name`, of losses measured on one text."""
    made = (
        *export_sources.checkpoints([checkpoint]),
        *export_sources.texts(state.text, [text]),
    )
    facts = {"length": len(text.ids) - 1, "texts": 1, "targets": state.place}
    return _shown(name, figure, lambda: made, facts)


def _shown(
    name: str, figure: FigureSpec, sources: Callable[[], Sequence[Source]], facts: Facts
) -> Shown:
    return Shown(
        spec=lambda: figure,
        title=all_figures()[name].title,
        name=name,
        page=PAGE,
        why=say(NO_PLATE),
        sources=sources,
        facts=facts,
    )
