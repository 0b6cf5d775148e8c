"""Where the words of a text come from."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from viz_core.errors import TextError, UnknownName
from viz_core.training.corpus import Document, corpus_folder, documents
from viz_core.words import mark, say

MANUAL, PROSE, RANDOM, REPEATED, PASTED = "python-docs", "prose", "random", "repeated", "pasted"
HELD_OUT, PERIOD = "heldout", 64  # PERIOD: tokens that `repeated` repeats


def words_of(text_id: str, pasted: str) -> list[str]:
    """The words of a text: one string, or one for each held-out document.

    Raises UnknownName for a text that isn't there, TextError for an empty one, CorpusError for
    damaged held-out documents.
    """
    if text_id == MANUAL:
        from pydoc_data.topics import topics  # half a megabyte: read when asked for

        found = ["\n".join(topics[name] for name in sorted(topics))]
    elif text_id == PROSE:
        found = [Path(__file__).with_name("prose.txt").read_text("utf-8")]
    elif text_id.partition("/")[0] == HELD_OUT:
        if not (held := held_out()):
            raise TextError(
                say("Expected held-out documents; there are none. Run `make corpus` first.")
            )
        found = [d.text for d in held if text_id in (HELD_OUT, f"{HELD_OUT}/{d.id}")]
    else:
        found = [pasted] if text_id == PASTED else []
    if not found:
        one = say("or {text}/ID", text=HELD_OUT)
        raise UnknownName(mark("a text"), text_id, [MANUAL, PROSE, RANDOM, REPEATED, one])
    if not found[0].strip():
        raise TextError(
            say("Expected a text; this one is empty. Paste some words, or choose another.")
        )
    return found


def held_out(corpus: Path | None = None) -> tuple[Document, ...]:
    """The held-out documents in the folder `corpus`; none where it has none. CorpusError."""
    path = (corpus or corpus_folder()) / "heldout.jsonl"
    return _documents(path, path.stat().st_mtime_ns) if path.is_file() else ()


@lru_cache(maxsize=2)
def _documents(path: Path, changed: int) -> tuple[Document, ...]:
    return tuple(documents(path))
