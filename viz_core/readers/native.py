"""The native checkpoint: one safetensors file, float16, its description as JSON in the metadata."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from viz_core.encodings import get
from viz_core.errors import AtlasError, DamagedCheckpoint, UsageError
from viz_core.model import ModelConfig, Transformer
from viz_core.readers.description import Description, Finding
from viz_core.subject import Subject
from viz_core.words import mark, say

FORMAT = 1
_KEY = "attention_atlas"
_TYPES = {"F16", "BF16", "F32"}
_LARGEST = 2**31 - 1  # of any size in a description


def save(model: Transformer, path: Path, facts: dict[str, Any]) -> None:
    """Writes `model` and `facts` (anything JSON: recipe, losses, hashes) to `path`, atomically."""
    weights = {n: t.detach().to("cpu", torch.float16) for n, t in model.state_dict().items()}
    description = {"format": FORMAT, "config": asdict(model.config), **facts}
    partial = path.with_suffix(".partial")
    save_file(weights, partial, metadata={_KEY: json.dumps(description, sort_keys=True)})
    partial.replace(path)


def describe(path: Path, answers: Mapping[str, object]) -> Description | None:
    """The checkpoint at `path`, a file or the folder that holds it; None where it isn't ours."""
    file = path / "model.safetensors" if path.is_dir() else path
    if not file.is_file() or file.suffix != ".safetensors" or not _ours(file):
        return None
    if answers:
        raise UsageError(
            say(
                "Expected no answers about {file}, which says all of itself; got {answers}.",
                file=file.name,
                answers=", ".join(answers),
            )
        )
    config, facts = header(file)
    with torch.device("meta"):
        weights = sum(p.numel() for p in Transformer(config).parameters())
    beside = file.with_name("tokenizer.json")
    return Description(
        path=file,
        format="native",
        family="attention-atlas",
        config=config,
        weights=weights,
        facts=facts,
        tokenizer=beside if beside.is_file() else None,
    )


def load(description: Description, device: torch.device) -> Transformer:
    """The model in float32 on `device`. Raises DamagedCheckpoint."""
    return read(description.path)[0].to(device)


def audit(subject: Subject, description: Description) -> tuple[Finding, ...]:
    """What the file says of itself, in words: it holds all that there is to know."""
    c, facts = description.config, description.facts
    tokens, loss = facts.get("tokens_seen"), facts.get("validation_loss")
    found = [
        Finding(
            mark("encoding"),
            "agrees",
            say("{encoding}, as the file's description says.", encoding=get(c.encoding).name),
        ),
        Finding(
            mark("trained length"),
            "agrees",
            say("{length:,} tokens, as the description says.", length=c.length),
        ),
    ]
    if isinstance(tokens, int):
        found.append(
            Finding(mark("training"), "note", say("{tokens:,} tokens seen.", tokens=tokens))
        )
    if isinstance(loss, float):
        found.append(
            Finding(
                mark("loss"), "note", say("{loss:.3f} nats per token in validation.", loss=loss)
            )
        )
    return tuple(found)


def _ours(file: Path) -> bool:
    """Whether a safetensors file has our description; so has, for all we know, a damaged one."""
    try:
        with safe_open(file, framework="pt") as opened:
            return _KEY in (opened.metadata() or {})
    except (SafetensorError, OSError):
        return True


def header(path: Path) -> tuple[ModelConfig, dict[str, Any]]:
    """(sizes and encoding, all facts) from the header alone; weights are not read.

    What it returns fits the weights in name and shape, so a model of these sizes can be built.
    Raises DamagedCheckpoint when the file is no native checkpoint or its description is wrong.
    """
    try:
        with safe_open(path, framework="pt") as file:
            text = (file.metadata() or {}).get(_KEY)
            slices = {name: file.get_slice(name) for name in file.keys()}  # noqa: SIM118
            found = {name: tuple(s.get_shape()) for name, s in slices.items()}
            types = {s.get_dtype() for s in slices.values()}
    except FileNotFoundError:
        raise AtlasError(
            say("Expected a checkpoint at {path}; there is no such file.", path=path)
        ) from None
    except (SafetensorError, OSError) as error:
        raise DamagedCheckpoint(
            say(
                "Expected a safetensors checkpoint in {file}; it can't be read ({error}), so "
                "download or train it again.",
                file=path.name,
                error=error,
            )
        ) from None
    if text is None:
        raise DamagedCheckpoint(
            say(
                "Expected a native checkpoint; {file} is a safetensors file without the {key!r} "
                "description, so save it with `python -m viz_core train`.",
                file=path.name,
                key=_KEY,
            )
        )
    config, facts = _parse(text, path.name)
    try:
        wrong = _misfit(config, found)
    except AtlasError as error:
        raise DamagedCheckpoint(
            say("{file} describes its encoding wrongly: {error}", file=path.name, error=error)
        ) from None
    if wrong is not None or not types <= _TYPES:
        wrong = wrong or say("their number type")
        raise DamagedCheckpoint(
            say(
                "Expected weights in {file} that fit its description; they don't, first at "
                "{wrong}, so save the checkpoint again.",
                file=path.name,
                wrong=wrong,
            )
        )
    return config, facts


def read(path: Path) -> tuple[Transformer, dict[str, Any]]:
    """(model in float32, ready to evaluate; facts). Raises DamagedCheckpoint."""
    config, facts = header(path)
    with safe_open(path, framework="pt") as file:
        weights = {name: file.get_tensor(name).float() for name in file.keys()}  # noqa: SIM118
    if not all(bool(w.isfinite().all()) for w in weights.values()):
        raise DamagedCheckpoint(
            say(
                "Expected finite weights in {file}; some are NaN or infinite, so train it again.",
                file=path.name,
            )
        )
    model = Transformer(config)
    model.load_state_dict(weights)
    return model.eval().requires_grad_(False), facts


def _parse(text: str, name: str) -> tuple[ModelConfig, dict[str, Any]]:
    """The description's JSON, each value of the kind that it should be; nothing is built yet."""
    try:
        facts = json.loads(text)
        config = ModelConfig(**facts["config"])
        c = config
        sizes = (c.layers, c.heads, c.width, c.vocabulary, c.length, c.mlp)
        if facts["format"] != FORMAT or not isinstance(c.parameters, dict):
            raise ValueError
        if not all(type(n) is int and 0 < n <= _LARGEST for n in sizes):
            raise ValueError
        if c.width % (2 * c.heads):
            raise ValueError
        get(c.encoding).settings(c.parameters)
    except AtlasError as error:
        raise DamagedCheckpoint(
            say("{name} describes its encoding wrongly: {error}", name=name, error=error)
        ) from None
    except (ValueError, TypeError, KeyError, RecursionError):
        raise DamagedCheckpoint(
            say(
                "Expected format {version} with whole sizes in the description of {name}; it says "
                "something else, so save the checkpoint again with this version.",
                version=FORMAT,
                name=name,
            )
        ) from None
    return config, facts


def _misfit(config: ModelConfig, found: dict[str, tuple[int, ...]]) -> str | None:
    """The first weight whose name or shape `found` in the file isn't `config`'s; None if all fit.

    Sizes are held against the file before anything is built from them, which for a layer count
    or a width of a billion would take all time and memory.
    """
    sizes = {"embedding.weight": (config.vocabulary, config.width)}
    sizes["blocks.0.up.weight"] = (config.mlp * config.width, config.width)
    for name, shape in sizes.items():
        if found.get(name) != shape:
            return f"{name!r} {list(found.get(name, ()))}"
    layers = sum(name.endswith(".qkv.weight") for name in found)
    if config.layers != layers:
        return say("its number of layers, {layers}", layers=layers)
    with torch.device("meta"):
        expected = {n: tuple(t.shape) for n, t in Transformer(config).state_dict().items()}
    wrong = sorted(found.items() ^ expected.items())
    return f"{wrong[0][0]!r} {list(wrong[0][1])}" if wrong else None


def sha256(path: Path) -> str:
    """The hash of the file's bytes: the identity of a checkpoint."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
