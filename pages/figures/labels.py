"""What the options of figures are called on the page, and what each is for."""

from __future__ import annotations

from viz_core.words import mark

NAMES = {
    "checkpoints": mark("checkpoints"),
    "encodings": mark("encodings"),
    "estimator": mark("estimator"),
    "head_width": mark("head width"),
    "heads": mark("heads"),
    "keys": mark("keys"),
    "laws": mark("laws"),
    "layer": mark("layer"),
    "layers": mark("layers"),
    "length": mark("length"),
    "map_scale": mark("map scale"),
    "marks": mark("where to look"),
    "measure": mark("measure"),
    "model_heads": mark("model heads"),
    "other_heads": mark("other heads"),
    "places": mark("places"),
    "pooling": mark("pooling"),
    "protocol": mark("protocol"),
    "queries": mark("queries"),
    "scaling": mark("scaling"),
    "sink": mark("sink"),
    "text": mark("text"),
    "texts": mark("texts"),
    "trained_length": mark("trained length"),
    "view": mark("view"),
    "x_scale": mark("x scale"),
}
HELPS = {
    "checkpoints": mark("Shipped ids, or paths."),
    "encodings": mark(
        "Without checkpoints: alibi, rope:theta=500000, rope:scaling=yarn:factor=4, ..."
    ),
    "estimator": mark("Of curves by distance."),
    "head_width": mark("Channels of a head."),
    "heads": mark("Heads of the first one."),
    "keys": mark("Columns from A on and before B, from 0."),
    "laws": mark("Each encoding's own, with its curves."),
    "layer": mark("One layer."),
    "layers": mark("Several layers."),
    "length": mark("In tokens."),
    "map_scale": mark("Of colours."),
    "marks": mark("Fine lines where stairs, crests and the sink are."),
    "measure": mark("Of losses."),
    "model_heads": mark("Heads in all."),
    "other_heads": mark("Of the second one."),
    "places": mark("Single heads: checkpoint, layer and head, as in alibi.3.2,rope.3.1."),
    "pooling": mark("Of cells, in a single text."),
    "protocol": mark("Of losses."),
    "queries": mark("Rows from A on and before B, from 0."),
    "scaling": mark(
        "Without retraining: none, linear:4 (PI), ntk:4, dynamic, yarn:4, llama3:4, theta:50000 of "
        "RoPE (linear:fit: s = N / L); exponent:6 of ALiBi."
    ),
    "sink": mark("The first keys, in curves."),
    "text": mark("Such as heldout, python-docs, prose."),
    "texts": mark("Passages of the text."),
    "trained_length": mark("In tokens."),
    "view": mark("Of maps."),
    "x_scale": mark("Of distances."),
}
