"""From a Hugging Face folder to a description, and on to a model."""

from __future__ import annotations

import copy
import inspect
import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from viz_core.encodings import Parameter
from viz_core.errors import AtlasError, UnknownName
from viz_core.kernels import ignore
from viz_core.readers.description import Description, ForeignSizes
from viz_core.readers.huggingface import configuration, declared, files, sizes
from viz_core.readers.huggingface.adapters import adapt
from viz_core.readers.huggingface.capture import register
from viz_core.readers.huggingface.families import FAMILIES
from viz_core.readers.huggingface.files import Tensors
from viz_core.readers.huggingface.fitting import Fit, fit
from viz_core.readers.huggingface.foreign import Decoder, Foreign
from viz_core.readers.huggingface.positions import encodings, turn
from viz_core.readers.huggingface.tables import unbound
from viz_core.readers.intake import called
from viz_core.words import mark, say

STACK = Parameter(
    "stack",
    "encoder",
    mark("Which of the two stacks to look at; the decoder reads the text on both sides."),
    choices=("encoder", "decoder"),
)
# transformers changes defaults of torch while it builds a model, for the whole process
_BUILDING = threading.Lock()
_FACTS = ("architectures", "rope_parameters", "rope_scaling", "dtype", "torch_dtype")


@dataclass(frozen=True)
class Opened:
    """A folder whose headers and JSON fit each other: a model of class `made` in transformers.

    `stack`, of a T5: "encoder" or "decoder"; `choice`: whether the files hold both.
    """

    config: Any
    said: dict[str, Any]
    tensors: Tensors
    fitted: Fit
    made: str
    stack: str
    choice: bool

    @property
    def size(self) -> ForeignSizes:
        """Sizes and encoding."""
        return sizes.sizes(self.config, self.said, self.stack)


def describe(path: Path, answers: Mapping[str, object]) -> Description | None:
    """The checkpoint in the folder `path`; None where there is no config.json with a model_type.

    Raises DamagedCheckpoint where headers and config.json don't fit, UnknownName for a family that
    isn't read or an answer to no question, UsageError for a wrong answer.
    """
    said = files.config(path) if path.is_dir() else None
    if said is None:
        return None
    opened = _open(path, said, answers)
    tokenizer = path / "tokenizer.json"
    with configuration.understood(opened.config.model_type):
        size = opened.size
        found = declared.declared(opened.config, said, size, opened.fitted, opened.stack)
    return Description(
        path=path,
        format="huggingface",
        family=opened.config.model_type,
        config=size,
        weights=opened.tensors.count(opened.fitted.names),
        findings=found,
        facts={name: said[name] for name in _FACTS if said.get(name) is not None},
        tokenizer=tokenizer if tokenizer.is_file() else None,
        questions=(STACK,) if opened.choice else (),
        answers={name: str(value) for name, value in answers.items()},
    )


def load(description: Description, device: torch.device) -> Foreign:
    """The model in float32 on `device`, ready to evaluate.

    Raises DamagedCheckpoint for weights that aren't finite, or that changed since.
    """
    said = files.config(description.path)
    if said is None:
        raise AtlasError(
            say("Expected config.json in {name}; it is gone.", name=called(description.path))
        )
    opened = _open(description.path, said, description.answers)
    weights = opened.tensors.read(opened.fitted.names)
    files.finite(weights, description.path)
    return assemble(opened.config, weights, device, opened.made, opened.size, opened.stack)


def assemble(
    settings: Any,
    weights: dict[str, Tensor],
    device: torch.device,
    made: str,
    size: ForeignSizes,
    stack: str = "",
    turned: tuple[Tensor, float] | None = None,
) -> Foreign:
    """The Subject of `weights` (by the names in the class `made`), which fit `settings`.

    `turned`: RoPE's (radians per token [pair], factor on cos and sin), where a file gives them
    itself. Raises DamagedCheckpoint where settings are none that a model can be built or run with.
    """
    with _BUILDING, configuration.understood(settings.model_type):
        model = _built(settings, weights, made)
        if turned is not None:
            turn(model, *turned)
        model = model.to(device)
        subject = _subject(model, settings, made, size, stack).eval()
        for _ in subject.passes(torch.zeros(2, dtype=torch.long), ignore):
            pass  # two tokens show what is wrong only once a model runs
    return subject


def _built(settings: Any, weights: dict[str, Tensor], made: str) -> Any:
    family, name, kind = (
        FAMILIES[settings.model_type],
        register(),
        getattr(configuration.library(), made),
    )
    model = kind.from_pretrained(
        None,
        config=settings,
        state_dict=weights,
        dtype=torch.float32,
        attn_implementation="eager" if family.own else name,
        local_files_only=True,
        **_parts(kind),
    )
    if family.own:  # while they are built, these classes know no other name
        model.config._attn_implementation = name
        adapt(model)
    unbound(model)
    return model.eval().requires_grad_(False)


def _subject(model: Any, settings: Any, made: str, size: ForeignSizes, stack: str) -> Foreign:
    if stack == "decoder":
        other = replace(size, parameters={**size.parameters, "bidirectional": 1})
        both = (
            encodings(model.encoder, model.config, other),
            encodings(model.decoder, model.config, size),
        )
        return Decoder(model.encoder, model.decoder, size, model.config, both)
    head = None
    if made == FAMILIES[settings.model_type].head:
        head = model.get_output_embeddings()
    base = model.encoder if stack else model
    if head is not None:
        base = model.model if model.base_model is model else model.base_model
    layers = encodings(base, model.config, size)
    return Foreign(base, head, size, model.config, layers, sizes.before(settings))


def empty(made: str, settings: Any) -> nn.Module:
    """The model of class `made` without memory for its weights. Raises DamagedCheckpoint."""
    kind = getattr(configuration.library(), made)
    with configuration.understood(settings.model_type), torch.device("meta"):
        model: nn.Module = kind(copy.deepcopy(settings), **_parts(kind))
    return model


def _parts(kind: Any) -> dict[str, bool]:
    """Encoders without what pools their tokens: checkpoints of masked models don't have it."""
    return {p: False for p in inspect.signature(kind).parameters if p == "add_pooling_layer"}


def _open(path: Path, said: dict[str, Any], answers: Mapping[str, object]) -> Opened:
    """What is in the folder, held against itself; nothing of a weight's size is allocated."""
    config = configuration.build(said)
    found = files.tensors(path)
    stack, choice = _stack(config, found, answers)
    shapes = found.shapes
    if stack == "encoder":
        shapes = {n: s for n, s in shapes.items() if not n.startswith(("decoder.", "lm_head."))}
    made = _class(config, said, found, stack)
    fitted = fit(empty(made, config), shapes)
    found.check(fitted.names)
    return Opened(config, said, found, fitted, made, stack, choice)


def _stack(config: Any, found: Tensors, answers: Mapping[str, object]) -> tuple[str, bool]:
    """(the stack of a T5 that is asked for, whether there is a choice)."""
    two = FAMILIES[config.model_type].positions == "t5"
    choice = two and any(name.startswith("decoder.") for name in found.shapes)
    for name in answers:
        if name != STACK.name or not choice:
            known = [STACK.name] if choice else [say("none")]
            raise UnknownName(mark("an answer about this checkpoint"), name, known)
    return (str(STACK.check(answers.get(STACK.name, STACK.default))) if two else ""), choice


def _class(config: Any, said: Mapping[str, Any], found: Tensors, stack: str) -> str:
    """The transformers class: with the head, where the family has one and the files hold it."""
    family = FAMILIES[config.model_type]
    if stack == "encoder":
        return family.base.replace("Model", "EncoderModel")
    if family.head is None:
        return family.base
    own = any(n.startswith(("lm_head.", "embed_out.", "output_projection.")) for n in found.shapes)
    built = said.get("architectures")
    named = built[0] if isinstance(built, list) and built else family.head
    shared = getattr(config, "tie_word_embeddings", False) and named == family.head
    return family.head if own or shared else family.base
