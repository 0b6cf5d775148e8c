"""The library in a notebook: a dozen functions from a checkpoint to a figure in a paper.

`viz_core` itself offers them (`from viz_core import open_checkpoint`). Tables are pandas frames,
maps numpy arrays, and figures show themselves. Layers and heads are counted from 1, as on the
command line and in figures; arrays are in that order. docs/notebook.md goes through all of them.
"""

from viz_core.notebook.drawing import Drawing, draw, draw_map, save
from viz_core.notebook.measuring import (
    Traced,
    map_attention,
    measure_decay,
    measure_heads,
    measure_losses,
    trace_text,
)
from viz_core.notebook.opening import (
    Opened,
    list_checkpoints,
    list_encodings,
    list_figures,
    open_checkpoint,
    read_text,
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
