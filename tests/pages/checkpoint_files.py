"""Small checkpoints of each kind that can be uploaded, with random weights, and a hostile one."""

from __future__ import annotations

import io
import json
from pathlib import Path

import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer, models, pre_tokenizers
from torch import Tensor

from viz_core.model import ModelConfig, Transformer
from viz_core.readers import native

VOCABULARY = 256  # of the Hugging Face folder: single bytes


def native_file(path: Path, encoding: str = "rope") -> Path:
    """A file of this project's format, which reads with the shipped tokenizer."""
    torch.manual_seed(0)
    native.save(Transformer(ModelConfig(encoding, 2, 4, 32, 4096, 128, 2)), path, {})
    return path


def nanogpt() -> dict[str, Tensor]:
    """A state dict with nanoGPT's names: 2 layers, width 32, 100 token ids, 128 positions."""
    torch.manual_seed(0)
    width, weights = 32, {}
    shapes = {
        "attn.c_attn": (3 * width, width),
        "attn.c_proj": (width, width),
        "mlp.c_fc": (4 * width, width),
        "mlp.c_proj": (width, 4 * width),
    }
    for layer in range(2):
        for name, shape in shapes.items():
            weights[f"transformer.h.{layer}.{name}.weight"] = 0.3 * torch.randn(shape)
        for name in ("ln_1", "ln_2"):
            weights[f"transformer.h.{layer}.{name}.weight"] = torch.ones(width)
    weights["transformer.ln_f.weight"] = torch.ones(width)
    weights["transformer.wte.weight"] = torch.randn(100, width)
    weights["transformer.wpe.weight"] = torch.randn(128, width)
    return weights | {"lm_head.weight": torch.randn(100, width)}


def state_dict(path: Path, heads: int | None = None) -> Path:
    """nanoGPT's weights as its script saves them; without `heads` the file doesn't say how many."""
    config = {} if heads is None else {"model_args": {"n_head": heads}}
    torch.save({"model": nanogpt(), **config}, path)
    return path


def llama(folder: Path) -> Path:
    """A Hugging Face folder: a Llama of 2 layers, 4 heads and 2 key heads, with a tokenizer."""
    torch.manual_seed(0)
    folder.mkdir()
    width, inner = 32, 48
    weights = {
        "model.embed_tokens.weight": torch.randn(VOCABULARY, width),
        "lm_head.weight": torch.randn(VOCABULARY, width),
        "model.norm.weight": torch.ones(width),
    }
    shapes = {
        "self_attn.q_proj": (width, width),
        "self_attn.k_proj": (width // 2, width),
        "self_attn.v_proj": (width // 2, width),
        "self_attn.o_proj": (width, width),
        "mlp.gate_proj": (inner, width),
        "mlp.up_proj": (inner, width),
        "mlp.down_proj": (width, inner),
    }
    for layer in range(2):
        for name, shape in shapes.items():
            weights[f"model.layers.{layer}.{name}.weight"] = 0.3 * torch.randn(shape)
        for name in ("input_layernorm", "post_attention_layernorm"):
            weights[f"model.layers.{layer}.{name}.weight"] = torch.ones(width)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    config = {
        "model_type": "llama",
        "architectures": ["LlamaForCausalLM"],
        "vocab_size": VOCABULARY,
        "hidden_size": width,
        "intermediate_size": inner,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": 512,
        "rms_norm_eps": 1e-6,
        "tie_word_embeddings": False,
    }
    (folder / "config.json").write_text(json.dumps(config))
    letters = {c: i for i, c in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    pieces = Tokenizer(models.BPE(letters, []))
    pieces.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    pieces.save(str(folder / "tokenizer.json"))
    return folder


class _Program:
    """What pickles as a call: whoever unpickles it writes the file `mark`."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[object, ...]:
        return (exec, (f"open({str(self.mark)!r}, 'w').close()",))


def hostile(path: Path, mark: Path) -> Path:
    """A .pt that would write the file `mark` if it were unpickled as it asks to be."""
    buffer = io.BytesIO()
    torch.save({"model": _Program(mark)}, buffer)
    path.write_bytes(buffer.getvalue())
    return path
