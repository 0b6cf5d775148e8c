"""What scripts call the parts of a Transformer. All in lower case; compared so.

The names are those of minGPT and nanoGPT, of torch's own modules, of the common tutorials and
their descendants. A part with another name is one that this reader doesn't know.
"""

from __future__ import annotations

KINDS = {
    "weight": "weight",
    "bias": "bias",
    "gamma": "weight",
    "beta": "bias",
    "scale": "weight",
}

ATTENTION = {
    "q": {"q_proj", "query", "wq", "w_q", "to_q", "q_linear", "query_proj", "q"},
    "k": {"k_proj", "key", "wk", "w_k", "to_k", "k_linear", "key_proj", "k"},
    "v": {"v_proj", "value", "wv", "w_v", "to_v", "v_linear", "value_proj", "v"},
    "qkv": {"qkv", "qkv_proj", "c_attn", "in_proj", "wqkv", "w_qkv", "to_qkv", "query_key_value"},
    "out": {"out_proj", "o_proj", "c_proj", "proj", "wo", "w_o", "to_out", "out", "o"},
}
META = ["wq", "w1", "attention_norm", "ffn_norm"]  # of q, gate and norms: Meta's own Llama
HEADS = "heads"  # of a module with a projection for each head: heads.0.key, heads.1.key, ...

GATE = {"gate_proj", "gate", "w1", "w_gate"}  # Llama's: down(act(gate(x)) * up(x))
UP_BESIDE_GATE = {"up_proj", "up", "w3", "w_up"}
DOWN_BESIDE_GATE = {"down_proj", "down", "w2", "w_down"}
DOWN = {"c_proj", "fc2", "linear2", "linear_2", "down", "down_proj", "fc_out", "w2", "w_2", "proj"}
SECOND_NORM = ("2", "mlp", "ff", "feed", "post")  # any of these within the name

EMBEDDING = {
    *("wte", "tok_emb", "token_emb", "embedding", "embeddings", "embed", "emb", "tok_embeddings"),
    *("token_embedding", "token_embeddings", "token_embedding_table", "embed_tokens", "tok_embed"),
    *("word_embeddings", "word_embedding", "tok_embedding", "embedder", "encoder"),
}
POSITIONS = {
    *("wpe", "pos_emb", "pos_embed", "pos_embedding", "pos_embeddings", "position_embedding"),
    *("position_embeddings", "position_embedding_table", "positional_embedding", "embed_positions"),
    *("pe", "pos_encoding", "pos_encoder", "positional_encoding", "position_encoding", "pos_table"),
}
FINAL_NORM = {
    *("ln_f", "norm_f", "ln_final", "norm_final", "final_norm", "final_ln", "final_layer_norm"),
    *("final_layernorm", "ln_out", "norm_out"),
}
# Words in the name of a norm outside the layers, or of what holds it: before them, or after.
NORM_BEFORE = {
    *("pre", "emb", "embed", "embeds", "embedding", "embeddings", "input", "in", "first"),
    *("norm0", "ln0"),
}
NORM_AFTER = {"f", "final", "last", "out", "output", "post", "end", "head"}
NORM = {"norm", "ln", "layernorm", "rmsnorm", "layer", "rms"}  # by itself: after them
HEAD = {
    *("lm_head", "head", "to_logits", "unembed", "unembedding", "output", "output_layer"),
    *("output_proj", "fc_out", "decoder", "classifier", "generator", "logits"),
}

PLAIN_HEAD = {"linear", "fc", "out", "proj", "projection"}  # where it has the embedding's shape

# Frequencies under this name turn neighbouring channels: lucidrains' rotary_emb.freqs, Meta's.
NEIGHBOURING = "freqs"
INVERSE_FREQUENCIES = {"inv_freq", "inv_freqs", "freqs", "rope_freqs"}
COSINES = {"cos", "cos_cached", "cos_cache", "cached_cos", "freqs_cos", "rope_cos", "cos_table"}
ROTATIONS = {"freqs_cis", "rope_cache", "rope_table"}  # complex, or pairs of cosine and sine
SLOPES = {"slopes", "alibi_slopes", "slope", "m"}
ALIBI = {"alibi", "alibi_bias", "alibi_biases", "alibi_tensor"}
BUCKETS = {"relative_attention_bias"}
TABLE = {"table"}  # our own encodings': of buckets or of positions, as its shape says
MASK = {"mask", "tril", "triu", "causal_mask", "attn_mask", "attention_mask", "bias", "_mask"}
IDLE = {"masked_bias", "position_ids", "positions"}  # nothing that a model computes hangs on these

# What a script's config may call the answer to a question.
CONFIG = {
    "heads": ("n_head", "n_heads", "num_heads", "num_attention_heads", "nhead", "heads"),
    "length": (
        *("block_size", "max_seq_len", "max_seq_length", "context_length", "seq_len", "max_len"),
        *("max_position_embeddings", "n_ctx", "n_positions", "train_length", "length"),
    ),
    "encoding": ("position_encoding", "positional_encoding", "pos_encoding", "pe_type", "encoding"),
    "theta": ("rope_theta", "rope_base", "theta"),
    "max_distance": ("relative_attention_max_distance", "max_distance"),
    "attention": ("causal", "is_causal"),
    "norms": ("norm_first", "pre_norm"),
    "epsilon": ("layer_norm_eps", "layer_norm_epsilon", "rms_norm_eps", "norm_eps"),
    "activation": ("activation", "hidden_act", "activation_function"),
}
SYNONYMS: dict[str, dict[object, str]] = {
    "encoding": {"rotary": "rope", "none": "nope", "sinusoid": "sinusoidal", "absolute": "learned"},
    "attention": {True: "causal", False: "bidirectional"},
    "norms": {True: "before", False: "after"},
    "activation": {"gelu_new": "gelu-tanh", "gelu_pytorch_tanh": "gelu-tanh", "swish": "silu"},
}
