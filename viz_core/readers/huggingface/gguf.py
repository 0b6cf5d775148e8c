"""A .gguf file of the Llama architecture, through transformers and the package `gguf`.

transformers has the model and knows where each tensor belongs. The keys are read here (`gguf_keys`,
`gguf_rope`), since transformers leaves out most of what they say of position. Weights are unpacked
to float32: a file of 4 bits takes eight times its size in memory.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from viz_core.encodings.rope import RoPE
from viz_core.errors import DamagedCheckpoint, UnknownName
from viz_core.readers.description import Description, Finding
from viz_core.readers.huggingface import configuration, declared, gguf_keys, gguf_rope, sizes
from viz_core.readers.huggingface.families import FAMILIES
from viz_core.readers.huggingface.files import finite
from viz_core.readers.huggingface.fitting import Fit
from viz_core.readers.huggingface.foreign import Foreign
from viz_core.readers.huggingface.gguf_rope import TABLES, Turning
from viz_core.readers.huggingface.given import difference
from viz_core.readers.huggingface.loading import assemble, empty
from viz_core.readers.huggingface.positions import CLOSE, theirs
from viz_core.readers.intake.words import shown
from viz_core.words import mark, say


@dataclass(frozen=True)
class _Opened:
    """A file's header, the settings that it amounts to, and how it turns queries and keys."""

    header: gguf_keys.Header
    said: dict[str, Any]
    config: Any
    turning: Turning

    @property
    def made(self) -> str:
        """The class in transformers."""
        return str(FAMILIES[self.config.model_type].head)


def describe(path: Path, answers: Mapping[str, object]) -> Description:
    """The checkpoint in the file `path`.

    Raises DamagedCheckpoint, UnknownName for another architecture.
    """
    if answers:
        raise UnknownName(
            mark("an answer about this checkpoint"), next(iter(answers)), [say("none")]
        )
    opened = _open(path)
    config = opened.config
    places = _places(opened)
    used = {*places, *(TABLES[1:] if opened.turning.kind == "longrope" else TABLES[:1])}
    fitted = Fit({}, (), tuple(n for n in opened.header.tensors if n not in used))
    with configuration.understood(config.model_type):
        size = sizes.sizes(config, opened.said)
        found = declared.declared(config, opened.said, size, fitted, "")
    return Description(
        path=path,
        format="gguf",
        family=config.model_type,
        config=size,
        weights=sum(int(t.n_elements) for n, t in opened.header.tensors.items() if n in places),
        findings=(*found, *_more(opened)),
        facts={"config": opened.said},
    )


def load(description: Description, device: torch.device) -> Foreign:
    """The model in float32 on `device`, ready to evaluate. Raises DamagedCheckpoint."""
    opened = _open(description.path)
    weights = _weights(opened, description.path)
    finite(weights, description.path)
    size = sizes.sizes(opened.config, opened.said)
    turned = None if opened.turning.kind == "longrope" else opened.turning.frequencies()
    return assemble(opened.config, weights, device, opened.made, size, turned=turned)


def weighed(encoding: RoPE, subject: Foreign, path: Path) -> Finding:
    """What turns in the loaded model, held in float64 against what the file itself says."""
    said = _open(path).turning
    least = 0.0
    for seen in (1, said.original + 1):
        theta, factor = said.frequencies(late=seen > said.original)
        used, scale = encoding.frequencies(seen)
        least = max(least, difference(used, theta), abs(scale - factor) / factor)
    in_code = theirs(subject.base, "")
    assert in_code is not None  # of the one architecture above
    least = max(least, difference(in_code[0].double(), said.frequencies()[0]))
    least = max(least, abs(in_code[1] - factor) / factor)
    words = say(
        "Those in use are the file's own, by its keys rope.*; the largest relative difference is "
        "{least:.0e}.",
        least=least,
    )
    if said.tables:
        words = say(
            "Those in use are the file's own, by its keys rope.* and {names}; the largest relative "
            "difference is {least:.0e}.",
            names=", ".join(said.tables),
            least=least,
        )
    return Finding(mark("inverse frequencies"), "agrees" if least < CLOSE else "differs", words)


def _open(path: Path) -> _Opened:
    """Everything but the weights. Raises DamagedCheckpoint."""
    header = gguf_keys.read(path)
    header.unread()
    unpacked = importlib.import_module("gguf").dequantize
    try:
        tables = {
            name: torch.tensor(unpacked(t.data, t.tensor_type))
            for name, t in header.tensors.items()
            if name in TABLES
        }
        vocabulary = int(header.tensors["token_embd.weight"].shape[-1])
    except Exception as error:  # whatever the package thinks of a file
        raise gguf_keys.wrong(path, error) from None
    return _settled(header, tables, vocabulary)


def _settled(header: gguf_keys.Header, tables: dict[str, Tensor], vocabulary: int) -> _Opened:
    values, heads = header.values, int(header.values["attention.head_count"])
    width = int(values.get("attention.key_length") or values["embedding_length"] // heads)
    turned = int(values.get("rope.dimension_count") or width)
    _whole(width, turned, int(values.get("attention.value_length") or width))
    turning = gguf_rope.turning(values, tables, turned)
    window = values.get("attention.sliding_window") or None
    biased = [name for name in header.tensors if name.endswith(".bias")]
    said = {
        "model_type": "mistral" if window else "llama",  # which is the Llama that has a window
        "sliding_window": window,
        "vocab_size": vocabulary,
        "hidden_size": int(values["embedding_length"]),
        "intermediate_size": int(values["feed_forward_length"]),
        "num_hidden_layers": int(values["block_count"]),
        "num_attention_heads": heads,
        "num_key_value_heads": int(values.get("attention.head_count_kv") or heads),
        "head_dim": width,
        "max_position_embeddings": int(values["context_length"]),
        "rms_norm_eps": float(values["attention.layer_norm_rms_epsilon"]),
        "rope_parameters": turning.settings(),
        "tie_word_embeddings": "output.weight" not in header.tensors,
        "attention_bias": any(".attn_" in name for name in biased),
        "mlp_bias": any(".ffn_" in name for name in biased),
    }
    return _Opened(header, said, configuration.build(said), turning)


def _whole(width: int, turned: int, valued: int) -> None:
    """Raises DamagedCheckpoint where a head isn't of one width, all of which turns."""
    if width != turned or width != valued:
        raise DamagedCheckpoint(
            say(
                "Expected heads of one width that turn as a whole; this GGUF file has {turned} of "
                "{width} channels turn and values of {valued}, which isn't read.",
                turned=turned,
                width=width,
                valued=valued,
            )
        )


def _places(opened: _Opened) -> dict[str, str]:
    """The model's name of each of the file's tensors that it has a place for.

    Raises DamagedCheckpoint where one is missing or has another size than the keys say.
    """
    model, module = empty(opened.made, opened.config), _transformers()
    every = module.get_gguf_hf_weights_map(
        model, module.TensorProcessor(), opened.header.kind, opened.config.num_hidden_layers
    )
    places = {name: str(place) for name, place in every.items()}
    wanted, tied = model.state_dict(), opened.said["tie_word_embeddings"]
    for name, place in places.items():
        tensor, shape = opened.header.tensors.get(name), list(wanted[place].shape)
        if tensor is None and name == "output.weight" and tied:
            continue
        found = None if tensor is None else [int(n) for n in reversed(tensor.shape)]
        if found != shape:
            raise DamagedCheckpoint(
                say(
                    "Expected {name} of shape {shape} by this GGUF file's keys; it has {found}, so "
                    "convert the model again.",
                    name=name,
                    shape=shape,
                    found=say("none") if found is None else found,
                )
            )
    return {name: place for name, place in places.items() if name in opened.header.tensors}


def _weights(opened: _Opened, path: Path) -> dict[str, Tensor]:
    """The weights in float32 by the model's names, q and k with their channels in Llama's order."""
    processor = _transformers().LlamaTensorProcessor(opened.said)
    unpacked = importlib.import_module("gguf").dequantize
    found = {}
    try:
        for name, place in _places(opened).items():
            tensor = opened.header.tensors[name]
            read = unpacked(tensor.data, tensor.tensor_type)
            found[place] = torch.tensor(processor.process(weights=read, name=name).weights)
    except Exception as error:  # whatever the package thinks of a file
        raise gguf_keys.wrong(path, error) from None
    return found


def _more(opened: _Opened) -> Iterator[Finding]:
    """What a config.json would have no word for."""
    for name, table in opened.turning.tables.items():
        yield Finding(
            mark("RoPE table"),
            "note",
            say(
                "{name} divides frequencies by {least:.4g} to {most:.4g}.",
                name=name,
                least=float(table.min()),
                most=float(table.max()),
            ),
        )
    left = opened.header.unread()
    if left:
        yield Finding(
            mark("keys"),
            "differs",
            say(
                "{n} keys aren't read, first {name}: what is computed here may not be what was "
                "trained.",
                n=len(left),
                name=shown(left[0]),
            ),
        )
    yield Finding(
        mark("numbers"),
        "note",
        say("Stored as {packed}; unpacked to 32 bits when loaded.", packed=opened.header.packed),
    )


def _transformers() -> Any:
    """Its part that knows GGUF's names and orders."""
    configuration.library()
    return importlib.import_module("transformers.modeling_gguf_pytorch_utils")
