"""Our RoPE model as the Llama of transformers: the same weights, so peers work on equal ground.

Llama's MLP is gated, down(gelu(gate(x)) * up(x)); with up(x) = 1, a bias without weights, it is
ours. Llama doesn't scale token vectors; the table of its embedding is scaled instead, and its
output head, which ours ties to the unscaled table, stands apart.
"""

from __future__ import annotations

from typing import Any

import torch
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from viz_core import catalogue
from viz_core.encodings.rope import RoPE
from viz_core.errors import UsageError
from viz_core.model import Transformer


@torch.no_grad()
def llama(model: Transformer) -> LlamaForCausalLM:
    """`model` in float32, its attention by plain products ("eager"), which can return its maps.

    Raises UsageError unless its encoding is RoPE, half-split and unscaled.
    """
    c, encoding = model.config, model.encoding
    known = c.encoding == "rope" and isinstance(encoding, RoPE)
    if not known or (encoding.layout, encoding.scaling.kind) != ("half", "none"):
        raise UsageError(
            f"Expected RoPE, half-split and unscaled, as Llama has it; got {c.encoding} with "
            f"{c.parameters}. Choose another checkpoint."
        )
    like = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=c.vocabulary,
            hidden_size=c.width,
            intermediate_size=c.mlp * c.width,
            num_hidden_layers=c.layers,
            num_attention_heads=c.heads,
            hidden_act="gelu",
            mlp_bias=True,
            rms_norm_eps=torch.finfo(torch.float32).eps,  # torch's RMSNorm takes this by itself
            rope_parameters={"rope_type": "default", "rope_theta": encoding.theta},
            attn_implementation="eager",
            use_cache=False,
        )
    )
    like.model.embed_tokens.weight.copy_(model.embedding.weight * c.width**0.5)
    like.lm_head.weight.copy_(model.embedding.weight)
    like.model.norm.weight.copy_(model.norm.weight)
    for theirs, ours in zip(like.model.layers, model.blocks, strict=True):
        theirs.input_layernorm.weight.copy_(ours.norm1.weight)
        theirs.post_attention_layernorm.weight.copy_(ours.norm2.weight)
        q, k, v = ours.qkv.weight.chunk(3)
        theirs.self_attn.q_proj.weight.copy_(q)
        theirs.self_attn.k_proj.weight.copy_(k)
        theirs.self_attn.v_proj.weight.copy_(v)
        theirs.self_attn.o_proj.weight.copy_(ours.out.weight)
        theirs.mlp.gate_proj.weight.copy_(ours.up.weight)
        theirs.mlp.gate_proj.bias.zero_()
        theirs.mlp.up_proj.weight.zero_()
        theirs.mlp.up_proj.bias.fill_(1.0)
        theirs.mlp.down_proj.weight.copy_(ours.down.weight)
        theirs.mlp.down_proj.bias.zero_()
    return like.eval().requires_grad_(False)


def hooked(model: Transformer) -> Any:
    """`model` in TransformerLens: its own bridge over `llama`, as a user would open one."""
    from transformer_lens import TransformerBridge  # in .venv-peers alone

    return TransformerBridge.boot_transformers(
        "llama",
        hf_model=llama(model),
        tokenizer=PreTrainedTokenizerFast(tokenizer_file=str(catalogue.TOKENIZER)),
        device="cpu",
    )
