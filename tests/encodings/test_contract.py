"""What holds for every encoding of the folder: a new file is tested here as soon as it exists."""

from __future__ import annotations

import math
import pkgutil
import re
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from viz_core import encodings
from viz_core.encodings import Encoding, Geometry, Parameter, PositionEncoding, all_encodings
from viz_core.errors import LengthError, UnknownName, UsageError

CARDS = list(all_encodings().values())
GEOMETRIES = [
    Geometry(heads, head_dim, heads * head_dim, 24) for heads in (1, 3, 12) for head_dim in (4, 32)
]
KNOBS = [(card, p) for card in CARDS for p in card.parameters]

each_card = pytest.mark.parametrize("card", CARDS, ids=lambda card: card.id)
each_geometry = pytest.mark.parametrize(
    "geometry", GEOMETRIES, ids=lambda g: f"{g.heads}x{g.head_dim}"
)
each_knob = pytest.mark.parametrize(
    ("card", "knob"), KNOBS, ids=[f"{card.id}-{p.name}" for card, p in KNOBS]
)


def refused(act: Callable[[], object]) -> str:
    """The message of the UsageError that `act` must raise: a single sentence, fit to be shown."""
    with pytest.raises(UsageError) as caught:
        act()
    message = str(caught.value)
    assert re.fullmatch(r"[A-Z][^\n]*\.", message), message
    assert not re.search(r"[.!?]\s", message), message
    assert caught.value.exit_status == 2
    return message


def variants(card: Encoding) -> list[dict[str, object]]:
    """The defaults, and one setting for each choice of each parameter."""
    return [{}, *({p.name: choice} for p in card.parameters for choice in p.choices)]


def inputs(geometry: Geometry, count: int) -> tuple[Tensor, Tensor, Tensor]:
    """Token vectors [position, width], queries [head, position, channel], positions."""
    g = geometry
    return torch.randn(count, g.width), torch.randn(g.heads, count, g.head_dim), torch.arange(count)


def test_the_folder_is_the_list() -> None:
    files = {m.name for m in pkgutil.iter_modules(encodings.__path__) if m.name[0] != "_"}
    assert set(all_encodings()) == files
    assert {"alibi", "learned", "nope", "rope", "sinusoidal", "t5"} <= files
    assert all(encodings.get(name) is card for name, card in all_encodings().items())
    assert all(name in refused(lambda: encodings.get("rotary")) for name in files)


@each_card
def test_card_is_complete(card: Encoding) -> None:
    for text in (card.name, card.latex, card.paper.authors, card.paper.title):
        assert text.strip() == text != ""
    for sentence in (card.summary, card.beyond, card.law):
        assert re.match(r"[A-Z].*\.$", sentence), sentence
    assert card.acts_on in {"nothing", "embeddings", "logits", "queries and keys"}
    assert card.paper.url.startswith("https://")
    assert 1900 < card.paper.year < 2100
    names = [p.name for p in card.parameters]
    assert len(set(names)) == len(names)


@each_card
def test_formula_can_be_drawn_by_matplotlib(card: Encoding) -> None:
    mathtext = pytest.importorskip("matplotlib.mathtext")
    mathtext.MathTextParser("path").parse(f"${card.latex}$")


@each_knob
def test_parameter_accepts_its_default_and_its_range(card: Encoding, knob: Parameter) -> None:
    assert knob.help.endswith(".")
    accepted = [knob.default, *knob.choices]
    accepted += [x for x in (knob.low, knob.high) if x is not None]
    for value in accepted:
        got = card.settings({knob.name: value}).get(knob.name, knob.default)
        assert got == value and type(got) is type(knob.default)
        again = card.settings({knob.name: str(got)}).get(knob.name, knob.default)
        assert again == got  # as a command line has it
    assert card.settings().get(knob.name, knob.default) == knob.default


@each_knob
def test_parameter_refuses_anything_else(card: Encoding, knob: Parameter) -> None:
    wrong: list[object] = ["no such thing", None, "", [1], math.nan, True, False]
    if not knob.choices:
        assert knob.low is not None and knob.high is not None
        wrong += ["nan", math.inf, -math.inf, knob.low - 1, knob.high + 1, -(10**400), 10**400]
        if isinstance(knob.default, int):
            wrong += [knob.low + 0.5, f"{knob.low + 0.5}"]
    for value in wrong:
        message = refused(lambda value=value: card.settings({knob.name: value}))  # type: ignore[misc]
        assert knob.name in message


@each_card
def test_unknown_parameter_is_refused_with_the_known_ones(card: Encoding) -> None:
    message = refused(lambda: card.make(GEOMETRIES[0], {"tempo": 3}))
    assert "tempo" in message
    assert all(p.name in message for p in card.parameters)
    with pytest.raises(UnknownName):
        card.settings({"tempo": 3})


@each_geometry
@each_card
def test_acts_where_its_card_says_and_keeps_shapes(card: Encoding, geometry: Geometry) -> None:
    for values in variants(card):
        module = card.make(geometry, values)
        assert isinstance(module, PositionEncoding)
        x, q, positions = inputs(geometry, 20)
        embedded, rotated = module.embed(x, positions), module.rotate(q, positions, 20)
        bias = module.bias(positions)
        assert embedded.shape == x.shape and embedded.dtype == x.dtype
        assert rotated.shape == q.shape and rotated.dtype == q.dtype
        acts = {
            "embeddings": not torch.equal(embedded, x),
            "queries and keys": not torch.equal(rotated, q),
            "logits": bias is not None,
        }
        assert [place for place, does in acts.items() if does] == [
            place for place in acts if place == card.acts_on
        ]
        torch.testing.assert_close(module.unrotate(rotated, positions, 20), q)
        key = module.rotate_key(q, positions, 20)
        assert key.shape == q.shape and key.dtype == q.dtype
        assert torch.equal(key, q) == (card.acts_on != "queries and keys")
        torch.testing.assert_close(module.unrotate_key(key, positions, 20), q)


@each_geometry
@each_card
def test_bias_has_a_value_for_each_head_and_distance(card: Encoding, geometry: Geometry) -> None:
    for values in variants(card):
        module = card.make(geometry, values)
        for distance in (torch.arange(50), torch.arange(12).view(3, 4), torch.tensor(7)):
            bias = module.bias(distance)
            if bias is None:
                continue
            assert bias.shape == (geometry.heads, *distance.shape)
            assert bias.dtype in (torch.float32, torch.float64)
            assert torch.isfinite(bias).all()
            by_one = module.bias(distance.flatten())
            assert by_one is not None and torch.equal(by_one, bias.reshape(geometry.heads, -1))


@each_geometry
@each_card
def test_law_is_a_curve_per_head_or_none(card: Encoding, geometry: Geometry) -> None:
    for values in variants(card):
        module = card.make(geometry, values)
        mean = torch.randn(2, geometry.heads, geometry.head_dim)
        for count in (1, 50):
            law = module.law(torch.arange(count), mean[0], mean[1], geometry.head_dim**-0.5)
            assert (law is None) == card.law.startswith("None")
            if law is not None:
                assert law.shape == (geometry.heads, count)
                assert torch.isfinite(law).all()


@each_card
def test_longest_is_where_values_end(card: Encoding) -> None:
    geometry = GEOMETRIES[2]
    module = card.make(geometry)
    far = 10 * geometry.length if module.longest is None else module.longest - 1
    for last in (0, far):
        x, q, _ = inputs(geometry, 1)
        position = torch.tensor([last])
        assert torch.isfinite(module.embed(x, position)).all()
        for turned in (module.rotate, module.rotate_key):
            assert torch.isfinite(turned(q, position, last + 1)).all()
    if module.longest is not None:
        end = torch.tensor([module.longest])
        message = refused(lambda: module.embed(torch.zeros(1, geometry.width), end))
        assert str(module.longest) in message
        with pytest.raises(LengthError) as caught:
            module.embed(torch.zeros(1, geometry.width), end)
        assert caught.value.largest == module.longest


@each_card
def test_a_module_is_restored_from_its_state(card: Encoding) -> None:
    geometry = GEOMETRIES[2]
    torch.manual_seed(0)
    a = card.make(geometry)
    torch.manual_seed(1)
    b = card.make(geometry)
    b.load_state_dict(a.state_dict())
    x, _, positions = inputs(geometry, 20)
    assert torch.equal(a.embed(x, positions), b.embed(x, positions))
    left, right = a.bias(positions), b.bias(positions)
    assert (left is None and right is None) or torch.equal(left, right)  # type: ignore[arg-type]


@each_card
def test_what_is_trained_gets_a_gradient(card: Encoding) -> None:
    for values in variants(card):
        module = card.make(GEOMETRIES[2], values)
        x, _, positions = inputs(GEOMETRIES[2], 20)
        bias = module.bias(positions)
        total = module.embed(x, positions).sum() + (0 if bias is None else bias.sum())
        trained = list(module.parameters())
        if trained:
            total.backward()
        assert all(p.grad is not None and torch.isfinite(p.grad).all() for p in trained)


@pytest.mark.skipif(not torch.backends.mps.is_available(), reason="needs Apple's MPS")
@each_card
def test_runs_on_a_device_without_float64(card: Encoding) -> None:
    geometry = GEOMETRIES[2]
    module = card.make(geometry).to("mps")
    x, q, positions = (t.to("mps") for t in inputs(geometry, 20))
    outputs = (module.embed(x, positions), module.rotate(q, positions, 20), module.bias(positions))
    assert all(t is None or t.device.type == "mps" for t in outputs)
