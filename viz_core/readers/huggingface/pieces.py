"""The tokenizers of older checkpoints, that no tokenizer.json holds: of GPT-2, BERT, and a GGUF."""

from __future__ import annotations

import importlib
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer
from tokenizers.models import BPE, WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer, ByteLevel

from viz_core.readers.huggingface import configuration


def tokenizer(path: Path) -> Tokenizer | None:
    """The tokenizer that the files of the checkpoint at `path` make; None where they make none.

    vocab.json and merges.txt are GPT-2's kind, vocab.txt is BERT's; special tokens are content
    like any other here, since texts are read without them.
    """
    if path.suffix == ".gguf":
        return _packed(path)
    with suppress(Exception):  # whatever the library thinks of a file: there is none, then
        if (path / "merges.txt").is_file():
            words, merges = BPE.read_file(str(path / "vocab.json"), str(path / "merges.txt"))
            made = Tokenizer(BPE(words, merges))
            made.pre_tokenizer = ByteLevel(add_prefix_space=False)
            return made
        if (path / "vocab.txt").is_file():
            lower = bool(_said(path / "tokenizer_config.json").get("do_lower_case", True))
            words = WordPiece.read_file(str(path / "vocab.txt"))
            made = Tokenizer(WordPiece(words, unk_token="[UNK]"))
            made.normalizer = BertNormalizer(lowercase=lower)
            made.pre_tokenizer = BertPreTokenizer()
            return made
    return None


def _packed(path: Path) -> Tokenizer | None:
    """The one within a GGUF file."""
    configuration.library()
    with suppress(Exception):
        kind: Any = importlib.import_module("transformers").AutoTokenizer
        made = kind.from_pretrained(str(path.parent), gguf_file=path.name, local_files_only=True)
        found: Tokenizer = made.backend_tokenizer
        return found
    return None


def _said(path: Path) -> dict[str, Any]:
    found = json.loads(path.read_text("utf-8")) if path.is_file() else {}
    return found if isinstance(found, dict) else {}
