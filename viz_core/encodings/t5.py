"""T5's relative bias (Raffel et al. 2020): one learned scalar per head and distance bucket."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from viz_core.encodings._contract import (
    Encoding,
    Geometry,
    Paper,
    Parameter,
    PositionEncoding,
)
from viz_core.errors import UsageError
from viz_core.words import mark, say


def bucket(
    distance: Tensor,
    buckets: int = 32,
    max_distance: int = 128,
    bidirectional: bool = False,
) -> Tensor:
    """The bucket of each distance = query - key (negative: a key in the future), int64.

    Small distances have a bucket each, larger ones share buckets of growing (logarithmic) width.
    After transformers' T5Attention._relative_position_bucket and mesh-tensorflow; with 32 buckets
    and max_distance 128 the last causal bucket starts at 113, not at 128.
    """
    offset: Tensor | int = 0
    if bidirectional:
        buckets //= 2
        offset = (distance < 0).long() * buckets
        distance = distance.abs()
    else:
        distance = distance.clamp(min=0)
    exact = buckets // 2
    wide = distance.clamp(min=1).cpu().double()  # on the CPU: some devices have no float64
    log_step = torch.log(wide / exact) / math.log(max_distance / exact)
    far = exact + (log_step * (buckets - exact)).long().to(distance.device)
    return offset + torch.where(distance < exact, distance.long(), far.clamp(max=buckets - 1))


class T5(PositionEncoding):
    """b[head, bucket(distance)] added to the logits of every layer, from one shared table.

    T5 itself leaves dot products unscaled; here they are divided by sqrt(D_h) as for the other
    encodings, and the bias is not: the only thing that differs between checkpoints is the bias.
    """

    def __init__(
        self,
        geometry: Geometry,
        buckets: int = 32,
        max_distance: int = 128,
        bidirectional: int = 0,
    ) -> None:
        super().__init__(geometry)
        if max_distance <= buckets // 2:
            raise UsageError(
                say(
                    "Expected max_distance above buckets / 2 = {half}; got {max_distance}.",
                    half=buckets // 2,
                    max_distance=max_distance,
                )
            )
        self.buckets, self.max_distance = buckets, max_distance
        self.bidirectional = bool(bidirectional)
        self.table = nn.Embedding(buckets, geometry.heads)
        nn.init.normal_(self.table.weight, std=geometry.width**-0.5)

    def bias(self, distance: Tensor) -> Tensor:
        """[head, *distance.shape], from the table; a distance below 0 is a key in the future."""
        buckets = bucket(distance, self.buckets, self.max_distance, self.bidirectional)
        return self.table.weight.T[:, buckets]


ENCODING = Encoding(
    id="t5",
    name="T5 bias",
    acts_on="logits",
    paper=Paper(
        "Raffel et al.",
        2020,
        "Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer",
        "https://arxiv.org/abs/1910.10683",
    ),
    latex=r"s_{ij} = \frac{q_i^\top k_j}{\sqrt{D}} + b_{h,\,\mathrm{bucket}(i-j)}",
    summary=mark(
        "A learned scalar per head and distance bucket joins the logits: a true staircase."
    ),
    beyond=mark("Defined at any length: all distances past the last edge share one scalar."),
    law=mark("The head's own table: constant within a bucket, a step at each edge."),
    build=T5,
    parameters=(
        Parameter(
            "buckets",
            32,
            mark("Number of buckets; the first half hold one distance each."),
            4,
            512,
        ),
        Parameter(
            "max_distance",
            128,
            mark("Where the logarithmic buckets end, in tokens."),
            8,
            65536,
        ),
        Parameter(
            "bidirectional",
            0,
            mark("1 where the future has half of the buckets, as in T5's encoder."),
            0,
            1,
            aside=True,
        ),
    ),
)
