"""One measurement: the losses of one long text, by one model, one way.

`python -m benchmarks.losses ours|plain ENCODING N` answers with seconds and the peak memory of its
process. The plain way is the same model without its encoding: causal attention and no bias.
"""

from __future__ import annotations

import sys

import torch

from benchmarks import processes
from benchmarks.maps import subject
from benchmarks.processes import Row
from viz_core.encodings import get
from viz_core.perplexity import token_losses


def measure(way: str, encoding: str, length: int) -> Row:
    """Seconds of the fastest of some runs, and bytes at the peak, of the process in all."""
    model = subject(encoding)
    if way == "plain":
        model.encoding = get("nope").make(model.config.geometry)
    ids = torch.randint(model.config.vocabulary, (1, length + 1))
    token_losses(model, ids[:, :65])
    return processes.timed(lambda: token_losses(model, ids))


if __name__ == "__main__":
    processes.answer(lambda: measure(sys.argv[1], sys.argv[2], int(sys.argv[3])))
