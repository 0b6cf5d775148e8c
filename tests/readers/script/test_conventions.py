"""Names whose code is known, beside that code: Meta's, lucidrains', PyTorch's tutorial's."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from tests.conftest import Cli
from tests.readers.script import modules
from tests.readers.script.reading import IDS, described, maps, opened, same, saved
from viz_core import catalogue
from viz_core.errors import DamagedCheckpoint, UsageError

WIDTH, HEADS, KEYS, WORDS = 32, 4, 2, 50
BASE = 10000.0 ** (-torch.arange(0, 8, 2).double() / 8)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    torch.manual_seed(0)
    return tmp_path / "model.safetensors"


def meta() -> dict[str, Tensor]:
    """Two layers under Meta's names."""
    torch.manual_seed(0)
    found = {"tok_embeddings.weight": torch.randn(WORDS, WIDTH), "norm.weight": torch.rand(WIDTH)}
    for i in range(2):
        sizes = {"attention.wq": (WIDTH, WIDTH), "attention.wk": (16, WIDTH)}
        sizes |= {"attention.wv": (16, WIDTH), "attention.wo": (WIDTH, WIDTH)}
        sizes |= {"feed_forward.w1": (48, WIDTH), "feed_forward.w2": (WIDTH, 48)}
        sizes |= {"feed_forward.w3": (48, WIDTH)}
        for name, size in sizes.items():
            found[f"layers.{i}.{name}.weight"] = torch.randn(size) * size[1] ** -0.5
        for name in ("attention_norm", "ffn_norm"):
            found[f"layers.{i}.{name}.weight"] = 1 + 0.1 * torch.randn(WIDTH)
    return found | {"output.weight": torch.randn(WORDS, WIDTH)}


def shares(w: dict[str, Tensor], theta: Tensor) -> list[Tensor]:
    """What Meta's code computes of IDS: attention [head, query, key] of each layer."""
    turn = torch.polar(torch.ones(()).double(), torch.arange(len(IDS))[:, None] * theta)

    def norm(x: Tensor, name: str) -> Tensor:
        return x * (x.square().mean(-1, keepdim=True) + 1e-5).rsqrt() * w[f"{name}.weight"]

    def rotate(x: Tensor) -> Tensor:  # neighbouring channels as one complex number
        pairs = torch.view_as_complex(x.double().unflatten(-1, (-1, 2)).contiguous())
        return torch.view_as_real(pairs * turn).flatten(-2).float()

    x, found = w["tok_embeddings.weight"][IDS], []
    for i in range(2):
        at, y = (
            f"layers.{i}.",
            norm(w["tok_embeddings.weight"][IDS] if i == 0 else x, f"layers.{i}.attention_norm"),
        )
        q, k, v = (
            (y @ w[f"{at}attention.{n}.weight"].T).unflatten(-1, (h, 8)).transpose(0, 1)
            for n, h in (("wq", HEADS), ("wk", KEYS), ("wv", KEYS))
        )
        k, v = (z.repeat_interleave(HEADS // KEYS, dim=0) for z in (k, v))
        logits = rotate(q) @ rotate(k).transpose(1, 2) / 8**0.5
        found.append(
            logits.masked_fill(torch.ones(len(IDS), len(IDS)).triu(1).bool(), -torch.inf).softmax(
                -1
            )
        )
        x = x + (found[-1] @ v).transpose(0, 1).flatten(1) @ w[f"{at}attention.wo.weight"].T
        y = norm(x, f"{at}ffn_norm")
        gate = F.silu(y @ w[f"{at}feed_forward.w1.weight"].T)
        x = (
            x
            + (gate * (y @ w[f"{at}feed_forward.w3.weight"].T)) @ w[f"{at}feed_forward.w2.weight"].T
        )
    return found


def test_metas_names_have_known_settings(path: Path) -> None:
    found, subject = opened(saved(meta(), path, {"n_heads": HEADS, "norm_eps": 1e-5}))
    assert found.family == "meta-llama" and {*found.assumed} == {"theta"}
    same(maps(subject), shares(meta(), BASE))


def test_metas_folder_as_it_is_downloaded(tmp_path: Path, cli: Cli) -> None:
    folder, theta = tmp_path / "Llama", 500000.0 ** (-torch.arange(0, 8, 2).double() / 8)
    folder.mkdir()
    torch.save({**meta(), "rope.freqs": theta.float()}, folder / "consolidated.00.pth")
    said = {"dim": WIDTH, "n_heads": HEADS, "n_kv_heads": KEYS, "norm_eps": 1e-5}
    (folder / "params.json").write_text(json.dumps({**said, "rope_theta": 500000.0}))
    status, out, err = cli("inspect", folder, "--json")
    assert (status, err) == (0, "") and json.loads(out)["encoding"]["parameters"]["theta"] == 500000
    same(maps(catalogue.find(str(folder)).load()), shares(meta(), theta))
    (folder / "params.json").write_text(json.dumps({**said, "use_scaled_rope": True}))
    status, _, err = cli("inspect", folder)
    assert status == 1 and "use_scaled_rope" in err


def test_the_files_own_settings_come_before_the_names(path: Path) -> None:
    found = described(saved(meta(), path, {"n_heads": HEADS, "norm_eps": 1e-3}))
    assert any(
        f.about == "epsilon" and "0.001: the file's config" in f.words for f in found.findings
    )


def test_an_answer_may_say_what_is_known_and_nothing_else(path: Path) -> None:
    file = saved(meta(), path, {"n_heads": HEADS})
    assert described(file, layout="interleaved").config.parameters["layout"] == "interleaved"
    with pytest.raises(UsageError, match="layout to be interleaved"):
        described(file, layout="half")


def test_frequencies_called_freqs_turn_neighbours_unless_answered(path: Path) -> None:
    found = modules.Model().state_dict()
    found |= {f"layers.{i}.attn.rotary_emb.freqs": BASE for i in range(3)}
    file = saved(found, path)
    assert described(file, heads=4).config.parameters["layout"] == "interleaved"
    assert described(file, heads=4).assumed["layout"] == "interleaved"
    assert described(file, heads=4, layout="half").config.parameters["layout"] == "half"


@pytest.mark.parametrize("name", ["decoder", "linear", "fc"])
def test_a_head_by_its_shape_where_its_name_is_plain(path: Path, name: str) -> None:
    model = modules.Model()
    found = {n.replace("lm_head", name): t for n, t in model.state_dict().items()}
    subject = opened(saved(found, path), heads=4, encoding="alibi")[1]
    with torch.no_grad():
        torch.testing.assert_close(
            subject.logits(subject.stream(IDS[None]))[0], model(IDS)[0], rtol=1e-4, atol=1e-4
        )
    other = {n: t[:7] if n.startswith(name) else t for n, t in found.items()}
    if name != "decoder":  # of another shape it has no known place
        with pytest.raises(DamagedCheckpoint, match=name):
            described(saved(other, path), heads=4)


def test_scaled_frequencies_are_of_no_other_base(path: Path) -> None:
    plain = 500000.0 ** (-torch.arange(0, 8, 2).double() / 8)
    scaled = plain * torch.tensor([1.0, 1.0, 0.5, 0.125])
    found = modules.Model().state_dict() | {"rotary_emb.inv_freq": scaled}
    made = described(saved(found, path), heads=4)
    (said,) = [f for f in made.findings if f.about == "RoPE base"]
    assert made.config.parameters["theta"] == 500000 and said.verdict == "unknown"
    assert said.words.startswith("500,000 gives 2 of 4 frequencies")
    found["rotary_emb.inv_freq"] = torch.tensor([1.0, 0.9, 0.05, 0.01]).double()
    (said,) = [f for f in described(saved(found, path), heads=4).findings if f.about == "RoPE base"]
    assert said.words == "No single base gives the file's frequencies."


def test_a_sinusoid_with_a_row_of_zeros_is_not_learned(path: Path) -> None:
    angle = torch.arange(24.0)[:, None] * 10000.0 ** (-torch.arange(16) / 15)
    table = torch.cat((angle.sin(), angle.cos()), dim=1)
    table[1] = 0
    with pytest.raises(DamagedCheckpoint, match="fairseq"):
        described(saved({**modules.Model().state_dict(), "pos_emb.weight": table}, path), heads=4)


def test_what_is_assumed_stands_in_every_result(tmp_path: Path, cli: Cli) -> None:
    torch.manual_seed(0)
    file = saved(modules.Model(), tmp_path / "article.safetensors")
    assumed = catalogue.find(f"{file}?heads=4").assumed
    assert "encoding=rope" in assumed and "heads" not in assumed
    status, out, err = cli("map", f"{file}?heads=4", "--length", 8, "--text", "random", "--json")
    assert (status, json.loads(out)["note"]) == (0, assumed) and f"note: {assumed}" in err
    options = (f"--checkpoints={file}?heads=4", "--length=64", "--text=random")
    status, _, err = cli("figure", "head-wall", *options, "--out", tmp_path / "a.zip")
    assert status == 0, err
    with zipfile.ZipFile(tmp_path / "a.zip") as bundle:
        caption = bundle.read("caption.txt").decode()
        sources = json.loads(bundle.read("provenance.json"))["sources"]
    assert assumed in caption and sources[0]["caveat"] == assumed
