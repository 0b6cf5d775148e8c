"""Masks in a state dict: what hides by distance alone is computed so, anything else is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import Tensor

from tests.readers.script import modules
from tests.readers.script.reading import IDS, described, maps, opened, same, saved
from viz_core.errors import DamagedCheckpoint

N, H = 24, 4
LOWER = torch.ones(N, N).tril()
WINDOW = LOWER.triu(-4)  # the last 5
BAND = torch.ones(N, N).tril(3).triu(-3)
KINDS = {
    "ones": lambda seen: seen,
    "bool": lambda seen: seen == 0,
    "minus infinity": lambda seen: torch.zeros(N, N).masked_fill(seen == 0, -torch.inf),
    "a large penalty": lambda seen: (seen - 1) * 1e9,
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "model.safetensors"


def state(**buffers: Tensor) -> dict[str, Tensor]:
    """Three layers of plain attention with `buffers` in each."""
    torch.manual_seed(0)
    found = modules.Model().state_dict()
    for name, buffer in buffers.items():
        found |= {f"layers.{i}.attn.{name}": buffer.clone() for i in range(3)}
    return found


def hidden(found: dict[str, Tensor], path: Path, seen: Tensor) -> None:
    """Holds the maps of `found` against those without a mask, cut to what is `seen`."""
    own = maps(opened(saved(found, path), heads=H)[1])
    free = {n: t for n, t in found.items() if "mask" not in n}
    answers = {"heads": H, "attention": "bidirectional"}
    whole = maps(opened(saved(free, path), **answers)[1])
    n = len(IDS)
    first = whole[0] * seen[:n, :n]
    same(own[:1], [first / first.sum(-1, keepdim=True)])
    assert ((own[-1] > 0) == (seen[:n, :n] > 0)).all()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seen", [LOWER, WINDOW, BAND])
def test_masks_by_distance_are_computed(path: Path, kind: str, seen: Tensor) -> None:
    hidden(state(mask=KINDS[kind](seen)[None, None]), path, seen)


@pytest.mark.parametrize("seen", [LOWER, WINDOW, BAND])
def test_a_mask_may_stand_there_once_for_each_head(path: Path, seen: Tensor) -> None:
    for kind in ("ones", "minus infinity"):
        hidden(state(mask=KINDS[kind](seen)[None, None].repeat(1, H, 1, 1)), path, seen)


def test_heads_that_hide_differently_are_refused(path: Path) -> None:
    each = torch.stack([LOWER, LOWER, WINDOW, WINDOW])[None]
    with pytest.raises(DamagedCheckpoint, match="mask"):
        described(saved(state(mask=each), path), heads=H)


def test_what_is_said_of_a_window(path: Path) -> None:
    found = described(saved(state(mask=WINDOW), path), heads=H)
    words = [f.words for f in found.findings if f.about == "attention"]
    assert "3 of 3 layers see the last 5 tokens, by 'layers.0.attn.mask'." in words
    assert found.config.causal and found.config.length == N
    sides = described(saved(state(mask=BAND), path), heads=H)
    assert any("see 3 tokens to each side" in f.words for f in sides.findings)


def test_layers_may_have_windows_of_their_own(path: Path) -> None:
    found = state(mask=LOWER)
    found["layers.1.attn.mask"] = WINDOW
    own = maps(opened(saved(found, path), heads=H)[1])
    assert [int((m[0, -1] > 0).sum()) for m in own] == [len(IDS), 5, len(IDS)]


PREFIX = LOWER.clone()
PREFIX[:, :4] = 1
BLOCKS = torch.block_diag(*[torch.ones(6, 6)] * 4)
HOLES = LOWER.clone()
HOLES[13, 2] = 0


@pytest.mark.parametrize(
    "buffer",
    [
        torch.ones(N, N).tril(1),
        torch.ones(N, N).tril(-1),
        PREFIX,
        BLOCKS,
        BLOCKS * LOWER,
        HOLES,
        LOWER * torch.rand(N, N),
        LOWER.flip(-1),
        LOWER.masked_fill(LOWER == 0, torch.nan),
    ],
)
def test_a_mask_that_is_not_understood_is_refused(path: Path, buffer: Tensor) -> None:
    with pytest.raises(DamagedCheckpoint, match=r"layers\.0\.attn\.mask.* isn't read"):
        described(saved(state(mask=buffer), path), heads=H)


def test_masks_that_differ_without_a_rule_are_refused(path: Path) -> None:
    found = state(mask=WINDOW)
    del found["layers.1.attn.mask"]
    with pytest.raises(DamagedCheckpoint, match="some layers have none"):
        described(saved(found, path), heads=H)


POSITION = torch.arange(N)
SLOPES = modules.slopes(H).view(H, 1, 1)
AWAY = -SLOPES * (POSITION[:, None] - POSITION)


@pytest.mark.parametrize("bias", [AWAY, (SLOPES * POSITION).expand(H, N, N)])
def test_alibi_and_the_mask_in_one_buffer(path: Path, bias: Tensor) -> None:
    both = bias.masked_fill(LOWER == 0, -torch.inf)
    found = state(bias=both[None])
    made, subject = opened(saved(found, path))
    assert (made.config.encoding, made.config.heads, made.config.causal) == ("alibi", H, True)
    own = maps(subject)
    plain = {n: t for n, t in found.items() if not n.endswith("attn.bias")}
    slopes = {f"layers.{i}.attn.slopes": modules.slopes(H) for i in range(3)}
    same(own, maps(opened(saved(plain | slopes, path))[1]))


@pytest.mark.parametrize(
    "buffer",
    [
        AWAY.masked_fill(torch.ones(N, N).triu(2).bool(), -torch.inf),
        torch.randn(H, N, N).masked_fill(LOWER == 0, -torch.inf),
        torch.where(POSITION[:, None] == 9, 2 * AWAY, AWAY).masked_fill(LOWER == 0, -torch.inf),
    ],
)
def test_a_bias_that_is_not_understood_is_refused(path: Path, buffer: Tensor) -> None:
    with pytest.raises(DamagedCheckpoint, match=r"layers\.0\.attn\.bias"):
        described(saved(state(bias=buffer[None]), path), heads=H)


@pytest.mark.parametrize("name", ["ln_pre", "emb_norm", "norm_pre", "embeddings.LayerNorm"])
@pytest.mark.parametrize("last", [True, False])
def test_a_norm_before_the_layers_is_applied_there(path: Path, name: str, last: bool) -> None:
    made = modules.Model()
    found = {n: t for n, t in made.state_dict().items() if last or not n.startswith("ln_f")}
    weight, bias = torch.linspace(0.3, 2, 32), torch.linspace(-1, 1, 32)
    found |= {f"{name}.weight": weight, f"{name}.bias": bias}
    own, subject = opened(saved(found, path), heads=H, encoding="alibi", activation="gelu")
    made.tok_emb = _Normed(made.tok_emb, weight, bias)  # type: ignore[assignment]
    with torch.no_grad():
        logits, expected = made(IDS)
    same(maps(subject), expected)
    assert own.config.heads == H
    if last:
        torch.testing.assert_close(subject.logits(subject.stream(IDS[None]))[0], logits)


class _Normed(torch.nn.Module):
    """An embedding with a LayerNorm right after it."""

    def __init__(self, embedding: torch.nn.Module, weight: Tensor, bias: Tensor) -> None:
        super().__init__()
        self.embedding, self.scale, self.shift = embedding, weight, bias

    def forward(self, ids: Tensor) -> Tensor:
        found = self.embedding(ids)
        return torch.nn.functional.layer_norm(found, (32,), self.scale, self.shift)


def test_a_vector_of_no_known_place_is_refused(path: Path) -> None:
    with pytest.raises(DamagedCheckpoint, match=r"temperature\.weight"):
        described(saved({**state(), "temperature.weight": torch.ones(32)}, path), heads=H)
