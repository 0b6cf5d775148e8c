"""Whether a file's tensors are a model's weights: by name and shape, before one is read."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from viz_core.errors import DamagedCheckpoint
from viz_core.words import say

# Buffers that older versions saved; each is computed anew.
_STALE = re.compile(
    r"(rotary_emb\.inv_freq|\.attn\.(masked_)?bias|\.attention\.(masked_)?bias|embed_positions"
    r"|position_ids|token_type_ids)$"
)
# Heads for other tasks than predicting the next token, and what stands before them.
_HEADS = re.compile(
    r"(^|\.)(cls|score|classifier|pooler|qa_outputs|lm_head|embed_out|predictions|vocab_\w+"
    r"|discriminator_predictions|generator_\w+|sop_classifier|head|v_head|decoder\.(bias|weight))(\.|$)"
)
_BUFFERS = 1 << 30  # bytes of tables that a model computes for itself


@dataclass(frozen=True)
class Fit:
    """`names` maps a file's tensors to the model's; the rest is left over.

    `heads`: weights for other tasks; `strays`: weights that the model has no place for, so that
    it isn't quite the model that was trained.
    """

    names: dict[str, str]
    heads: tuple[str, ...]
    strays: tuple[str, ...]


def fit(model: Any, shapes: dict[str, tuple[int, ...]]) -> Fit:
    """Holds `shapes` (by name) against `model`, which lies on the meta device.

    Raises DamagedCheckpoint for a weight that is missing or has another shape, and where tables
    that the model computes for itself would need more memory than any real one's.
    """
    expected = {name: tuple(t.shape) for name, t in model.state_dict().items()}
    tied = dict(model.all_tied_weights_keys)
    names = _matched(shapes, expected, model.base_model_prefix)
    _share(names, tied)
    present = set(names.values())
    missing = [n for n in expected if n not in present and tied.get(n) not in present]
    if missing:
        raise DamagedCheckpoint(
            say(
                "Expected {weights} weights for what config.json describes; {n} are missing, first "
                "{first!r}, so add the missing files or correct config.json.",
                weights=len(expected),
                n=len(missing),
                first=missing[0],
            )
        )
    for name, place in names.items():
        if shapes[name] != expected[place]:
            raise DamagedCheckpoint(
                say(
                    "Expected {place!r} in the shape {shape} that config.json describes; it has "
                    "{other}, so one of the two is another model's.",
                    place=place,
                    shape=list(expected[place]),
                    other=list(shapes[name]),
                )
            )
    size = sum(b.numel() * b.element_size() for b in model.buffers())
    if size > _BUFFERS:
        raise DamagedCheckpoint(
            say(
                "Expected position tables of at most {most} GB; those that config.json describes "
                "have {size:,.0f} GB, so correct its lengths.",
                most=_BUFFERS >> 30,
                size=size / (1 << 30),
            )
        )
    rest = [n for n in shapes if n not in names and not _STALE.search(n)]
    heads = tuple(n for n in rest if _HEADS.search(n))
    return Fit(names, heads, tuple(n for n in rest if n not in heads))


def _matched(shapes: Iterable[str], expected: Container[str], prefix: str) -> dict[str, str]:
    """The tensors that have a place among the `expected` names, each place once."""
    names: dict[str, str] = {}
    taken: set[str] = set()
    for name in shapes:
        place = next((n for n in _places(name, prefix) if n in expected and n not in taken), None)
        if place is not None:
            names[name] = place
            taken.add(place)
    return names


def _places(name: str, prefix: str) -> Iterator[str]:
    """What a tensor called `name` may be called in the model, the likeliest first."""
    modern = re.sub(r"LayerNorm\.gamma$", "LayerNorm.weight", name)
    modern = re.sub(r"LayerNorm\.beta$", "LayerNorm.bias", modern)
    modern = re.sub(r"^embed_out\.", "lm_head.", modern)  # GPT-NeoX before transformers 5
    yield modern
    for inner in (prefix, "model"):  # some classes have another prefix than their module's name
        yield f"{inner}.{modern}"  # saved without a head, read with one
        yield modern.removeprefix(f"{inner}.")  # and the other way round


def _share(names: dict[str, str], tied: dict[str, str]) -> None:
    """A file may hold a shared weight under either of its names: the model reads one of them."""
    present = set(names.values())
    for name, place in list(names.items()):
        source = tied.get(place)
        if source is not None and source not in present:
            names[name] = source
            present.add(source)
