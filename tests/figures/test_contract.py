"""Every figure of the folder, drawn from arrays whose content is known."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from tests.figures import (
    attribution_examples,
    decay_examples,
    emergence_examples,
    paper_examples,
)
from viz_core.figures import (
    all_figures,
    attention_maps,
    decay_curves,
    encoding_atlas,
    encoding_parts,
    extrapolation,
    head_wall,
    mechanism,
    position_loss,
    reported,
    training_curves,
)
from viz_core.figures.spec import FigureSpec, Heatmap
from viz_core.render import canvas, png, screen
from viz_core.types import Curve, Kind, Window


def window(kind: Kind = "probability", n: int = 24, cell: int = 2, heads: int = 3) -> Window:
    cells = n // cell
    even = np.log(1 / (np.arange(cells) * cell + 1))
    value = np.broadcast_to(even[None, :, None], (heads, cells, cells)).astype(np.float32).copy()
    count = np.tril(np.full((cells, cells), cell * cell), -1) + np.eye(cells, dtype=int) * 3
    value[:, count == 0] = np.nan
    return Window(value, count.astype(np.int64), (0, n), (0, n), cell, kind, 4)


def curve(heads: int = 3, n: int = 40) -> tuple[Curve, np.ndarray]:
    law = -np.outer(2.0 ** -np.arange(1, heads + 1), np.arange(n))
    error = np.full_like(law, 0.1)
    return Curve(law + 3.0, error, np.arange(n, 0, -1) * 10, 4, 4), law


def extrapolation_series(encoding: str, defined: int = 3) -> extrapolation.Series:
    """Made-up losses at 512, 1,024 and 2,048 tokens, of which the first `defined` have a value."""
    undefined = np.arange(3) >= defined
    loss = np.where(undefined, np.nan, np.array([4.0, 4.1, 4.3]))
    return extrapolation.Series(
        *(encoding, encoding, encoding, 512, np.array([512, 1024, 2048])),
        *(loss, loss - 0.1, loss + 0.2),
        *(loss - 4.0, loss - 4.01, loss - 3.98),
        tokens=np.where(undefined, 0, 9000),
        documents=np.full(3, 42),
        note="undefined past its 512 trained positions" if undefined.any() else "",
    )


def position_series() -> position_loss.Series:
    first, last = np.array([1, 32, 512]), np.array([31, 45, 723])
    loss = np.array([5.0, 4.0, 4.5])
    counts = np.full(3, 900), np.full(3, 42)
    bounds = loss, loss - 0.1, loss + 0.1
    return position_loss.Series("RoPE", "RoPE", "rope", 512, 4096, first, last, *bounds, *counts)


def mechanism_series(encoding: str) -> mechanism.Series:
    share = np.array([0.5, 0.25])
    values = {"entropy_share": share, "sink_mass": share / 5, "mean_distance": share * 400}
    values["unseen_phases"] = share if encoding == "rope" else np.full(2, np.nan)
    return mechanism.Series(encoding, encoding, encoding, 512, np.array([512, 1024]), values)


def reported_series() -> reported.Series:
    ratio = np.array([1.0, 1.5, np.nan])
    return reported.Series("RoPE", "RoPE", "rope", np.array([1.0, 2.0, 4.0]), ratio, ("", "", ""))


def build(name: str) -> FigureSpec:
    if name == "attention-maps":
        sides = [attention_maps.Side(window(), h, f"head {h}", "alibi", 12, 24) for h in (0, 1)]
        return attention_maps.build(sides)
    if name == "decay-curves":
        c, law = curve()
        return decay_curves.build([decay_curves.Side(c, law, 1, "one", "alibi", 20)] * 2)
    if name == "head-wall":
        return head_wall.build([window(), window()], "rope", 12)
    if name == "extrapolation":
        values = [extrapolation_series("alibi"), extrapolation_series("learned", 1)]
        return extrapolation.build(values, "Fixed targets", "the same tokens.", "held-out English")
    if name == "position-loss":
        return position_loss.build([position_series()], "held-out English")
    if name == "training-curves":
        steps = np.array([1e6, 2e6, 3e6])
        losses = np.array([5.0, 3.9, 3.95])
        series = training_curves.Series("RoPE", "RoPE", "rope", steps, losses)
        return training_curves.build([series], (4.0,))
    if name == "mechanism":
        return mechanism.build([mechanism_series("rope"), mechanism_series("nope")], "prose", 4)
    if name == "reported":
        side = reported.Side("Reported", (reported_series(),))
        return reported.build([side, replace(side, own=True)], "Of these texts.")
    if name == "encoding-atlas":
        law = -np.outer([0.5, 0.25], np.arange(24.0))
        side = encoding_atlas.Side("one", "alibi", 12, 24, 0, window(heads=1), law, "the bias")
        return encoding_atlas.build([side] * 2)
    if name == "encoding-parts":
        waves = 2.0 ** -np.arange(4.0)
        return encoding_parts.build(encoding_parts.Waves(waves, waves, 12))
    examples = decay_examples.EXAMPLES | paper_examples.EXAMPLES | attribution_examples.EXAMPLES
    examples = examples | emergence_examples.EXAMPLES
    assert name in examples, f"a new figure, {name}, needs its example here"
    return examples[name]()


@pytest.mark.parametrize("name", list(all_figures()))
def test_figure_says_what_it_shows(name: str) -> None:
    card, spec = all_figures()[name], build(name)
    assert card.id == name
    assert re.search("texts|documents|windows", spec.caption)  # what was averaged over
    assert len(spec.alt) > len(spec.caption)
    assert spec.panels


@pytest.mark.parametrize("name", list(all_figures()))
def test_figure_can_be_drawn(name: str) -> None:
    for panel in build(name).panels:
        if isinstance(panel, Heatmap):
            json.dumps(canvas.message(panel, ["a"] * 24), allow_nan=False)
            assert png.thumbnail(panel).startswith(b"\x89PNG")
        else:
            names = [trace.name for trace in screen.chart(panel).data]
            for line in panel.lines:
                assert (line.group or line.name) in names


def test_maps_share_one_scale_that_leaves_out_the_sink() -> None:
    spec = build("attention-maps")
    assert len({p.scale for p in spec.panels}) == 1
    loud = window(cell=1)
    loud.value[:, :, 0] = 0.0  # every query gives all to the first key
    side = attention_maps.Side(loud, 0, "sink", "rope", 12, 24)
    with_sink = attention_maps.build([side]).panels[0].scale
    loud.value[:, :, 0] = np.log(0.25)
    assert with_sink == attention_maps.build([side]).panels[0].scale


def test_values_are_log10_linear_or_nats() -> None:
    for kind, linear, unit, expected in (
        ("probability", False, "log10 A", np.log10(1 / 3)),
        ("probability", True, "A", 1 / 3),
        ("centred", False, "nats", np.log(1 / 3)),
    ):
        side = attention_maps.Side(window(kind), 0, "", "alibi", 12, 24)
        panel = attention_maps.build([side], linear).panels[0]
        assert panel.unit == unit
        assert panel.value[1, 0] == pytest.approx(expected, rel=1e-6)
        assert np.isnan(panel.value[0, 1])


def test_a_centred_scale_is_symmetric_about_zero() -> None:
    scale = (
        attention_maps.build([attention_maps.Side(window("centred"), 0, "", "rope", 12, 24)])
        .panels[0]
        .scale
    )
    assert scale.low == -scale.high
    assert scale.colours == "balance"


def test_curves_and_their_law_start_together_and_the_law_is_dashed() -> None:
    c, law = curve()
    chart = decay_curves.build([decay_curves.Side(c, law, 1, "", "alibi", 20)]).panels[0]
    lines = {line.name: line for line in chart.lines}
    assert len(lines) == 6
    for h in range(3):
        measured, nominal = lines[f"head {h + 1}"], lines[f"head {h + 1}, law"]
        assert nominal.dash == "dash"
        assert measured.dash == "solid"
        np.testing.assert_allclose(nominal.y, law[h], atol=1e-9)
        np.testing.assert_allclose(measured.y, law[h], atol=1e-9)
    assert chart.lines[-2].strong  # the head in focus lies on top


def test_a_logarithmic_axis_starts_at_distance_one() -> None:
    c, law = curve()
    chart = decay_curves.build([decay_curves.Side(c, law, 0, "", "alibi", 20)], x_log=True).panels[
        0
    ]
    assert chart.x.range[0] == 1
    assert chart.lines[0].x[0] == 1
