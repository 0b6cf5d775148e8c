"""Attention Atlas: how Transformers use position. docs/notebook.md shows what is offered here.

What is offered is imported when it is first asked for: `import viz_core` reads no torch.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from viz_core.notebook import (
        Drawing,
        Opened,
        Traced,
        draw,
        draw_map,
        list_checkpoints,
        list_encodings,
        list_figures,
        map_attention,
        measure_decay,
        measure_heads,
        measure_losses,
        open_checkpoint,
        read_text,
        save,
        trace_text,
    )

__all__ = [
    "Drawing",
    "Opened",
    "Traced",
    "draw",
    "draw_map",
    "list_checkpoints",
    "list_encodings",
    "list_figures",
    "map_attention",
    "measure_decay",
    "measure_heads",
    "measure_losses",
    "open_checkpoint",
    "read_text",
    "save",
    "trace_text",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("viz_core.notebook"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
