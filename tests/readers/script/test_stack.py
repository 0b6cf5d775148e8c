"""A `Stack` as a `Subject`: offsets, tokens without an embedding, heads that are missing, cost."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from tests.readers.script import modules
from tests.readers.script.reading import IDS, maps, opened, same, saved
from viz_core import kernels, trace
from viz_core.errors import LengthError, UsageError


class Sizes(TorchDispatchMode):
    """Watches what torch makes: `largest` is the most bytes behind one tensor."""

    largest = 0

    def __torch_dispatch__(
        self,
        func: Callable[..., object],
        types: object,
        args: tuple[object, ...] = (),
        kwargs: dict[str, object] | None = None,
    ) -> object:
        made = func(*args, **(kwargs or {}))
        for tensor in made if isinstance(made, tuple | list) else [made]:
            if isinstance(tensor, torch.Tensor):
                self.largest = max(self.largest, tensor.untyped_storage().nbytes())
        return made


@pytest.fixture
def path(tmp_path: Path) -> Path:
    torch.manual_seed(0)
    return tmp_path / "model.safetensors"


@torch.no_grad()
def test_ids_without_an_embedding_have_a_vector_each(path: Path) -> None:
    _, subject = opened(saved(modules.ALiBiAttention(32, 4), path))
    ids = torch.tensor([7, 123456, 7, 0])
    (once, _), (again, _) = (next(iter(subject.passes(ids, kernels.ignore))) for _ in range(2))
    assert torch.equal(once.q, again.q)
    assert torch.equal(once.q[:, 0], once.q[:, 2])
    assert not torch.equal(once.q[:, 0], once.q[:, 1])
    assert subject.config.vocabulary == 0


@torch.no_grad()
def test_an_offset_moves_positions_alone(path: Path) -> None:
    _, rope = opened(saved(modules.RoPEAttention(32, 4, "half"), path), heads=4)
    same(maps(rope, offset=100), maps(rope))
    here, there = (next(iter(rope.passes(IDS, kernels.ignore, n)))[0].q for n in (0, 100))
    assert not torch.allclose(here, there)
    _, learned = opened(saved(modules.GPT(nano=True), path), heads=4)  # 24 positions
    maps(learned, offset=10)
    with pytest.raises(LengthError, match="end at 24"):
        maps(learned, offset=11)


@torch.no_grad()
def test_a_trace_of_a_stack_is_that_of_any_model(path: Path) -> None:
    _, subject = opened(saved(modules.Gated(), path), heads=4)
    done = list[float]()
    passed = trace.trace(subject, IDS.tolist(), done.append)
    assert done[-1] == pytest.approx(1.0) and passed.length == len(IDS)
    same([passed.log_attention(1, (0, 14), (0, 14), slice(0, 4)).exp()], [maps(subject)[1]])


@torch.no_grad()
def test_what_a_model_cant_do_is_said(path: Path) -> None:
    file = saved(modules.Gated(), path)
    for answers, said in (
        ({"head": "none"}, "a language-model head"),
        ({"attention": "bidirectional"}, "sees all tokens at once"),
    ):
        _, subject = opened(file, heads=4, **answers)
        with pytest.raises(UsageError, match=said):
            subject.logits(subject.stream(IDS[None]))
    with pytest.raises(UsageError, match=r"token ids below 30.*got 30"):
        maps(subject, torch.tensor([1, 30]))


@torch.no_grad()
def test_attention_may_take_the_streams_place(path: Path) -> None:
    made = modules.Vision()
    answers = {"heads": 3, "encoding": "nope", "order": "by-head", "attention": "bidirectional"}
    _, added = opened(saved(made, path), **answers)
    _, replaced = opened(path, **answers, residual="replaced")
    assert not torch.allclose(added.stream(IDS[None]), replaced.stream(IDS[None]))
    x = torch.stack([torch.randn(24, generator=torch.Generator().manual_seed(int(i))) for i in IDS])
    for block in made.blocks:
        rows = block["qkv"](x).unflatten(-1, (3, 3, -1))
        q, k, v = rows.permute(2, 1, 0, 3)
        x = block["proj"](modules.merge(modules.attend(q, k, v, causal=False)[0]))
    same([replaced.stream(IDS[None])[0]], [x])


@torch.no_grad()
def test_nothing_of_the_size_of_the_map_is_made(path: Path) -> None:
    """8,192 tokens: one head's map alone would be 256 MiB."""
    _, subject = opened(saved(modules.Model(words=64), path), heads=4, encoding="alibi")
    with Sizes() as made:
        for _ in subject.passes(torch.arange(8192) % 64, kernels.ignore):
            pass
    assert 0 < made.largest < 2**25
