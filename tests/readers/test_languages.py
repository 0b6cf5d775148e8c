"""What readers find and refuse, in the language of whoever asks, and of no one who asked before."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from tests.pages import checkpoint_files as files
from tests.pages import spoken
from tests.readers.intake.said import LIMITS
from viz_core import readers, words
from viz_core.errors import AtlasError
from viz_core.readers import intake
from viz_core.readers.huggingface import configuration, hub
from viz_core.readers.intake import Uploads, admit, admitted
from viz_core.readers.intake.reasons import SENTENCES, refused
from viz_core.readers.intake.words import size

ORDER = ("zh", "en", "zh")
WRONG = {"zh": spoken.english, "en": spoken.chinese}
NAMES = (
    *(".safetensors", ".pth", ".bin", ".gguf", ".zip", "config.json", "limits.toml", "pickle"),
    *("KiB", "MiB", "GiB", "Hugging Face", "LayerNorm", "minGPT", "nanoGPT", "llama", "half"),
    *("max_position_embeddings", "transformer.wpe.weight", "gelu-tanh", "model_type", "owner/name"),
    *("transformers", "model.state_dict()", "safetensors", "torch.save", "growth", "largest_file"),
    *("tensors", "memory", "state_dict", "model", "module", "contiguous()", "clone()", "files"),
    *("PyTorch", "TorchScript", "eval", "hub", "Hub", "zip"),
)


def said(lang: str, ask: Callable[[], object]) -> str:
    """The sentence of a refusal in that language."""
    with words.speaking(lang), pytest.raises(AtlasError) as caught:
        ask()
    return str(caught.value)


def unquoted(text: str) -> str:
    """Without what stands in quotes: names of a stranger's file."""
    return " ".join(text.split("'")[::2])


@pytest.mark.parametrize("kind", ["native", "script", "huggingface"])
def test_an_audit_is_in_the_language_of_whoever_asks(kind: str, tmp_path: Path) -> None:
    if kind == "native":
        path = files.native_file(tmp_path / "model.safetensors")
    elif kind == "huggingface":
        path = files.llama(tmp_path / "llama")
    else:
        path = admit(files.state_dict(tmp_path / "model.pt"), tmp_path / "a", LIMITS).folder
    before: dict[str, list[str]] = {}
    for lang in ORDER:
        with words.speaking(lang):
            found = readers.describe(path)
            audit = readers.audit(readers.load(found), found)
            lines = [unquoted(f"{words.say(f.about)}: {f.words}") for f in audit]
            lines += [words.say(question.help) for question in found.questions]
        assert len(lines) >= 2
        assert WRONG[lang](lines, *([NAMES] if lang == "zh" else [])) == []
        assert before.setdefault(lang, lines) == lines


class Evil:
    """What a pickle of it does when it is opened."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return eval, ("1",)


def test_what_the_child_refuses_its_parent_says(tmp_path: Path) -> None:
    path = tmp_path / "model.pt"
    torch.save({"model": Evil()}, path)
    for lang in ORDER:
        sentence = said(lang, lambda: admit(path, tmp_path / "a", LIMITS))
        assert WRONG[lang]([unquoted(sentence)], *([NAMES] if lang == "zh" else [])) == []
    assert "从不运行" in said("zh", lambda: admit(path, tmp_path / "a", LIMITS))


@pytest.mark.parametrize("reason", [*SENTENCES, "torch", "limits"])
def test_every_reason_of_the_child_is_said_in_both(reason: str) -> None:
    with words.speaking("zh"):
        sentence = str(refused(Path("model.pt"), reason, "a"))
    assert spoken.english([unquoted(sentence)], NAMES) == []
    assert not spoken.chinese([str(refused(Path("model.pt"), reason, "a"))])


def test_refusals_of_each_part(tmp_path: Path) -> None:
    (tmp_path / "broken.zip").write_bytes(b"PK\x03\x04")
    (tmp_path / "short.safetensors").write_bytes(b"no")
    (tmp_path / "none.gguf").write_bytes(b"GGML" + bytes(40))
    uploads = Uploads(tmp_path / "kept", replace(LIMITS, quota=1))
    small = replace(LIMITS, hub=True)

    def keep() -> None:
        with uploads.begin("ann") as incoming:
            incoming.write("a.pt", [b"more than one byte"])
            incoming.finish()

    asked: list[Callable[[], object]] = [
        *(
            lambda n=name: admit(tmp_path / n, tmp_path / "a", LIMITS)
            for name in ("broken.zip", "short.safetensors", "none.gguf", "absent.pt")
        ),
        keep,
        lambda: intake.choose(["../a.pt"]),
        lambda: uploads.open("ann", "0"),
        lambda: configuration.build({"model_type": "llama", "quantization_config": {}}),
        lambda: hub.fetch("owner/name", "main", tmp_path, replace(small, hub=False)),
        lambda: hub.fetch("no name", "main", tmp_path, small),
    ]
    for ask in asked:
        assert spoken.english([unquoted(said("zh", ask))], NAMES) == []
        assert spoken.chinese([said("en", ask)]) == []


def test_what_was_left_out_is_kept_as_names(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    files.native_file(source / "model.safetensors")
    (source / "training.csv").write_text("step\n")
    with words.speaking("zh"):
        found = admit(source, tmp_path / "a", LIMITS)
        assert found.notes == ("不需要而略去：'training.csv'。",)
    record = json.loads((tmp_path / "a" / "admitted.json").read_text())
    assert record["left"] == [["unneeded", ["training.csv"], 1, ""]]
    again = admitted(tmp_path / "a")
    assert again == found
    assert again.notes == ("Left out, as not needed: 'training.csv'.",)


def test_a_record_of_earlier_days_is_still_read(tmp_path: Path) -> None:
    found = admit(files.native_file(tmp_path / "model.safetensors"), tmp_path / "a", LIMITS)
    path = tmp_path / "a" / "admitted.json"
    record = json.loads(path.read_text())
    del record["left"]
    path.write_text(json.dumps({**record, "notes": ["Left out, as not needed: 'a.csv'."]}))
    assert admitted(tmp_path / "a") == found


def test_sizes_have_units_in_both() -> None:
    with words.speaking("zh"):
        assert (size(1_000), size(1 << 20)) == ("1,000 字节", "1.0 MiB")
    assert size(1_000) == "1,000 bytes"
