"""How the figures of Decay leave it: the plates that draw the same, and what portraits are of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pages._shared import export_sources
from pages._shared.boxes import Box
from pages._shared.export import Shown
from pages.decay.portraits import LOGIT, MEAN, UNBIASED, Sitter
from pages.decay.state import DecayState
from viz_core import plates
from viz_core.catalogue import Checkpoint
from viz_core.figures.spec import FigureSpec
from viz_core.plates.tray import Pin
from viz_core.texts import Passage

PAGE = "decay"
ESTIMATORS = {  # as plates have them
    UNBIASED: "row-fixed-effects",
    LOGIT: "mean-logit",
    MEAN: "mean-probability",
}
HOW = {
    "row-fixed-effects": "row fixed effects: log A[i, j] = a(i) + b(i - j)",
    "mean-logit": "the plain mean of logits at each distance",
    "mean-probability": "the log of the plain mean of attention at each distance",
}


def shown(figure: FigureSpec, plate: str, sitters: Sequence[Sitter], **options: Any) -> Shown:
    """A figure of portraits, which `plate` draws with `options`."""
    first = sitters[0].portrait
    settings = [one.portrait.setting or "none" for one in sitters]
    why, pin = export_sources.elsewhere(one.id for one in sitters), None
    if not why:
        pin = Pin.of(
            plate,
            checkpoints=[one.id for one in sitters],
            scaling=settings[:1] if len(set(settings)) == 1 else settings,
            length=None if first.length == first.trained else first.length,
            text=sitters[0].text,
            texts=first.texts,
            **options,
        )
    facts = {
        "length": first.length,
        "trained_length": first.trained,
        "texts": first.texts,
        "settings": settings,
        "estimator": HOW[options.get("estimator", "row-fixed-effects")],
        "normalisation": "softmax over all keys that are not after the query",
        "sink": f"the first {first.sink} keys are {options.get('sink', 'out')}",
        **{name: options[name] for name in ("layer", "heads") if name in options},
    }
    return Shown(
        lambda: figure,
        plates.get(plate).title,
        plate,
        PAGE,
        pin,
        why,
        lambda: tuple(dict.fromkeys(source for one in sitters for source in one.sources)),
        facts,
    )


def difference(
    figure: FigureSpec,
    checkpoint: Checkpoint,
    state: DecayState,
    some: Sequence[Passage],
    place: tuple[int, int],
    box: Box | None,
) -> Shown:
    """A head's map and curve under another setting, less those as it was trained; in `box`."""
    (layer, head), plate = place, "difference"
    made = (*export_sources.checkpoints([checkpoint]), *export_sources.texts(state.text, some))
    facts = {
        "length": state.length,
        "trained_length": checkpoint.config.length,
        "texts": len(some),
        "setting": state.what,
        "layers": [layer + 1],
        "heads": [head + 1],
        "normalisation": "softmax over all keys that are not after the query",
        "maps": "mean log-attention under the setting less that as trained",
    }
    why, pin = export_sources.elsewhere([checkpoint.id]), None
    if not why:
        pin = Pin.of(
            plate,
            checkpoints=[checkpoint.id],
            scaling=[state.what],
            layer=layer + 1,
            heads=[head + 1],
            length=state.length,
            text=state.text,
            texts=len(some),
            **export_sources.ranges(box),
        )
    title = plates.get(plate).title
    return Shown(lambda: figure, title, plate, PAGE, pin, why, lambda: made, facts)
