"""Checkpoints by name: the shipped ones in `checkpoints/`, and any other by its path."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit

from viz_core import encodings, journal, readers, texts
from viz_core.errors import AtlasError, DamagedCheckpoint, UnknownName
from viz_core.readers import intake, native
from viz_core.readers.description import Description
from viz_core.readers.intake.names import WEIGHTS
from viz_core.subject import Sizes, Subject
from viz_core.words import mark, say, sentences

SHIPPED = Path(__file__).parents[1] / "checkpoints"
TOKENIZER = SHIPPED / "tokenizer.json"
_SUFFIXES = (*WEIGHTS, ".zip")
SPECIAL_TOKENS = encodings.Parameter(
    "special_tokens",
    "on",
    mark("Whether texts begin and end with the special tokens that its tokenizer puts there."),
    choices=("on", "off"),
)


@dataclass(frozen=True)
class Checkpoint:
    """One checkpoint, as it describes itself; weights are read by `load`.

    `special_tokens`: whether texts begin and end as its own tokenizer has it, with <bos>, say.
    """

    id: str
    description: Description
    special_tokens: bool = True

    @property
    def path(self) -> Path:
        """Its file, or the folder that holds it."""
        return self.description.path

    @property
    def config(self) -> Sizes:
        """Sizes and encoding."""
        return self.description.config

    @property
    def facts(self) -> Mapping[str, Any]:
        """What else it says of itself."""
        return self.description.facts

    @cached_property
    def sha256(self) -> str:
        """The hash of what it is made of: of an encoding of one's own, the formula too."""
        return encodings.identity(self.config.encoding, readers.sha256(self.description))

    @property
    def assumed(self) -> str:
        """What was assumed of it, in a sentence; or nothing."""
        found = [
            f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}"
            for name, value in self.description.assumed.items()
        ]
        if not found:
            return ""
        return say(
            "Assumed of {checkpoint}, since its file doesn't say: {values}.",
            checkpoint=self.id,
            values=", ".join(found),
        )

    @property
    def beginning(self) -> str:
        """How texts begin and end where its tokenizer puts tokens there, in a sentence."""
        before, after = (" ".join(tokens) for tokens in self.around)
        facts = {"checkpoint": self.id, "before": before, "after": after}
        match self.special_tokens, before, after:
            case _, "", "":
                return ""
            case False, _, _:
                return say(
                    "Texts are read as they are written, without the special tokens that the "
                    "tokenizer of {checkpoint} puts around them ({tokens}).",
                    checkpoint=self.id,
                    tokens=sentences(before, after),
                )
            case True, _, "":
                return say(
                    "Texts begin with {before}, as the tokenizer of {checkpoint} has it.", **facts
                )
            case True, "", _:
                return say(
                    "Texts end with {after}, as the tokenizer of {checkpoint} has it.", **facts
                )
        return say(
            "Texts begin with {before} and end with {after}, as the tokenizer of {checkpoint} has "
            "it.",
            **facts,
        )

    @cached_property
    def around(self) -> tuple[list[str], ...]:
        """The tokens that its tokenizer puts (before, after) a text.

        None where it is one of another model.
        """
        try:
            pieces = self._pieces(special_tokens=True)
        except AtlasError:
            return [], []
        before, after = texts.around(pieces)
        return tuple([pieces.id_to_token(i) or "" for i in ids] for ids in (before, after))

    @property
    def caveat(self) -> str:
        """What stands beside every result of it: in notes, captions and provenance; or nothing."""
        return sentences(*(s for s in (self.assumed, self.beginning) if s))

    @property
    def questions(self) -> tuple[encodings.Parameter, ...]:
        """What may be answered about it, with the likeliest value as default."""
        return (*self.description.questions, *([SPECIAL_TOKENS] if any(self.around) else []))

    @property
    def answers(self) -> dict[str, encodings.Value]:
        """What was answered."""
        given = {} if self.special_tokens else {SPECIAL_TOKENS.name: "off"}
        return {**self.description.answers, **given}

    def load(self, device: torch.device | None = None) -> Subject:
        """The model in float32 on `device` (the CPU by default). Raises DamagedCheckpoint."""
        return readers.load(self.description, device or "cpu")

    def tokenizer(self) -> Tokenizer:
        """The tokenizer it was trained with; for want of one, one that takes token numbers alone.

        That is the tokenizer.json beside it; ours for our own and for a model without an
        embedding, whose inputs are made up for any token. It puts nothing around a text where
        `special_tokens` is false. Raises AtlasError where that is another one than its description
        names, or one of another size.
        """
        return self._pieces(self.special_tokens)

    @property
    def numbered(self) -> bool:
        """Whether it came without a tokenizer, so that its tokens have numbers and no letters."""
        d, size = self.description, self.config.vocabulary
        alone = d.tokenizer is None and d.format != "native" and size > 0
        return alone and self.tokenizer() is _numbers(size)

    def _pieces(self, special_tokens: bool) -> Tokenizer:
        d, own, wanted = self.description, self.description.tokenizer, self.config.vocabulary
        path = own or TOKENIZER
        pieces = _pieces(path, native.sha256(path), special_tokens)
        size, trained_with = pieces.get_vocab_size(), self.facts.get("tokenizer_sha256")
        if not wanted:
            return pieces
        ours = d.format == "native" or (d.family == "attention-atlas" and size == wanted)
        if own is None and not ours:
            return _other(d.path, self.sha256, special_tokens) or _numbers(wanted)
        other = size != wanted if ours else size > wanted  # embeddings may be padded
        if other or trained_with not in (None, native.sha256(path)):
            raise AtlasError(
                say(
                    "Expected the tokenizer of {pieces:,} pieces that {checkpoint} was trained "
                    "with; {file} is another one, of {size:,}. Put the right tokenizer.json "
                    "beside the checkpoint.",
                    pieces=wanted,
                    checkpoint=self.id,
                    file=path.name,
                    size=size,
                )
            )
        return pieces

    def row(self) -> dict[str, Any]:
        """What `list` shows of it, in plain JSON types."""
        c = self.config
        return {
            "id": self.id,
            "encoding": c.encoding,
            "encoding_parameters": dict(c.parameters),
            "layers": c.layers,
            "heads": c.heads,
            "head_dim": c.head_dim,
            "width": c.width,
            "vocabulary": c.vocabulary,
            "trained_length": c.length,
            "parameters": self.description.weights,
            "tokens_seen": self.facts.get("tokens_seen"),
            "validation_loss": self.facts.get("validation_loss"),
            "loss_by_position": self.facts.get("loss_by_position"),
            "recipe_sha256": self.facts.get("recipe_sha256"),
            "corpus_sha256": self.facts.get("corpus_sha256"),
            "tokenizer_sha256": self.facts.get("tokenizer_sha256"),
            "sha256": self.sha256,
        }


@lru_cache(maxsize=8)
def _pieces(path: Path, sha256: str, special_tokens: bool) -> Tokenizer:
    """One tokenizer for all checkpoints that share it, so that a text is cut into tokens once."""
    found = readers.tokenizer(path)
    assert found is not None  # for a file that holds one
    return found if special_tokens else _bare(found)


@lru_cache(maxsize=8)
def _other(path: Path, sha256: str, special_tokens: bool) -> Tokenizer | None:
    found = readers.tokenizer(path)
    return found if special_tokens or found is None else _bare(found)


def _bare(pieces: Tokenizer) -> Tokenizer:
    pieces.post_processor = None
    return pieces


@lru_cache(maxsize=8)
def _numbers(vocabulary: int) -> Tokenizer:
    """Token numbers, written out: for a checkpoint that comes without its tokenizer."""
    pieces = Tokenizer(WordLevel({str(i): i for i in range(vocabulary)}, "?"))
    pieces.pre_tokenizer = WhitespaceSplit()
    return pieces


def shipped(folder: Path = SHIPPED) -> dict[str, Checkpoint]:
    """Every checkpoint in `folder` by id, in alphabetical order. Raises DamagedCheckpoint."""
    found, damaged = scan(folder)
    if damaged:
        raise DamagedCheckpoint(damaged[0])
    return found


def scan(folder: Path = SHIPPED) -> tuple[dict[str, Checkpoint], list[str]]:
    """(the checkpoints in `folder` that can be read, a sentence for each that can't)."""
    found, damaged = {}, []
    for path in sorted(folder.glob("*/model.safetensors")):
        try:
            found[path.parent.name] = Checkpoint(path.parent.name, readers.describe(path))
        except DamagedCheckpoint as error:
            damaged.append(
                say(
                    "Checkpoint {checkpoint} is left out. {error}",
                    checkpoint=path.parent.name,
                    error=error,
                )
            )
    return found, damaged


def find(name: str, folder: Path = SHIPPED) -> Checkpoint:
    """The shipped checkpoint with id `name`, or the one at that path.

    A path may end with answers to what the checkpoint doesn't say, as in
    `model.safetensors?heads=8&encoding=alibi`, and with `special_tokens=off`. Raises UnknownName
    with the known ids, UsageError for an answer that can't be, and as `readers.describe` does.
    """
    known = {p.parent.name: p for p in sorted(folder.glob("*/model.safetensors"))}
    if name in known:
        return Checkpoint(name, readers.describe(known[name]))
    where, _, asked = name.partition("?")
    if not (Path(where).suffix in _SUFFIXES or "/" in where or _is_there(where)):
        raise UnknownName(mark("a checkpoint"), name, [*known, say("the path of a checkpoint")])
    answers = dict(parse_qsl(asked, keep_blank_values=True))
    path = Path(where)
    marks = _marks(path)
    if (ours := native.describe(path, answers)) is not None:
        return Checkpoint(_name(path), ours)
    rest, special_tokens = asked_of_texts(answers)
    return Checkpoint(_name(path), readers.describe(_admitted(path, marks), rest), special_tokens)


def asked_of_texts(answers: Mapping[str, object]) -> tuple[dict[str, object], bool]:
    """(answers that a reader takes, whether special tokens are on). UnknownName for neither."""
    rest = dict(answers)
    return rest, SPECIAL_TOKENS.check(rest.pop(SPECIAL_TOKENS.name, "on")) == "on"


def _marks(path: Path) -> list[tuple[str, int, int]]:
    """(path, time, size) of the files of the checkpoint at `path`. AtlasError where it has none."""
    try:
        files = sorted(path.iterdir()) if path.is_dir() else [path]
        marks = [(str(f.resolve()), f.stat().st_mtime_ns, f.stat().st_size) for f in files]
    except (OSError, ValueError):  # no such file, a name too long to be one, or a zero in it
        marks = []
    if marks and path.is_file() and path.suffix not in _SUFFIXES:
        raise AtlasError(
            say(
                "Expected a checkpoint file at {path}; its name ends otherwise, so end it as what "
                "it holds: {endings}.",
                path=path,
                endings=", ".join(_SUFFIXES),
            )
        )
    if not any(Path(name).suffix in _SUFFIXES for name, _, _ in marks):
        raise AtlasError(say("Expected a checkpoint file at {path}; there is none.", path=path))
    return marks


def _admitted(path: Path, marks: list[tuple[str, int, int]]) -> Path:
    """The folder of what may be read of the checkpoint at `path`, which isn't of our own format.

    It is checked (and converted, where it is a pickle) once, and kept with other results for as
    long as its files stay as they are.
    """
    name = hashlib.sha256(repr(marks).encode()).hexdigest()
    into = journal.store_folder() / "opened" / name
    found = intake.admitted(into) or intake.admit(path, into, intake.Limits.read())
    return found.folder


def _is_there(name: str) -> bool:
    try:
        return name != "" and Path(name).exists()
    except OSError:  # a name too long to be one
        return False


def _name(path: Path) -> str:
    """What a checkpoint at `path` is called: by its file, or its folder."""
    if path.suffix in _SUFFIXES and path.stem != "model":
        return path.stem
    return path.resolve().name if path.suffix not in _SUFFIXES else path.resolve().parent.name
