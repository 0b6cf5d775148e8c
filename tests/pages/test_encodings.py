"""Encodings without a browser: golden numbers in its arrays, and the page in every state."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from pages._shared import loaded, offered
from pages.encodings import pieces, results
from pages.encodings.state import AtlasSide, AtlasState, decoded, knobs
from tests.visiting import visit
from viz_core.encodings import all_encodings
from viz_core.errors import UsageError

ROUTER = str(Path(__file__).parents[2] / "pages" / "_router.py")
DRAWN = [e for e in all_encodings() if e != "learned"]
# Reference values, made with transformers 5.24: head width 32, base 10 000, factor 4, L = 512.
FREQUENCIES = {
    "linear": ".25 .14058533 .079056941 .044456985 .025 .014058532 .0079056947 .0044456986 .0025 "
    ".0014058533 .00079056947 .00044456986 .00025 .00014058533 7.9056947e-5 4.4456985e-5",
    "ntk": "1 .51269925 .26286051 .13476838 .069095641 .035425283 .018162515 .0093119079 "
    ".0047742077 .0024477327 .0012549507 .00064341223 .00032987699 .00016912767 8.6711632e-5 "
    "4.4456981e-5",
    "yarn": "1 .56234133 .28234622 .13972194 .067857139 .032133788 .014682004 .0063509978 .0025 "
    ".0014058533 .00079056947 .00044456986 .00025 .00014058533 7.9056947e-5 4.4456985e-5",
}
SLOPES = {
    6: [0.25, 0.0625, 0.015625, 0.00390625, 0.5, 0.125],
    8: [2.0**-h for h in range(1, 9)],
}
BUCKETS = {  # first distances of buckets 16 to 31, and of 8 to 15
    (32, 128): [16, 19, 21, 24, 27, 31, 35, 40, 46, 52, 59, 67, 77, 87, 99, 113],
    (32, 512): [16, 20, 25, 31, 39, 48, 59, 73, 91, 113, 140, 174, 216, 268, 332, 413],
    (16, 64): [8, 11, 14, 18, 23, 30, 39, 50],
}
KERNEL = {1: 0.9571, 4: 0.7288, 16: 0.4953, 64: 0.5373, 256: 0.4163, 512: 0.0167}  # mean cosine
BOUND = {0: 8.5, 1: 8.1459, 16: 3.5713, 128: 3.4202, 512: 2.4527}  # mean |S_j|


def alone(encoding: str, state: AtlasState | None = None, **values: object) -> results.Alone:
    return results.alone(AtlasSide(encoding, tuple(values.items())), state or AtlasState())


def opened(**query: str) -> AppTest:
    app = AppTest.from_file(ROUTER, default_timeout=300)
    visit(app, "encodings")
    for name, value in query.items():
        app.query_params[name] = value
    app.run()
    assert not app.exception
    return app


def charts(app: AppTest) -> dict[str, dict]:
    """What plotly was given, by title."""
    specs = [json.loads(c.proto.spec) for c in app.get("plotly_chart")]
    return {spec["layout"]["title"]["text"]: spec for spec in specs}


def drawn(spec: dict, name: str) -> np.ndarray:
    """The heights of a curve."""
    y = next(t["y"] for t in spec["data"] if t["name"] == name)
    return np.frombuffer(base64.b64decode(y["bdata"]), y["dtype"]).astype(float)


def maps(app: AppTest) -> list[str]:
    """The titles of the maps."""
    sent = [json.loads(c.proto.json) for c in app.get("bidi_component")]
    return [m["title"] for one in sent for m in one.get("maps", ())]


def widget_of(app: AppTest, key: str):
    """The widget with a key, or one that begins with it."""
    kinds = ("selectbox", "select_slider", "slider", "number_input", "toggle", "button_group")
    return next(w for kind in kinds for w in app.get(kind) if (w.key or "").startswith(key))


def words(app: AppTest) -> str:
    parts = (app.markdown, app.caption, app.info, app.warning, app.error)
    return " ".join(e.value for part in parts for e in part)


@pytest.mark.parametrize("heads", SLOPES)
def test_stairs_are_the_reference_slopes_and_their_half_lives(heads: int) -> None:
    part = pieces.part(alone("alibi", AtlasState(heads=heads)))
    np.testing.assert_allclose(part.slope, SLOPES[heads])
    np.testing.assert_allclose(part.reach[:, 0], np.log(2) / np.array(SLOPES[heads]))
    if heads == 8:  # 90 and 99 % as the reference has them, to a tenth of a token or a token
        np.testing.assert_allclose(part.reach[:4, 1], [4.6, 9.2, 18.4, 36.8], atol=0.05)
        np.testing.assert_allclose(part.reach[4:, 2], [147, 295, 589, 1179], atol=0.5)


@pytest.mark.parametrize(("buckets", "furthest"), BUCKETS)
def test_bucket_edges_are_the_reference_ones(buckets: int, furthest: int) -> None:
    part = pieces.part(alone("t5", buckets=buckets, max_distance=furthest))
    firsts = [first for _, first, _ in part.spans]
    assert firsts == [*range(buckets // 2), *BUCKETS[buckets, furthest]]


@pytest.mark.parametrize("scaling", FREQUENCIES)
def test_wavelengths_are_the_reference_ones_before_and_after_scaling(scaling: str) -> None:
    part = pieces.part(alone("rope", scaling=scaling, factor=4.0))
    golden = np.array([float(x) for x in FREQUENCIES[scaling].split()])
    np.testing.assert_allclose(part.theta, golden, rtol=1e-6)
    np.testing.assert_allclose(part.plain, 10000.0 ** (-np.arange(16) / 16))


def test_dynamic_ntk_follows_the_shown_length() -> None:
    """At N = 2 L and a factor of 1 its base is 20 945.8825, as in the reference."""
    part = pieces.part(alone("rope", AtlasState(length=1024), scaling="dynamic"))
    np.testing.assert_allclose(part.theta, 20945.8825 ** (-np.arange(16) / 16), rtol=1e-6)
    short = pieces.part(alone("rope", AtlasState(length=256), scaling="dynamic"))
    np.testing.assert_allclose(short.theta, short.plain)


@pytest.mark.parametrize("layout", ["half", "interleaved"])
def test_rope_is_its_kernel_for_constant_queries_and_keys(layout: str) -> None:
    a = alone("rope", layout=layout)
    for distance, mean in KERNEL.items():
        assert a.curve(0)[distance] == pytest.approx(16 * mean / 32**0.5, abs=5e-4)
    for distance, value in BOUND.items():
        assert results.bound(a)[distance] == pytest.approx(value, abs=5e-5)
    assert (
        results.bound(alone("rope", scaling="linear", factor=2.0)) is None
    )  # of others none known


def test_yarn_s_temperature_is_in_the_logits() -> None:
    a, plain = alone("rope", scaling="yarn", factor=4.0), alone("rope")
    assert a.curve(0)[0] / plain.curve(0)[0] == pytest.approx(1.296477, rel=1e-5)


def test_sinusoidal_logits_know_the_distance_alone() -> None:
    a = alone("sinusoidal", AtlasState(length=300))
    vectors = results.vectors(a.module, range(300))
    for start in (0, 117, 250):
        gram = vectors[start:] @ vectors[start] / 256**0.5
        np.testing.assert_allclose(a.curve(0)[: 300 - start], gram, atol=1e-9)


def test_a_t5_table_falls_evenly_as_told() -> None:
    law = alone("t5", fall=0.5).curve(0)
    np.testing.assert_allclose(law[[0, 1, 15, 16, 18, 112, 113, 1023]],
                               [0, -0.5, -7.5, -8, -8, -15, -15.5, -15.5])  # fmt: skip


@pytest.mark.parametrize("encoding", DRAWN)
@pytest.mark.parametrize("length", [64, 700])
def test_maps_are_the_softmax_taken_directly(encoding: str, length: int) -> None:
    """Single tokens at 64, cells of 2 x 2 at 700, whose last cell is cut."""
    a = alone(encoding, AtlasState(length=length))
    query, key = np.indices((length, length))
    logits = np.where(key <= query, a.curve(2)[np.abs(query - key)], -np.inf)
    direct = torch.softmax(torch.from_numpy(logits), dim=-1).numpy()
    found = a.window(2)
    cell = found.cell
    assert cell == -(-length // results.PIXELS)
    pad = -length % cell
    cells = np.pad(direct, (0, pad)).reshape((length + pad) // cell, cell, -1, cell).sum((1, 3))
    known = found.count > 0
    np.testing.assert_allclose(
        found.value[0][known], np.log(cells[known] / found.count[known]), atol=1e-5, rtol=1e-6
    )


def test_a_part_of_a_map_is_that_part() -> None:
    a, box = alone("alibi"), ((600, 640), (580, 620))
    part = a.window(3, box)
    whole = a.window(3, ((600, 640), (140, 640))).value[0][:, 440:480]
    assert part.cell == 1
    known = part.count > 0
    np.testing.assert_allclose(part.value[0][known], whole[known], rtol=1e-6)


def test_far_keys_of_steep_heads_keep_their_digits() -> None:
    a = alone("alibi", AtlasState(length=4096))
    far = a.window(0).value[0, -1, 0]  # queries 4 088 .. 4 095, keys 0 .. 7
    distance = np.subtract.outer(np.arange(4088, 4096), np.arange(8))
    log = -0.5 * distance + np.log(1 - np.exp(-0.5))
    direct = np.logaddexp.reduce(log.ravel()) - np.log(64)
    assert far == pytest.approx(direct, rel=1e-6)


def test_what_is_nothing_but_trained_numbers_has_no_law() -> None:
    a = alone("learned", AtlasState(heads=64, width=256, trained=131_072))  # 2 billion of them
    assert a.law is None
    assert results.trained(a.module) == 64 * 256 * 131_072


def test_odd_widths_are_one_sentence() -> None:
    with pytest.raises(UsageError, match="even head width"):
        alone("rope", AtlasState(width=33))
    with pytest.raises(UsageError, match=r"1 x 33 = 33, so choose an even head width\."):
        alone("sinusoidal", AtlasState(heads=1, width=33))
    assert alone("alibi", AtlasState(width=33)).law is not None


@pytest.mark.parametrize(
    "state",
    [
        AtlasState(),
        AtlasState((AtlasSide("t5", (("buckets", 64), ("fall", 0.5))),), heads=12, head=11),
        AtlasState(
            (AtlasSide("rope", (("theta", 5e5), ("scaling", "yarn"), ("factor", 8.0))),) * 2
        ),
        AtlasState(width=128, trained=4096, length=16384, x_log=True, box=((512, 768), (0, 256))),
    ],
)
def test_an_address_holds_the_state(state: AtlasState) -> None:
    assert decoded(state.encoded()) == (state, [])


def test_the_start_needs_no_words_and_no_value_an_escape() -> None:
    assert AtlasState().encoded() == {"v": "1"}
    side = AtlasSide("rope", (("theta", 1e9), ("scaling", "yarn"), ("factor", 1.5)))
    assert side.encoded() == "rope~theta-1000000000~scaling-yarn~factor-1.5"


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({"a": "rotary"}, "rotary"),
        ({"a": "rope~tempo-3"}, "tempo"),
        ({"a": "rope~scaling-best"}, "best"),
        ({"b": "rope~factor-9999"}, "9999"),
        ({"a": "alibi~exponent-nan"}, "nan"),
        ({"heads": "0"}, "heads"),
        ({"width": "1e3"}, "width"),
        ({"length": "16385"}, "length"),
        ({"trained": "x" * 5000}, "trained"),
        ({"head": "9"}, "head"),
        ({"z": "0-9"}, "queries.keys"),
        ({"z": "0-9.20-30"}, "queries 0–9, keys 20–30"),
        ({"z": "0-2000.0-2000"}, "1,024 tokens"),
        ({"v": "99"}, "version"),
    ],
)
def test_what_cannot_be_read_is_one_sentence(query: dict[str, str], said: str) -> None:
    state, wrong = decoded(query)
    assert len(wrong) == 1
    assert said in wrong[0]
    assert len(wrong[0]) < 260
    assert not state.box
    assert state.heads == 8


def test_first_view_needs_no_checkpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offered, "checkpoints", lambda: pytest.fail("checkpoints were looked for"))
    monkeypatch.setattr(loaded, "model", lambda *a: pytest.fail("a model was loaded"))
    app = opened()
    assert not app.error
    assert not app.warning
    sides = ["ALiBi · head 4", "RoPE · every head"]
    parts = ["Reach by head: the stairs", "Wavelengths by pair of channels"]
    assert list(charts(app)) == sides + parts
    assert maps(app) == sides
    assert app.query_params == {"v": ["1"]} or app.query_params == {"v": "1"}


@pytest.mark.parametrize("encoding", all_encodings())
def test_each_encoding_alone(encoding: str) -> None:
    app, card = opened(a=encoding), all_encodings()[encoding]
    assert not app.error
    said = words(app)
    for part in (card.paper.authors, card.paper.url, card.summary, card.beyond):
        assert part in said
    assert card.latex.split(",")[0] in app.latex[0].value
    if encoding == "learned":
        assert "without a checkpoint there is nothing to show" in said
        assert not charts(app)
    else:
        assert len(maps(app)) == 1


@pytest.mark.parametrize("encoding", all_encodings())
def test_every_parameter_has_a_widget_that_acts_and_says_what_it_does(encoding: str) -> None:
    app, own = opened(a=encoding, b="nope"), knobs(all_encodings()[encoding])
    for p in own:
        widget = widget_of(app, f"atlas_{encoding}_{p.name}0")
        assert (widget.value, widget.help) == (p.default, p.help)
    for p in own:
        widget = widget_of(app, f"atlas_{encoding}_{p.name}0")
        widget.set_value(p.choices[-1] if p.choices else p.high).run()
        assert not app.exception
        assert f"{p.name}-" in str(app.query_params["a"])
    for name in ("count", "heads", "width", "trained", "length", "head", "x_log", "encoding0"):
        assert widget_of(app, f"atlas_{name}").help


def test_curves_are_drawn_as_they_are_computed() -> None:
    app = opened(a="alibi", b="t5~fall-0.5", length="256")
    np.testing.assert_allclose(
        drawn(charts(app)["ALiBi · head 4"], "head 4"), -np.arange(256) / 16, rtol=1e-6
    )
    law = alone("t5", AtlasState(length=256), fall=0.5).curve(0)
    title = "T5 bias, falling by 0.5 · every head"
    np.testing.assert_allclose(drawn(charts(app)[title], "every head"), law, rtol=1e-6)


def test_a_scaling_stretches_to_the_shown_length_unless_told_otherwise() -> None:
    app = opened(a="rope", length="4096")
    app.selectbox(key="atlas_rope_scaling0").set_value("yarn").run()
    assert not app.exception
    assert "RoPE, YaRN s = 8 · every head" in charts(app)
    spec = charts(app)["Wavelengths by pair of channels"]
    assert {t["name"] for t in spec["data"]} == {"before scaling", "YaRN s = 8"}
    app.select_slider(key="atlas_rope_factor0").set_value(4.0).run()
    app.selectbox(key="atlas_rope_scaling0").set_value("ntk").run()
    assert "RoPE, NTK s = 4 · every head" in charts(app)


def test_an_impossible_side_is_one_sentence_and_the_other_stays() -> None:
    app = opened(a="rope", b="alibi", width="33")
    assert [e.value for e in app.error] == [
        "Expected an even head width of at least 2 for RoPE with scaling none; got 33."
    ]
    assert maps(app) == ["ALiBi · head 4"]
    app = opened(a="t5~max_distance-8", b="nope", width="32")
    assert len(app.error) == 1
    assert maps(app) == ["NoPE · every head"]


def test_fewer_heads_keep_one_of_them_in_view() -> None:
    app = opened(heads="12", head="12", a="alibi")
    assert "ALiBi · head 12" in charts(app)
    app.number_input(key="atlas_heads").set_value(4).run()
    assert not app.exception
    assert "ALiBi · head 4" in charts(app)


def test_a_window_is_shown_left_and_dropped_when_the_text_gets_shorter() -> None:
    app = opened(z="512-767.0-255")
    assert "queries 512–767, keys 0–255" in words(app)
    next(b for b in app.button if b.label == "Whole map").click().run()
    assert not app.exception
    assert "z" not in app.query_params
    app = opened(z="512-767.0-255")
    app.select_slider(key="atlas_length").set_value(256).run()
    assert not app.exception
    assert "z" not in app.query_params


def test_the_page_keeps_its_state_while_another_is_open(tables_folder: Path) -> None:
    app = opened(a="t5~buckets-64", heads="4", head="4")
    app.query_params.clear()  # as a browser does when the menu is used
    visit(app, "extrapolation").run()
    assert not app.exception
    app.query_params.clear()
    visit(app, "encodings").run()
    assert not app.exception
    assert "T5 bias, buckets 64 · every head" in charts(app)
    assert app.query_params["heads"] in ("4", ["4"])
