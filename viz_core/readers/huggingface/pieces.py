"""The tokenizers of older checkpoints, that no tokenizer.json holds: of GPT-2, BERT, and a GGUF."""

from __future__ import annotations

import importlib
import json
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer
from tokenizers.models import BPE, WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer, ByteLevel
from tokenizers.processors import TemplateProcessing

from viz_core.readers.huggingface import configuration, gguf_keys

_NAME = re.compile(r"[^\s:$]+")  # others aren't words of a template


def tokenizer(path: Path) -> Tokenizer | None:
    """The tokenizer that a tokenizer.json, or the files of the checkpoint at `path`, make.

    vocab.json and merges.txt are GPT-2's kind, vocab.txt is BERT's. None cuts a text off or fills
    it up; what each puts around a text is what it does in transformers. None where the files make
    none.
    """
    if path.suffix == ".gguf":
        return _packed(path)
    if path.suffix == ".json":
        made = Tokenizer.from_file(str(path))
        made.no_truncation()
        made.no_padding()
        return made
    with suppress(Exception):  # whatever the library thinks of a file: there is none, then
        if (path / "merges.txt").is_file():
            words, merges = BPE.read_file(str(path / "vocab.json"), str(path / "merges.txt"))
            made = Tokenizer(BPE(words, merges))
            made.pre_tokenizer = ByteLevel(add_prefix_space=False)
            return _begun(made, path)
        if (path / "vocab.txt").is_file():
            lower = bool(_said(path / "tokenizer_config.json").get("do_lower_case", True))
            words = WordPiece.read_file(str(path / "vocab.txt"))
            made = Tokenizer(WordPiece(words, unk_token="[UNK]"))
            made.normalizer = BertNormalizer(lowercase=lower)
            made.pre_tokenizer = BertPreTokenizer()
            return _around(made, "[CLS]", "[SEP]")
    return None


def _begun(made: Tokenizer, folder: Path) -> Tokenizer:
    """`made`, beginning and ending texts as a folder's tokenizer_config.json says.

    Where there is a tokenizer.json, transformers goes by what that says alone.
    """
    said = _said(folder / "special_tokens_map.json") | _said(folder / "tokenizer_config.json")
    ends = []
    for which in ("bos", "eos"):
        token = said.get(f"{which}_token")
        content = token.get("content") if isinstance(token, dict) else token
        ends.append(str(content) if content and said.get(f"add_{which}_token") is True else "")
    return _around(made, *ends)


def _around(made: Tokenizer, before: str, after: str) -> Tokenizer:
    """`made`, putting these tokens before and after a text, as far as it has them."""
    known = {n: made.token_to_id(n) for n in (before, after) if _NAME.fullmatch(n)}
    numbers = {name: number for name, number in known.items() if number is not None}
    made.add_special_tokens(list(numbers))  # one token each, where a text spells them out
    made.post_processor = TemplateProcessing(
        single=[n for n in (before, "$A", after) if n == "$A" or n in numbers],
        special_tokens=list(numbers.items()),
    )
    return made


def _packed(path: Path) -> Tokenizer | None:
    """The one within a GGUF file, whose keys say what it puts around a text."""
    configuration.library()
    with suppress(Exception):
        kind: Any = importlib.import_module("transformers").AutoTokenizer
        loaded = kind.from_pretrained(str(path.parent), gguf_file=path.name, local_files_only=True)
        made: Tokenizer = loaded.backend_tokenizer
        numbers = gguf_keys.around(path)
        return _around(made, *("" if n is None else made.id_to_token(n) or "" for n in numbers))
    return None


def _said(path: Path) -> dict[str, Any]:
    found = json.loads(path.read_text("utf-8")) if path.is_file() else {}
    return found if isinstance(found, dict) else {}
