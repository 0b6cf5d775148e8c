"""One measurement: how large a page another tool makes of attention; run in `.venv-peers`.

`python -m benchmarks.pages TOOL N`: all layers and heads of the shipped RoPE checkpoint at N
tokens of Python's manual, as a notebook would get it, without the scripts that it then loads.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

import torch
from tokenizers import Tokenizer
from torch import Tensor

from benchmarks import llama, maps, processes
from benchmarks.processes import Row
from viz_core import catalogue


def head_view(attention: list[Tensor], tokens: Sequence[str]) -> str:
    """BertViz: one layer at a time, but all are in the page."""
    import bertviz

    shown = bertviz.head_view([a[None] for a in attention], tokens, html_action="return")
    return str(shown.data)


def model_view(attention: list[Tensor], tokens: Sequence[str]) -> str:
    """BertViz: all layers and heads at once."""
    import bertviz

    shown = bertviz.model_view([a[None] for a in attention], tokens, html_action="return")
    return str(shown.data)


def attention_heads(attention: list[Tensor], tokens: Sequence[str]) -> str:
    """CircuitsVis: all heads in a row, layer after layer."""
    from circuitsvis.attention import attention_heads as heads

    return str(heads(torch.cat(attention), tokens))


TOOLS = {
    "head_view": ("bertviz", head_view),
    "model_view": ("bertviz", model_view),
    "attention_heads": ("circuitsvis", attention_heads),
}


def measure(tool: str, length: int) -> Row:
    """Bytes of the page, in a file, and at the peak of the process."""
    package, draw = TOOLS[tool]
    model, ids = maps.shipped(length)
    tokenizer = Tokenizer.from_file(str(catalogue.TOKENIZER))
    pieces = [tokenizer.id_to_token(n) for n in ids]
    attention = maps.weights(llama.llama(model), ids)
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder, "page.html")
        row = processes.timed(
            lambda: page.write_text(draw(attention, pieces), encoding="utf-8"), runs=1
        )
        return row | {"page_bytes": page.stat().st_size, "version": version(package)}


if __name__ == "__main__":
    processes.answer(lambda: measure(sys.argv[1], int(sys.argv[2])))
