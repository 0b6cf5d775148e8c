"""Small models as scripts write them: what they compute is written out here, densely.

Each returns its attention maps [layer][head, query, key] beside what it computes of ids or vectors.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

Maps = list[Tensor]


def attend(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    bias: Tensor | float = 0.0,
    scale: float | None = None,
    causal: bool = True,
) -> tuple[Tensor, Tensor]:
    """(mixed values, probabilities) of q, k, v [head, position, channel]; keys may be fewer."""
    k, v = (t.repeat_interleave(len(q) // len(t), dim=0) for t in (k, v))
    logits = q @ k.transpose(-1, -2) * (q.shape[-1] ** -0.5 if scale is None else scale) + bias
    if causal:
        logits = logits.masked_fill(torch.ones(logits.shape[-2:]).triu(1).bool(), -math.inf)
    shares = logits.softmax(-1)
    return shares @ v, shares


def split(x: Tensor, heads: int) -> Tensor:
    return x.unflatten(-1, (heads, -1)).transpose(0, 1)  # [head, position, channel]


def merge(x: Tensor) -> Tensor:
    return x.transpose(0, 1).flatten(1)


def distance(count: int) -> Tensor:
    return torch.arange(count)[:, None] - torch.arange(count)


def turned(x: Tensor, layout: str, base: float = 10000.0) -> Tensor:
    """x [head, position, channel] rotated by complex numbers, pair by pair."""
    pairs = x.shape[-1] // 2
    a, b = x.chunk(2, -1) if layout == "half" else (x[..., 0::2], x[..., 1::2])
    theta = base ** (-torch.arange(pairs, dtype=torch.float64) / pairs)
    angle = torch.arange(x.shape[1])[:, None] * theta
    turn = torch.complex(a.double(), b.double()) * torch.polar(torch.ones_like(angle), angle)
    if layout == "half":
        return torch.cat((turn.real, turn.imag), -1).float()
    return torch.stack((turn.real, turn.imag), -1).flatten(-2).float()


class Attention(nn.Module):
    """An article's layer: four projections, and one encoding or another."""

    def __init__(self, width: int, heads: int, bias: bool = False, kv: int | None = None) -> None:
        super().__init__()
        self.heads, self.kv = heads, kv or heads
        keys = width // heads * self.kv
        self.q_proj = nn.Linear(width, width, bias=bias)
        self.k_proj = nn.Linear(width, keys, bias=bias)
        self.v_proj = nn.Linear(width, keys, bias=bias)
        self.out_proj = nn.Linear(width, width, bias=bias)

    def forward(
        self,
        x: Tensor,
        turn: Callable[[Tensor], Tensor] = lambda t: t,
        added: Tensor | float = 0.0,
        scale: float | None = None,
        causal: bool = True,
    ) -> tuple[Tensor, Tensor]:
        q, k = split(self.q_proj(x), self.heads), split(self.k_proj(x), self.kv)
        v = split(self.v_proj(x), self.kv)
        mixed, shares = attend(turn(q), turn(k), v, added, scale, causal)
        return self.out_proj(merge(mixed)), shares


def slopes(heads: int) -> Tensor:
    return 2.0 ** (-8.0 * torch.arange(1, heads + 1) / heads)


class ALiBiAttention(Attention):
    """With the slopes as a buffer."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__(width, heads)
        self.register_buffer("slopes", slopes(heads).view(1, heads, 1, 1))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:  # type: ignore[override]
        added = -self.slopes[0] * distance(len(x))
        return super().forward(x, added=added)


class RoPEAttention(Attention):
    """With the inverse frequencies as a buffer."""

    def __init__(self, width: int, heads: int, layout: str, base: float = 10000.0) -> None:
        super().__init__(width, heads)
        self.layout, self.base = layout, base
        pairs = width // heads // 2
        self.register_buffer("inv_freq", base ** (-torch.arange(pairs) / pairs))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:  # type: ignore[override]
        return super().forward(x, lambda t: turned(t, self.layout, self.base))


class Feed(nn.Module):
    """Two linear layers."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.fc2(F.gelu(self.fc1(x)))
        return out


class Block(nn.Module):
    """Pre-norm attention with a linear bias, and an MLP."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attn, self.mlp = Attention(width, heads, bias=True), Feed(width)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        heads = self.attn.heads
        added = -slopes(heads)[:, None, None] * distance(len(x))
        mixed, shares = self.attn(self.ln1(x), added=added)
        x = x + mixed
        return x + self.mlp(self.ln2(x)), shares


class Model(nn.Module):
    """An article's attention in a language model; nothing in it tells of ALiBi."""

    def __init__(self, width: int = 32, heads: int = 4, layers: int = 3, words: int = 50) -> None:
        super().__init__()
        self.tok_emb = nn.Embedding(words, width)
        self.layers = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.ln_f = nn.LayerNorm(width)
        self.lm_head = nn.Linear(width, words)

    def forward(self, ids: Tensor) -> tuple[Tensor, Maps]:
        x, maps = self.tok_emb(ids), []
        for layer in self.layers:
            x, shares = layer(x)
            maps.append(shares)
        return self.lm_head(self.ln_f(x)), maps


class GPTAttention(nn.Module):
    """minGPT's and nanoGPT's: one projection for all three, a mask as a buffer."""

    def __init__(self, width: int, heads: int, length: int, bias: bool) -> None:
        super().__init__()
        self.heads = heads
        self.c_attn = nn.Linear(width, 3 * width, bias=bias)
        self.c_proj = nn.Linear(width, width, bias=bias)
        self.register_buffer("bias", torch.ones(length, length).tril().view(1, 1, length, length))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        q, k, v = (split(t, self.heads) for t in self.c_attn(x).chunk(3, -1))
        mixed, shares = attend(q, k, v)
        return self.c_proj(merge(mixed)), shares


class GPT(nn.Module):
    """minGPT (a head of its own, GELU by tanh) or nanoGPT (tied, perhaps without biases)."""

    def __init__(self, nano: bool, bias: bool = True, length: int = 24, words: int = 40) -> None:
        super().__init__()
        width, self.approximate = 32, "none" if nano else "tanh"

        def block() -> nn.ModuleDict:
            feed = {
                "c_fc": nn.Linear(width, 4 * width, bias=bias),
                "c_proj": nn.Linear(4 * width, width, bias=bias),
            }
            parts = {
                "ln_1": nn.LayerNorm(width, bias=bias),
                "attn": GPTAttention(width, 4, length, bias),
                "ln_2": nn.LayerNorm(width, bias=bias),
                "mlp": nn.ModuleDict(feed),
            }
            return nn.ModuleDict(parts)

        parts: dict[str, nn.Module] = {
            "wte": nn.Embedding(words, width),
            "wpe": nn.Embedding(length, width),
            "h": nn.ModuleList([block(), block()]),
            "ln_f": nn.LayerNorm(width, bias=bias),
        }
        self.transformer = nn.ModuleDict(parts)
        self.lm_head = nn.Linear(width, words, bias=False)
        if nano:
            self.lm_head.weight = parts["wte"].weight

    def forward(self, ids: Tensor) -> tuple[Tensor, Maps]:
        parts, maps = self.transformer, []
        x = parts["wte"](ids) + parts["wpe"](torch.arange(len(ids)))
        for block in parts["h"]:
            mixed, shares = block["attn"](block["ln_1"](x))
            maps.append(shares)
            x, mlp = x + mixed, block["mlp"]
            hidden = F.gelu(mlp["c_fc"](block["ln_2"](x)), approximate=self.approximate)
            x = x + mlp["c_proj"](hidden)
        return self.lm_head(parts["ln_f"](x)), maps


class Encoder(nn.Module):
    """torch.nn.TransformerEncoder over scaled token vectors and a sinusoidal buffer."""

    def __init__(self, norm_first: bool, width: int = 32, words: int = 40, rows: int = 64) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(
            width, 4, 64, dropout=0.0, batch_first=True, norm_first=norm_first
        )
        self.embedding = nn.Embedding(words, width)
        self.transformer_encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        angle = torch.arange(rows)[:, None] * 10000.0 ** (-torch.arange(0, width, 2) / width)
        pe = torch.stack((angle.sin(), angle.cos()), -1).flatten(1)
        self.register_buffer("pe", pe[:, None])  # [position, 1, width], as in the tutorials
        self.decoder = nn.Linear(width, words)

    def forward(self, ids: Tensor, causal: bool) -> tuple[Tensor, Maps]:
        x = self.embedding(ids) * self.embedding.embedding_dim**0.5 + self.pe[: len(ids), 0]
        mask = torch.ones(len(ids), len(ids)).triu(1).bool() if causal else None
        x, maps = x[None], []
        for layer in self.transformer_encoder.layers:
            inner = layer.norm1(x) if layer.norm_first else x
            _, shares = layer.self_attn(
                inner, inner, inner, attn_mask=mask, average_attn_weights=False
            )
            maps.append(shares[0])
            x = layer(x, src_mask=mask)
        return self.decoder(x[0]), maps


class Lecture(nn.Module):
    """A module for each head, scaled by the root of the whole width; positions are learned."""

    def __init__(self, width: int = 32, heads: int = 4, length: int = 16, words: int = 30) -> None:
        super().__init__()

        def head() -> nn.Module:
            names = ("key", "query", "value")
            made = nn.Module()
            for name in names:
                made.add_module(name, nn.Linear(width, width // heads, bias=False))
            made.register_buffer("tril", torch.ones(length, length).tril())
            return made

        def block() -> nn.Module:
            made = nn.Module()
            made.sa = nn.Module()
            made.sa.heads = nn.ModuleList(head() for _ in range(heads))
            made.sa.proj = nn.Linear(width, width)
            made.ffwd = nn.Module()
            made.ffwd.net = nn.Sequential(
                nn.Linear(width, 4 * width), nn.ReLU(), nn.Linear(4 * width, width)
            )
            made.ln1, made.ln2 = nn.LayerNorm(width), nn.LayerNorm(width)
            return made

        self.token_embedding_table = nn.Embedding(words, width)
        self.position_embedding_table = nn.Embedding(length, width)
        self.blocks = nn.Sequential(block(), block())
        self.ln_f, self.lm_head = nn.LayerNorm(width), nn.Linear(width, words)

    def forward(self, ids: Tensor) -> tuple[Tensor, Maps]:
        x = self.token_embedding_table(ids) + self.position_embedding_table.weight[: len(ids)]
        maps = []
        for block in self.blocks:
            y = block.ln1(x)
            heads = [(h.query(y), h.key(y), h.value(y)) for h in block.sa.heads]
            q, k, v = (torch.stack(parts) for parts in zip(*heads, strict=True))
            mixed, shares = attend(q, k, v, scale=x.shape[-1] ** -0.5)
            maps.append(shares)
            x = x + block.sa.proj(merge(mixed))
            x = x + block.ffwd.net(block.ln2(x))
        return self.lm_head(self.ln_f(x)), maps


class Gated(nn.Module):
    """Grouped keys, RMSNorm, a gated MLP, cosines and sines as buffers, a tied head."""

    def __init__(self, width: int = 32, heads: int = 4, kv: int = 2, words: int = 30) -> None:
        super().__init__()

        def layer() -> nn.Module:
            made = nn.Module()
            made.input_layernorm = nn.RMSNorm(width, 1e-6)
            made.post_attention_layernorm = nn.RMSNorm(width, 1e-6)
            made.self_attn = Attention(width, heads, kv=kv)
            made.mlp = nn.Module()
            for name, (ins, outs) in {"gate": (32, 48), "up": (32, 48), "down": (48, 32)}.items():
                made.mlp.add_module(f"{name}_proj", nn.Linear(ins, outs, bias=False))
            return made

        self.embed_tokens = nn.Embedding(words, width)
        self.layers = nn.ModuleList([layer(), layer()])
        self.norm = nn.RMSNorm(width, 1e-6)
        pairs = width // heads // 2
        angle = torch.arange(64)[:, None] * 500.0 ** (-torch.arange(pairs) / pairs)
        self.register_buffer("cos", torch.cat((angle, angle), -1).cos())
        self.register_buffer("sin", torch.cat((angle, angle), -1).sin())

    def forward(self, ids: Tensor) -> tuple[Tensor, Maps]:
        x, maps = self.embed_tokens(ids), []
        for layer in self.layers:
            mixed, shares = layer.self_attn(
                layer.input_layernorm(x), lambda t: turned(t, "half", 500.0)
            )
            maps.append(shares)
            x = x + mixed
            y, mlp = layer.post_attention_layernorm(x), layer.mlp
            x = x + mlp.down_proj(F.silu(mlp.gate_proj(y)) * mlp.up_proj(y))
        return self.norm(x) @ self.embed_tokens.weight.T, maps


class Vision(nn.Module):
    """Fused projections with the rows of each head together, attention alone and bidirectional."""

    def __init__(self, width: int = 24, heads: int = 3) -> None:
        super().__init__()
        self.heads = heads
        self.blocks = nn.ModuleList(
            nn.ModuleDict({"qkv": nn.Linear(width, 3 * width), "proj": nn.Linear(width, width)})
            for _ in range(2)
        )

    def forward(self, x: Tensor) -> tuple[Tensor, Maps]:
        maps = []
        for block in self.blocks:
            rows = block["qkv"](x).unflatten(-1, (self.heads, 3, -1))  # [n, h, 3, c]
            q, k, v = rows.permute(2, 1, 0, 3)
            mixed, shares = attend(q, k, v, causal=False)
            maps.append(shares)
            x = x + block["proj"](merge(mixed))
        return x, maps


def bucket(distance: int, buckets: int, most: int) -> int:
    """T5's causal bucket of one distance, after the formula of Raffel et al. as mesh has it."""
    exact, distance = buckets // 2, max(distance, 0)
    if distance < exact:
        return distance
    far = exact + int(math.log(distance / exact) / math.log(most / exact) * (buckets - exact))
    return min(far, buckets - 1)


class Bucketed(nn.Module):
    """T5's bias in the first layer, for both layers; dot products aren't divided."""

    def __init__(self, causal: bool, width: int = 32, heads: int = 4, buckets: int = 8) -> None:
        super().__init__()
        self.causal, self.buckets = causal, buckets
        self.block = nn.ModuleList(
            nn.ModuleDict({"attention": Attention(width, heads), "norm": nn.RMSNorm(width, 1e-6)})
            for _ in range(2)
        )
        first = self.block[0]["attention"]
        first.relative_attention_bias = nn.Embedding(buckets, heads)

    def forward(self, x: Tensor) -> tuple[Tensor, Maps]:
        table, maps = self.block[0]["attention"].relative_attention_bias.weight, []
        half = self.buckets // 2
        places = [
            [
                bucket(i - j, self.buckets, 20)
                if self.causal
                else bucket(abs(i - j), half, 20) + half * (j > i)
                for j in range(len(x))
            ]
            for i in range(len(x))
        ]
        added = table[torch.tensor(places)].permute(2, 0, 1)
        for block in self.block:
            mixed, shares = block["attention"](
                block["norm"](x), added=added, scale=1.0, causal=self.causal
            )
            maps.append(shares)
            x = x + mixed
        return x, maps
