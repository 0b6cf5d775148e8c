"""The store: what it gives back is bit for bit what was put, whatever else happens to the files."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import resource
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from viz_core.errors import UsageError
from viz_core.store import RunKey, Store
from viz_core.store.key import CORE

KEY = RunKey("c" * 64, "linear:4", ("a" * 64, "b" * 64), 2048, "float32", "window")
PLENTY = 10**9
MB = 2**20
Arrays = dict[str, np.ndarray[Any, Any]]


def numbered(n: int) -> RunKey:
    return replace(KEY, options=(("n", n),))


def result(n: int, size: int) -> Arrays:
    """Arrays of about `size` bytes that no part of another number's arrays can stand in for."""
    step = np.float32(n + 1)
    return {"value": np.arange(size // 4, dtype=np.float32) * step, "n": np.array(n)}


def same(found: Arrays, put: Arrays) -> bool:
    return found.keys() == put.keys() and all(
        a.dtype == put[n].dtype and a.shape == put[n].shape and a.tobytes() == put[n].tobytes()
        for n, a in found.items()
    )


def file_of(store: Store, key: RunKey) -> Path:
    return store.folder / key.digest[:2] / f"{key.digest}.safetensors"


def files(folder: Path) -> list[Path]:
    return sorted(p for p in folder.rglob("*") if p.is_file())


def used(store: Store, key: RunKey, seconds_ago: float) -> None:
    """Says when an entry was used last: two uses may fall into one tick of the file system."""
    when = time.time() - seconds_ago
    os.utime(file_of(store, key), (when, when))


# ---- keys


def test_a_digest_is_the_sha256_of_the_content_written_one_way() -> None:
    key = replace(
        KEY, options=(("rows", (0, 512)), ("mean", True), ("exact", None), ("scale", 0.5))
    )
    text = (
        '{"checkpoint":"' + "c" * 64 + '","core":2,"dtype":"float32","length":2048,'
        '"options":{"exact":null,"mean":true,"rows":[0,512],"scale":0.5},"setting":"linear:4",'
        '"texts":["' + "a" * 64 + '","' + "b" * 64 + '"],"what":"window"}'
    )
    assert key.json == text
    assert key.digest == hashlib.sha256(text.encode()).hexdigest()
    assert key.digest == "428bb9b6bc1cfb616aff7c03c4caf37489c269110142ea8e1415989a229838fd"


def test_every_field_matters(monkeypatch: pytest.MonkeyPatch) -> None:
    others = [
        replace(KEY, checkpoint="d" * 64),
        replace(KEY, setting=""),
        replace(KEY, texts=("b" * 64, "a" * 64)),
        replace(KEY, texts=("a" * 64,)),
        replace(KEY, length=2049),
        replace(KEY, dtype="float64"),
        replace(KEY, what="survey"),
        *(
            replace(KEY, options=(("o", v),))
            for v in (1, 2, 1.0, True, None, "1", (1,), ((1,),), ())
        ),
        replace(KEY, options=(("p", 1),)),
        replace(KEY, options=(("o", 1), ("p", 1))),
    ]
    digests = {key.digest for key in (KEY, *others)}
    assert len(digests) == 1 + len(others)
    monkeypatch.setattr("viz_core.store.key.CORE", CORE + 1)
    assert KEY.digest not in digests


def test_the_order_of_options_does_not_matter() -> None:
    one = replace(KEY, options=(("b", 1), ("a", "x"), ("c", None)))
    other = replace(KEY, options=(("c", None), ("a", "x"), ("b", 1)))
    assert one == other and hash(one) == hash(other) and one.digest == other.digest


def test_a_key_that_would_be_ambiguous_is_refused() -> None:
    with pytest.raises(ValueError, match="named twice"):
        replace(KEY, options=(("a", 1), ("a", 2)))
    with pytest.raises(ValueError, match="JSON"):
        _ = replace(KEY, options=(("a", float("nan")),)).digest


# ---- put and get


def test_arrays_and_words_come_back_bit_for_bit(tmp_path: Path) -> None:
    odd = np.array([np.nan, -np.nan, np.inf, -np.inf, -0.0, 1e-45], np.float32)
    odd.view(np.uint32)[0] |= 0x1234  # a NaN with a payload
    arrays: Arrays = {
        "odd": odd,
        "count": np.array([[-(2**63), 2**63 - 1]], np.int64),
        "curve": np.random.default_rng(0).standard_normal((2, 3, 5)),
        "half": np.ones((2, 0, 3), np.float16),
        "none": np.zeros(0, np.int64),
        "single": np.array(3.5),
        "mask": np.array([True, False]),
    }
    about = {"title": "RoPE, θ = 10,000", "unit": "nat", "": '"\n'}
    store = Store(tmp_path / "new" / "store", PLENTY)
    assert store.get(KEY) is None
    assert store.put(KEY, arrays, about) and store.trouble is None
    entry = Store(store.folder, PLENTY).get(KEY)
    assert entry is not None and same(entry.arrays, arrays) and entry.about == about
    assert store.get(replace(KEY, length=1)) is None


def test_views_and_foreign_byte_orders_keep_their_values(tmp_path: Path) -> None:
    whole = np.arange(24, dtype=np.float32).reshape(4, 6)
    arrays: Arrays = {
        "columns": whole[:, ::2],
        "turned": whole.T,
        "backwards": whole[::-1],
        "big": np.array([1, 2, 3], ">i8"),
    }
    store = Store(tmp_path, PLENTY)
    assert store.put(KEY, arrays, {})
    entry = store.get(KEY)
    assert entry is not None
    for name, array in arrays.items():
        np.testing.assert_array_equal(entry.arrays[name], array)


def test_a_later_put_takes_the_place_of_the_earlier(tmp_path: Path) -> None:
    store = Store(tmp_path, PLENTY)
    assert store.put(KEY, result(1, 4000), {"n": "1"}) and store.put(KEY, result(2, 40), {"n": "2"})
    entry = store.get(KEY)
    assert entry is not None and same(entry.arrays, result(2, 40)) and entry.about == {"n": "2"}
    assert files(tmp_path) == [file_of(store, KEY)]


def test_a_file_says_what_it_is_of_and_what_made_it(tmp_path: Path) -> None:
    store = Store(tmp_path, PLENTY)
    store.put(KEY, result(1, 40), {"unit": "nat"})
    with safe_open(file_of(store, KEY), framework="np") as file:
        words = file.metadata()
    assert words["key"] == KEY.json and json.loads(words["key"])["core"] == CORE
    assert json.loads(words["about"]) == {"unit": "nat"}
    assert words["numpy"] == np.__version__ and words["torch"][0].isdigit()


def test_what_the_format_cannot_hold_is_the_callers_mistake(tmp_path: Path) -> None:
    store = Store(tmp_path, PLENTY)
    with pytest.raises(SafetensorError):
        store.put(KEY, {"a": np.array([None])}, {})
    assert files(tmp_path) == []


# ---- files that are no whole entries


def refused(store: Store) -> bool:
    """The file under KEY counts as absent and is removed; then the store works as before."""
    gone = store.get(KEY) is None and not file_of(store, KEY).exists()
    return gone and store.put(KEY, result(1, 40), {}) and store.get(KEY) is not None


def test_a_file_cut_off_anywhere_is_absent_and_removed(tmp_path: Path) -> None:
    store = Store(tmp_path, PLENTY)
    store.put(KEY, result(1, 40), {"unit": "nat"})
    whole = file_of(store, KEY).read_bytes()
    for length in range(len(whole)):
        file_of(store, KEY).write_bytes(whole[:length])
        assert store.get(KEY) is None and not file_of(store, KEY).exists(), length
    file_of(store, KEY).write_bytes(whole + b"\0")
    assert refused(store)


def test_a_file_with_any_byte_changed_is_absent_and_removed(tmp_path: Path) -> None:
    store = Store(tmp_path, PLENTY)
    store.put(KEY, result(1, 40), {"unit": "nat"})
    whole = file_of(store, KEY).read_bytes()
    for place in range(len(whole)):
        changed = bytearray(whole)
        changed[place] ^= 1
        file_of(store, KEY).write_bytes(changed)
        assert store.get(KEY) is None and not file_of(store, KEY).exists(), place
    assert refused(store)


@pytest.mark.parametrize("words", [None, {}, {"key": KEY.json}, {"key": "{}", "checksum": "0"}])
def test_a_safetensors_file_of_somebody_else_is_absent_and_removed(
    tmp_path: Path, words: dict[str, str] | None
) -> None:
    store = Store(tmp_path, PLENTY)
    file_of(store, KEY).parent.mkdir()
    save_file(result(1, 40), file_of(store, KEY), words)
    assert refused(store)


def test_the_entry_of_another_key_is_absent_and_removed(tmp_path: Path) -> None:
    store = Store(tmp_path, PLENTY)
    other = replace(KEY, length=4096)
    store.put(other, result(1, 40), {})
    file_of(store, KEY).parent.mkdir(exist_ok=True)
    shutil.copy(file_of(store, other), file_of(store, KEY))
    assert refused(store)
    assert store.get(other) is not None


def test_a_file_that_cannot_be_read_now_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(tmp_path, PLENTY)
    store.put(KEY, result(1, 40), {})

    def refuse(path: Path) -> bytes:
        raise OSError(errno.EMFILE, "Too many open files")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "read_bytes", refuse)
        assert store.get(KEY) is None
    assert store.get(KEY) is not None


def test_a_file_deleted_while_it_is_used_was_good(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(tmp_path, PLENTY)
    store.put(KEY, result(1, 40), {})
    touch = os.utime

    def too_late(path: Path) -> None:
        path.unlink()
        touch(path)

    monkeypatch.setattr(os, "utime", too_late)
    entry = store.get(KEY)
    assert entry is not None and same(entry.arrays, result(1, 40))
    assert store.get(KEY) is None


# ---- the limit


def size_of_one(folder: Path, size: int = 4000) -> int:
    store = Store(folder, PLENTY)
    store.put(numbered(0), result(0, size), {})
    length = file_of(store, numbered(0)).stat().st_size
    shutil.rmtree(folder)
    return length


def kept(store: Store, numbers: range) -> list[int]:
    return [n for n in numbers if file_of(store, numbered(n)).exists()]


def test_the_least_recently_used_goes_first(tmp_path: Path) -> None:
    one = size_of_one(tmp_path / "one")
    store = Store(tmp_path, 4 * one)
    for n in range(4):
        assert store.put(numbered(n), result(n, 4000), {})
        used(store, numbered(n), seconds_ago=100 - n)
    assert kept(store, range(5)) == [0, 1, 2, 3]  # just within the limit
    assert store.get(numbered(0)) is not None  # so it is the one that was used last
    assert store.put(numbered(4), result(4, 4000), {})
    assert kept(store, range(5)) == [0, 3, 4]  # 1 made it fit, and 2 leaves room for the next
    assert store.put(numbered(2), result(2, 4000), {})
    assert kept(store, range(5)) == [0, 2, 3, 4]


def test_opening_brings_the_store_within_its_limit(tmp_path: Path) -> None:
    one = size_of_one(tmp_path / "one")
    store = Store(tmp_path, PLENTY)
    for n in range(6):
        store.put(numbered(n), result(n, 4000), {})
        used(store, numbered(n), seconds_ago=100 - n)
    assert kept(Store(tmp_path, 6 * one), range(6)) == [0, 1, 2, 3, 4, 5]
    assert kept(Store(tmp_path, 5 * one), range(6)) == [2, 3, 4, 5]
    assert kept(Store(tmp_path, one), range(6)) == [5]
    assert kept(Store(tmp_path, one - 1), range(6)) == []
    with pytest.raises(UsageError, match="0 bytes or more"):
        Store(tmp_path, -1)


def test_an_entry_above_the_limit_is_not_kept_and_drives_out_no_other(tmp_path: Path) -> None:
    one = size_of_one(tmp_path / "one")
    store = Store(tmp_path, one)
    assert store.put(numbered(1), result(1, 4000), {})
    assert not store.put(numbered(2), result(2, 4004), {})
    assert store.trouble is not None and f"at most {one:,} bytes" in store.trouble
    assert kept(store, range(3)) == [1]
    assert store.put(numbered(2), result(2, 4000), {}) and store.trouble is None
    assert kept(store, range(3)) == [2]  # alone it fits, though it leaves no room


def test_putting_one_key_again_and_again_drives_out_no_other(tmp_path: Path) -> None:
    one = size_of_one(tmp_path / "one")
    store = Store(tmp_path, 2 * one)
    store.put(numbered(1), result(1, 4000), {})
    for _ in range(20):
        assert store.put(numbered(2), result(2, 4000), {})
    assert kept(store, range(3)) == [1, 2]


def test_several_stores_on_one_folder_hold_the_limit_between_them(tmp_path: Path) -> None:
    limit = 40 * size_of_one(tmp_path / "one")
    shared = [Store(tmp_path, limit) for _ in range(3)]
    most = 0
    for n in range(200):
        assert shared[n % 3].put(numbered(n), result(n, 4000), {})
        most = max(most, sum(p.stat().st_size for p in files(tmp_path)))
    assert limit * 15 // 16 < most <= limit * (16 + 2) // 16


def test_a_store_opened_nearly_full_sweeps_in_time(tmp_path: Path) -> None:
    one = size_of_one(tmp_path / "one")
    store = Store(tmp_path, 9 * one)
    for n in range(9):
        store.put(numbered(n), result(n, 4000), {})
    again = Store(tmp_path, 9 * one)
    again.put(numbered(9), {}, {})  # small, but there is no room for it
    assert sum(p.stat().st_size for p in files(tmp_path)) <= 9 * one


def test_a_file_deleted_during_a_sweep_hides_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = size_of_one(tmp_path / "one")
    store = Store(tmp_path, PLENTY)
    alike = [key for key in map(numbered, range(4000)) if key.digest.startswith("ab")][:3]
    for key in alike:
        store.put(key, result(0, 4000), {})
    scan = os.scandir

    @contextmanager
    def late(folder: Path) -> Iterator[list[os.DirEntry[str]]]:
        with scan(folder) as found:
            listed = list(found)
        Path(listed[0].path).unlink()
        yield listed

    monkeypatch.setattr(os, "scandir", late)
    Store(tmp_path, one + 100)  # keeps one of the two that are left
    monkeypatch.undo()
    assert len(alike) == 3 and len(files(tmp_path)) == 1


def test_a_put_seldom_looks_at_the_whole_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = size_of_one(tmp_path / "one")
    looks = 0
    scan = os.scandir

    def counted(folder: Path) -> Any:
        nonlocal looks
        looks += folder.name == "00"
        return scan(folder)

    monkeypatch.setattr(os, "scandir", counted)
    store = Store(tmp_path, 320 * one)
    for n in range(640):
        store.put(numbered(n), result(n, 4000), {})
    # On opening, and each time a sixteenth (20 entries) was put: in the full store as in the empty.
    assert 2 * 16 - 2 <= looks <= 1 + 2 * 16


def test_an_entry_in_use_stays_whole_when_it_is_swept(tmp_path: Path) -> None:
    store = Store(tmp_path, PLENTY)
    store.put(KEY, result(1, MB), {})
    entry = store.get(KEY)
    with safe_open(file_of(store, KEY), framework="np") as opened:
        Store(tmp_path, 0)
        assert files(tmp_path) == []
        value = opened.get_tensor("value")
    assert entry is not None and same(entry.arrays, result(1, MB))
    np.testing.assert_array_equal(value, entry.arrays["value"])


def test_the_folder_may_hold_anything_else(tmp_path: Path) -> None:
    others = ["perplexity.jsonl", "ab/notes.partial", "ab/model.safetensors", "ab/" + "a" * 64]
    for name in others:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(bytes(1000))
        os.utime(tmp_path / name, (0, 0))
    store = Store(tmp_path, 0)
    store.put(KEY, result(1, 40), {})
    assert [p.relative_to(tmp_path).as_posix() for p in files(tmp_path)] == sorted(others)


# ---- a store that can't be written


def test_a_folder_that_cannot_be_made_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    store = Store(tmp_path / "file" / "store", PLENTY)
    assert store.get(KEY) is None and not store.put(KEY, result(1, 40), {})
    assert store.trouble is not None and "(Not a directory)" in store.trouble
    assert store.trouble.count(".") == 1 and store.trouble.endswith(".")


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EACCES, errno.EROFS])
def test_a_refused_rename_leaves_nothing_and_the_old_entry(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    store = Store(tmp_path, PLENTY)
    store.put(KEY, result(1, 40), {})

    def refuse(*_: object) -> None:
        raise OSError(code, os.strerror(code))

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", refuse)
        assert not store.put(KEY, result(2, 40), {})
    assert store.trouble is not None and os.strerror(code) in store.trouble
    entry = store.get(KEY)
    assert entry is not None and same(entry.arrays, result(1, 40))
    assert files(tmp_path) == [file_of(store, KEY)]
    assert store.put(KEY, result(2, 40), {}) and store.trouble is None


def test_a_write_that_ends_half_way_leaves_nothing(tmp_path: Path) -> None:
    store = Store(tmp_path, PLENTY)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (MB // 2, hard))  # as a full disk: half fits
    try:
        assert not store.put(KEY, result(1, MB), {})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert store.trouble is not None and os.strerror(errno.EFBIG) in store.trouble
    assert files(tmp_path) == [] and store.get(KEY) is None
    assert store.put(KEY, result(1, MB), {})


def test_a_store_that_may_only_be_read_still_gives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(tmp_path, PLENTY)
    store.put(KEY, result(1, 40), {})

    def refuse(*_: object) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(os, "utime", refuse)
    assert store.get(KEY) is not None
