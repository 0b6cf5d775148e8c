"""How the figures of Compare leave it: the plates that draw the same, and what they are made of."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from pages._shared import export_sources
from pages._shared.export import Shown
from pages.compare import zoom
from pages.compare.state import CompareState
from viz_core import attention, plates
from viz_core.catalogue import Checkpoint
from viz_core.export.provenance import Source
from viz_core.figures import head_wall as walls
from viz_core.figures.spec import FigureSpec
from viz_core.plates import head_wall
from viz_core.plates.tray import Pin
from viz_core.survey import Survey
from viz_core.texts import PASTED, Passage
from viz_core.types import SINK
from viz_core.words import mark

PAGE = "compare"
PRIVATE = mark(
    "A figure of your own text can be exported, and no file of it holds the text; it can't be "
    "pinned, since no address and no command would find the text again."
)
REPEATED = mark("A text that is repeated can't be pinned: choose one that is long enough.")
LARGEST = mark(
    "A wall of largest values can't be pinned: a pinned one shows the means of its cells."
)
VIEWS = {"mean": "log", "centred": "centred", "one": "probability"}  # as plates have them
MEANS = {
    "mean": "geometric mean of attention over the texts",
    "centred": "mean over the texts of log-attention less each row's mean",
    "one": "attention in one text",
}


@dataclass(frozen=True)
class Leaving:
    """What the page shows: its state, the checkpoint of each side, and what each of them read."""

    state: CompareState
    chosen: Sequence[Checkpoint]
    read: Sequence[Sequence[Passage]]

    def maps(self, figure: FigureSpec) -> Shown:
        """The attention maps side by side."""
        state = self.state
        said = {
            "places": self._places(),
            "view": VIEWS[state.view],
            "map_scale": self._scale(),
            "marks": self._marks(),
            "pooling": state.pooling if state.view == "one" else "mean",
            "texts": None if state.view == "one" else len(self.read[0]),
            **self._windows(),
        }
        facts = {"maps": MEANS[state.view], "cells": said["pooling"]} | self._heads()
        return self._shown(lambda: figure, "map", self.chosen, said, facts)

    def curves(self, figure: FigureSpec) -> Shown:
        """Attention by distance, a panel for each map."""
        said = {
            "places": self._places(),
            "marks": self._marks(),
            "x_scale": "log" if self.state.x_log else "linear",
            "texts": len(self.read[0]),
        }
        facts = self._heads() | {
            "estimator": "row fixed effects: log A[i, j] = a(i) + b(i - j)",
            "sink": f"the first {SINK} keys are left out of curves",
        }
        return self._shown(lambda: figure, "curves", self.chosen, said, facts)

    def wall(self, one: Checkpoint, found: Survey) -> Shown:
        """Every head of one of the checkpoints, as fine as a page prints them."""
        state, config = self.state, one.config

        def figure() -> FigureSpec:
            factor = math.ceil(max(found.windows[0].count.shape) / head_wall.PIXELS)
            small = [attention.coarser(window, factor) for window in found.windows]
            return walls.build(small, config.encoding, config.length, state.linear)

        said = {
            "checkpoints": [one.id],
            "view": VIEWS[state.view],
            "map_scale": self._scale(),
            "texts": None if state.view == "one" else len(self.read[0]),
        }
        facts = {"maps": MEANS[state.view], "layers": config.layers, "heads": config.heads}
        why = LARGEST if state.view == "one" and state.pooling == "max" else ""
        return self._shown(figure, "head-wall", [one], said, facts, why)

    def _shown(
        self,
        figure: Callable[[], FigureSpec],
        plate: str,
        chosen: Sequence[Checkpoint],
        said: dict[str, Any],
        facts: dict[str, Any],
        why: str = "",
    ) -> Shown:
        read = [p for one, p in zip(self.chosen, self.read, strict=True) if one in chosen]
        length, trained = len(read[0][0].ids), chosen[0].config.length
        why = self._why() or export_sources.elsewhere(one.id for one in chosen) or why
        pin = None
        if not why:
            asked = None if length == trained else length
            pin = Pin.of(plate, length=asked, text=self.state.text, **said)
        about = {
            "length": length,
            "trained_length": trained,
            "texts": len(read[0]),
            "normalisation": "softmax over all keys that are not after the query",
        }
        if self.state.text == PASTED:
            about["text"] = export_sources.OWN

        def made() -> tuple[Source, ...]:
            texts = [export_sources.texts(self.state.text, some) for some in read]
            return export_sources.checkpoints(chosen) + tuple(dict.fromkeys(chain(*texts)))

        title = plates.get(plate).title
        return Shown(figure, title, plate, PAGE, pin, why, made, about | facts)

    def _why(self) -> str:
        """What stands in the way of pinning; "" where nothing does."""
        if self.state.text == PASTED:
            return PRIVATE
        return REPEATED if self.state.repeat and self.state.view == "one" else ""

    def _scale(self) -> str:
        return "linear" if self.state.linear and self.state.view != "centred" else "log"

    def _marks(self) -> str:
        return "yes" if self.state.marks else "no"

    def _places(self) -> list[str]:
        return [f"{s.checkpoint}.{s.layer + 1}.{s.head + 1}" for s in self.state.sides]

    def _heads(self) -> dict[str, list[int]]:
        sides = self.state.sides
        return {"layers": [s.layer + 1 for s in sides], "heads": [s.head + 1 for s in sides]}

    def _windows(self) -> dict[str, list[str]]:
        """The windows of the maps, where some map isn't shown whole: one for all that are alike."""
        whole = zoom.whole(len(self.read[0][0].ids))
        boxes = [side.box or whole for side in self.state.sides]
        alike = len(set(boxes)) == 1
        if alike and boxes[0] == whole:
            return {}
        words = [export_sources.ranges(box) for box in (boxes[:1] if alike else boxes)]
        return {name: [one[name][0] for one in words] for name in ("queries", "keys")}
