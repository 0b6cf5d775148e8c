"""A byte-level BPE trained on the training split: any text comes back whole, byte for byte."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

END = "<|endoftext|>"  # between documents; id 0


def train(texts: Iterable[str], vocabulary: int) -> Tokenizer:
    """A tokenizer of `vocabulary` pieces; the same texts in the same order give the same one."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=[END],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


def load_or_train(path: Path, texts: Iterable[str], vocabulary: int) -> Tokenizer:
    """The tokenizer at `path`, trained on `texts` and written there first if it isn't there."""
    if not path.exists():
        train(texts, vocabulary).save(str(path))
    return Tokenizer.from_file(str(path))
