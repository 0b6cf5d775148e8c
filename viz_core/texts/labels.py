"""Tokens as they can be read."""

from __future__ import annotations

from collections.abc import Sequence

from tokenizers import Tokenizer

from viz_core.training.tokenizer import END

# Byte-level BPE writes each byte as one printable character: itself, or the next beyond 255.
_SELF = [*range(33, 127), *range(161, 173), *range(174, 256)]
_NEXT = [b for b in range(256) if b not in _SELF]
_BYTES = {chr(b): b for b in _SELF} | {chr(256 + n): b for n, b in enumerate(_NEXT)}
_SHOWN = {" ": "·", "▁": "·", "\n": "↵", "\t": "⇥", "\r": "␍"}


def pieces(ids: Sequence[int], tokenizer: Tokenizer) -> list[str]:
    """A readable label per token, no HTML: whitespace visible, bytes of no character as ⟨E2⟩."""
    labels = {i: _label(tokenizer.id_to_token(i)) for i in set(ids)}
    return [labels[i] for i in ids]


def _label(piece: str | None) -> str:
    if piece is None or piece == END:
        return "⟨end⟩" if piece else "⟨?⟩"
    if all(c in _BYTES for c in piece):  # other kinds of tokenizer have pieces as they read
        piece = bytes(_BYTES[c] for c in piece).decode("utf-8", "surrogateescape")
    codes = {c: c.encode("utf-8", "surrogateescape").hex(" ").upper() for c in piece}
    return "".join(_SHOWN.get(c) or (c if c.isprintable() else f"⟨{codes[c]}⟩") for c in piece)
