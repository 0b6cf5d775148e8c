"""What buffers tell: bases, slopes, tables and masks, and how they hold against the formulas."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
import torch
from torch import Tensor

from tests.readers.script import modules
from tests.readers.script.reading import IDS, asked, described, maps, opened, same, saved
from viz_core import kernels
from viz_core.encodings import alibi
from viz_core.errors import DamagedCheckpoint
from viz_core.readers import script
from viz_core.readers.description import Finding


@pytest.fixture
def path(tmp_path: Path) -> Path:
    torch.manual_seed(0)
    return tmp_path / "model.safetensors"


def attention(width: int = 32, **buffers: Tensor) -> Mapping[str, Tensor]:
    """A state dict of an article's layer, with `buffers`."""
    return {**modules.Attention(width, 4).state_dict(), **buffers}


def audited(path: Path, **answers: object) -> dict[str, Finding]:
    found, subject = opened(path, **answers)
    return {f.about: f for f in script.audit(subject, found)}


def theta(pairs: int = 8, base: float = 10000.0) -> Tensor:
    return base ** (-torch.arange(pairs) / pairs)


@pytest.mark.parametrize("base", [100.0, 10000.0, 500000.0, 12345.0])
def test_the_base_is_found_in_the_frequencies(base: float, path: Path) -> None:
    file = saved(attention(64, inv_freq=theta(8, base)), path)
    found = described(file)
    assert found.config.encoding == "rope" and found.config.heads == 4
    assert found.config.parameters["theta"] == pytest.approx(base, rel=1e-5)
    assert base == 12345.0 or found.config.parameters["theta"] == base  # round ones exactly
    assert audited(file)["inverse frequencies"].verdict == "agrees"


def test_frequencies_that_were_all_divided_are_linear_scaling(path: Path) -> None:
    file = saved(attention(64, inv_freq=theta() / 4), path)
    parameters = described(file).config.parameters
    assert (parameters["theta"], parameters["scaling"], parameters["factor"]) == (1e4, "linear", 4)
    assert audited(file)["inverse frequencies"].verdict == "agrees"


def test_frequencies_that_follow_no_formula_are_used_as_they_are(path: Path) -> None:
    bent = theta() * torch.linspace(1, 0.5, 8)  # as scalings by parts bend them
    file = saved(attention(64, inv_freq=bent), path)
    found = audited(file)["inverse frequencies"]
    assert found.verdict == "differs" and "the file's own are used" in found.words
    _, subject = opened(file)
    used, factor = subject.encoding.frequencies(99)  # type: ignore[operator]
    torch.testing.assert_close(used, bent.double())
    assert factor == 1.0


def test_frequencies_in_half_precision_keep_their_base(path: Path) -> None:
    file = saved(attention(64, inv_freq=theta().bfloat16()), path)
    assert described(file).config.parameters["theta"] == 10000.0
    assert audited(file)["inverse frequencies"].verdict == "differs"  # and are what the model has


def test_frequencies_of_a_part_of_the_channels(path: Path) -> None:
    found = described(saved(attention(64, inv_freq=theta(4)), path), heads=4)
    assert found.config.head_dim == 16 and found.config.parameters["rotary"] == 8
    with pytest.raises(Exception, match="at most the head's 4 channels"):
        described(path, heads=16)


@pytest.mark.parametrize("kind", ["cos-half", "cos-interleaved", "cos-pairs", "complex", "pairs"])
def test_tables_of_rotations(kind: str, path: Path) -> None:
    angle = torch.arange(40)[:, None] * theta(8, 300.0)
    wide = {"cos-half": torch.cat((angle, angle), -1), "cos-pairs": angle}
    wide["cos-interleaved"] = angle.repeat_interleave(2, -1)
    if kind in wide:
        buffers = {"cos_cached": wide[kind].cos()[None, None], "sin_cached": wide[kind].sin()}
        buffers["sin_cached"] = buffers["sin_cached"][None, None]
    else:
        turn = torch.polar(torch.ones_like(angle), angle)
        buffers = {"freqs_cis": turn if kind == "complex" else torch.view_as_real(turn)}
    found = described(saved(attention(64, **buffers), path))
    assert found.config.parameters["theta"] == 300.0 and found.config.heads == 4
    layout = {"cos-half": "half", "cos-interleaved": "interleaved"}.get(kind)
    assert layout in (None, found.config.parameters["layout"])
    assert ("layout" in asked(found)) == (layout is None)
    (length,) = [q.default for q in found.questions if q.name == "length"]
    assert length == 40  # the table's, which is no proof of training


def test_a_factor_on_cosines_and_sines_is_kept(path: Path) -> None:
    angle = torch.arange(40)[:, None] * theta()
    buffers = {"cos": 1.2 * angle.cos(), "sin": 1.2 * angle.sin(), "inv_freq": theta()}
    file = saved(attention(64, **buffers), path)
    assert "1.2" in audited(file)["inverse frequencies"].words
    _, subject = opened(file)
    assert subject.encoding.frequencies(9)[1] == pytest.approx(1.2)  # type: ignore[operator]


@pytest.mark.parametrize("heads", [4, 6, 8, 12])
def test_slopes_give_heads_and_agree_with_the_paper(heads: int, path: Path) -> None:
    width = 4 * heads
    file = saved(attention(width, alibi_slopes=alibi.slopes(heads).float()[:, None, None]), path)
    found = described(file)
    assert (found.config.heads, found.config.parameters["exponent"]) == (heads, 8.0)
    assert "heads" not in asked(found)
    assert audited(file)["ALiBi slopes"].verdict == "agrees"


def test_slopes_that_arent_the_papers_are_told_and_used(path: Path) -> None:
    literal = 2.0 ** (-8.0 * torch.arange(1, 13) / 12)  # the paper's sentence read to the letter
    file = saved(attention(48, slopes=literal), path)
    found = audited(file)["ALiBi slopes"]
    assert found.verdict == "differs" and "12 heads" in found.words
    _, subject = opened(file)
    bias = subject.encoding.bias(torch.tensor([3, -3]))
    assert bias is not None
    torch.testing.assert_close(bias, -literal[:, None] * 3.0 * torch.ones(2))
    other = saved(attention(32, slopes=alibi.slopes(8, 4.0)), path)
    assert audited(other)["ALiBi slopes"].verdict == "differs"
    assert described(other).config.parameters["exponent"] == 4.0


@pytest.mark.parametrize("convention", ["distance", "key", "last-key", "symmetric", "masked"])
def test_a_bias_in_any_convention_is_its_slopes(convention: str, path: Path) -> None:
    slope, d, n = modules.slopes(4)[:, None, None], modules.distance(20), 20
    future = torch.ones(n, n).triu(1).bool()
    bias = {
        "distance": -slope * d,
        "key": slope * torch.arange(n)[None, None],
        "last-key": slope * (torch.arange(n) - n + 1)[None, None],
        "symmetric": -slope * d.abs(),
        "masked": (-slope * d).masked_fill(future, -1e9),
    }[convention]
    weights = attention()
    file = saved({**weights, "alibi": bias[None]}, path)
    assert audited(file)["ALiBi slopes"].verdict == "agrees"
    assert described(file).config.heads == 4
    plain = saved({**weights, "slopes": modules.slopes(4)}, path.with_name("plain.safetensors"))
    same(maps(opened(file)[1]), maps(opened(plain)[1]))


@pytest.mark.parametrize("blocks", [False, True])
def test_a_sinusoid_is_known_from_its_table(blocks: bool, path: Path) -> None:
    model, angle = modules.Model(), torch.arange(50)[:, None] * theta(16, 10000.0)
    pairs = (angle.sin(), angle.cos())
    table = torch.cat(pairs, -1) if blocks else torch.stack(pairs, -1).flatten(1)
    found, subject = opened(saved({**model.state_dict(), "pe": table[None]}, path), heads=4)
    assert (found.config.encoding, found.config.parameters) == ("sinusoidal", {"base": 10000.0})
    positions = torch.arange(50)
    added = subject.encoding.embed(torch.zeros(50, 32), positions)
    torch.testing.assert_close(added, table, rtol=0, atol=1e-5)


def test_any_other_table_of_positions_is_learned(path: Path) -> None:
    state = {**modules.Model().state_dict(), "pos_emb": torch.randn(1, 24, 32)}
    found, subject = opened(saved(state, path), heads=4)
    assert (found.config.encoding, found.config.length) == ("learned", 24)
    added = subject.encoding.embed(torch.zeros(24, 32), torch.arange(24))
    torch.testing.assert_close(added, state["pos_emb"][0])


def test_t5s_tables_give_heads_and_buckets(path: Path) -> None:
    file = saved(modules.Bucketed(True), path)
    found = described(file)
    assert (found.config.encoding, found.config.heads) == ("t5", 4)
    assert found.config.parameters == {"buckets": 8, "max_distance": 128, "bidirectional": 0}
    words = audited(file)["T5 buckets"].words
    assert "128" in words and "nats" in words


@pytest.mark.parametrize("kind", ["ones", "bool", "additive"])
def test_a_causal_mask_of_any_kind(kind: str, path: Path) -> None:
    lower = torch.ones(24, 24).tril()
    masks = {"ones": lower, "bool": ~lower.bool(), "additive": (lower - 1) * 1e9}
    found = described(saved(attention(mask=masks[kind][None, None]), path))
    assert found.config.causal and found.config.length == 24
    assert not asked(found) & {"attention", "length"}


def test_a_mask_that_hides_nothing_says_nothing(path: Path) -> None:
    found = described(saved(attention(mask=torch.ones(24, 24)), path))
    assert {"attention", "length"} <= asked(found)
    assert any(f.about == "attention" and "hides nothing" in f.words for f in found.findings)


def test_layers_may_have_slopes_of_their_own(path: Path) -> None:
    model = modules.Model(layers=2)
    state = dict(model.state_dict())
    own = [modules.slopes(4), 2 * modules.slopes(4)]
    state |= {f"layers.{i}.attn.slopes": slope for i, slope in enumerate(own)}
    _, subject = opened(saved(state, path))
    strips = [how.strip for _, how in subject.passes(IDS, kernels.ignore)]
    torch.testing.assert_close(strips[1][:, :14], 2 * strips[0][:, :14])


@pytest.mark.parametrize(
    ("buffers", "said"),
    [
        ({"inv_freq": theta(4), "slopes": torch.ones(4)}, "one position encoding"),
        ({"inv_freq": -theta(4)}, "positive frequencies"),
        ({"inv_freq": theta(4) * float("nan")}, "finite numbers"),
        ({"cos": torch.ones(8, 8)}, "no counterpart"),
        ({"cos": torch.ones(4, 8, 8), "sin": torch.ones(4, 8, 8)}, "isn't so"),
        ({"freqs_cis": torch.ones(8, 8)}, r"as \[position, pair\], complex"),
        ({"pos_emb": torch.randn(4, 8, 32)}, "a vector of 32 channels for each position"),
        ({"slopes": torch.zeros(4)}, "a slope other than 0"),
        ({"slopes": torch.ones(5)}, "divide 32 channels"),
        ({"alibi": torch.randn(4, 8, 8)}, "linear in the distance"),
        ({"alibi": torch.ones(4, 0, 8)}, "plain numbers"),
        ({"pe": torch.ones(8, 32, dtype=torch.complex64)}, "plain numbers"),
        ({"alibi": torch.randn(8, 8)}, r"as \[head, query, key\]"),
        ({"pe": torch.randn(8, 16)}, "a vector of 32 channels for each position"),
        ({"slopes": torch.ones(4), "m": torch.ones(4)}, "found both"),
    ],
)
def test_buffers_that_cant_be_followed(buffers: dict[str, Tensor], said: str, path: Path) -> None:
    with pytest.raises(DamagedCheckpoint, match=said) as caught:
        script.describe(saved(attention(**buffers), path), {})
    assert "\n" not in str(caught.value) and path.name in str(caught.value)
