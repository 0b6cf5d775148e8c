"""Each layer's encoding: RoPE turned back, its scalings beside transformers', slopes and tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from tests.readers.huggingface.conftest import Model
from tests.readers.huggingface.families import LONG, ids, save, turning
from tests.readers.huggingface.test_attention import read
from viz_core.encodings import get
from viz_core.encodings.alibi import ALiBi, slopes
from viz_core.encodings.nope import NoPE
from viz_core.encodings.rope import RoPE
from viz_core.encodings.t5 import T5
from viz_core.errors import LengthError
from viz_core.readers.huggingface.families import FAMILIES
from viz_core.readers.huggingface.foreign import Foreign
from viz_core.readers.huggingface.given import GivenRoPE, difference
from viz_core.readers.huggingface.positions import theirs
from viz_core.trace import check_length, trace

BASE = {"rope_theta": 500_000.0}
FACTORS = {
    "short_factor": [1.0, 1.5, 2.0, 2.5],
    "long_factor": [1.0, 4.0, 6.0, 8.0],
    "original_max_position_embeddings": 256,
}
SCALINGS: dict[str, dict[str, Any]] = {
    "default": {},
    "linear": {"factor": 4.0},
    "dynamic": {"factor": 2.0},
    "yarn": {"factor": 4.0, "original_max_position_embeddings": 256},
    "llama3": {
        "factor": 8.0,
        "low_freq_factor": 2.0,
        "high_freq_factor": 6.0,
        "original_max_position_embeddings": 256,
    },
    "longrope": FACTORS,
    "proportional": {"partial_rotary_factor": 0.5},
}


def turned_back(subject: Foreign, offset: int = 0) -> list[torch.Tensor]:
    """q of each layer before its encoding [head, position, channel], for one token repeated."""
    count = 80
    tokens = torch.full((count,), 7)
    positions = torch.arange(offset, offset + count)
    return [
        scores.encoding.unrotate(layer.q, positions, offset + count)
        for layer, scores in subject.passes(tokens, lambda _: None, offset)
    ]


@pytest.mark.parametrize("family", turning())
def test_a_token_has_the_same_query_everywhere_once_it_is_turned_back(
    model: Model, family: str
) -> None:
    """So layout, width, base and scaling are the model's own, in layers without RoPE too.

    The same token at all positions leaves position to RoPE alone, but for gpt-oss, whose sinks
    take less from each row that is longer: there the first layer is as far as that holds.
    """
    subject = read(model(family).path)
    for offset in (0, 30):
        for q in turned_back(subject, offset)[: 1 if family == "gpt_oss" else None]:
            torch.testing.assert_close(q, q[:, :1].expand_as(q), atol=2e-4, rtol=0)


@pytest.mark.parametrize("kind", SCALINGS)
def test_scalings_are_transformers_own(tmp_path: Path, kind: str) -> None:
    settings = {"rope_type": kind, **BASE, **SCALINGS[kind]}
    save(tmp_path, "llama", rope_parameters=settings)
    subject = read(tmp_path)
    encoding, found = subject.encoding, theirs(subject.base, "")
    assert isinstance(encoding, RoPE) and found is not None
    theta, factor = encoding.frequencies(1)
    assert difference(theta, found[0]) < 1e-5
    assert factor == pytest.approx(found[1], rel=1e-5)
    assert isinstance(encoding, GivenRoPE) == (kind in ("longrope", "proportional"))
    assert encoding.theta == BASE["rope_theta"]
    values = subject.config.parameters
    assert values["scaling"] == (
        kind if kind in ("linear", "dynamic", "yarn", "llama3") else "none"
    )
    get("rope").settings(values)  # what its card can say
    for q in turned_back(subject):
        torch.testing.assert_close(q, q[:, :1].expand_as(q), atol=2e-4, rtol=0)


@pytest.mark.parametrize("kind", ["dynamic", "longrope"])
def test_what_was_read_before_changes_nothing(tmp_path: Path, kind: str) -> None:
    """transformers keeps the frequencies of the longest text so far; here each text has its own."""
    save(tmp_path, "llama", rope_parameters={"rope_type": kind, **BASE, **SCALINGS[kind]})
    subject, tokens = read(tmp_path), ids(3 * LONG // 2).tolist()
    before = trace(subject, tokens[:200])
    far = trace(subject, tokens)
    again = trace(subject, tokens[:200])
    assert all(torch.equal(a.q, b.q) for a, b in zip(before.layers, again.layers, strict=True))
    assert not torch.allclose(far.layers[0].k[:, :200], before.layers[0].k)
    place, repeated = torch.arange(3 * LONG // 2), torch.full((3 * LONG // 2,), 7)
    for layer, scores in subject.passes(repeated, lambda _: None):
        k = scores.encoding.unrotate(layer.k, place, len(place))
        torch.testing.assert_close(k, k[:, :1].expand_as(k), atol=2e-3, rtol=0)


def test_two_bases_in_one_model(model: Model) -> None:
    local, whole = read(model("gemma3_text").path).encodings
    assert isinstance(local, RoPE) and isinstance(whole, RoPE)
    assert (local.theta, whole.theta) == (10_000, 1_000_000)


@pytest.mark.parametrize("family", ["cohere2", "exaone4", "smollm3", "llama4_text"])
def test_layers_without_rope(model: Model, family: str) -> None:
    first, second = read(model(family).path).encodings
    assert isinstance(first, RoPE) and isinstance(second, NoPE)


@pytest.mark.parametrize("family", ["bloom", "mpt"])
def test_slopes_of_six_heads(model: Model, family: str) -> None:
    encoding = read(model(family).path).encoding
    assert isinstance(encoding, ALiBi)
    assert torch.equal(encoding.slope, slopes(6).float())


def test_mpt_may_have_another_exponent(tmp_path: Path) -> None:
    from transformers.models.mpt.modeling_mpt import build_mpt_alibi_tensor

    save(tmp_path, "mpt", attn_config={"alibi_bias_max": 4})
    encoding = read(tmp_path).encoding
    expected = build_mpt_alibi_tensor(6, 50, 4)[:, 0].flip(-1)
    found = encoding.bias(torch.arange(50))
    assert found is not None
    torch.testing.assert_close(found, expected)


@pytest.mark.parametrize(("family", "tables"), [("t5", 1), ("umt5", 2)])
@pytest.mark.parametrize("stack", ["encoder", "decoder"])
def test_bias_tables_are_the_weights(model: Model, family: str, tables: int, stack: str) -> None:
    saved = model(family)
    subject = read(saved.path, stack=stack)
    assert len(set(subject.encodings)) == tables
    first = getattr(saved.model, stack).block[0].layer[0].SelfAttention
    encoding = subject.encodings[0]
    assert isinstance(encoding, T5) and encoding.bidirectional == (stack == "encoder")
    assert torch.equal(encoding.table.weight, first.relative_attention_bias.weight)
    expected = first.compute_bias(50, 50)[0, :, 20]  # of one query, by key
    torch.testing.assert_close(encoding.bias(20 - torch.arange(50))[:, :21], expected[:, :21])


@pytest.mark.parametrize(
    "family", sorted(n for n, f in FAMILIES.items() if f.positions == "learned")
)
def test_a_table_ends_where_it_ends(model: Model, family: str) -> None:
    subject = read(model(family).path)
    assert subject.encoding.longest == LONG  # without the row for padding, in RoBERTa's
    found = trace(subject, ids(LONG).tolist())
    with pytest.raises(LengthError):
        check_length(subject, LONG + 1)
    late = list(subject.passes(ids(24), lambda _: None, offset=LONG - 24))
    assert not torch.allclose(late[0][0].q, found.layers[0].q[:, :24])
