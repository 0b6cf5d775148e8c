"""Real addresses of all pages open as they did, and give the figures that they gave."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qsl

import pytest

from tests.frozen.kept import kept
from tests.frozen.summaries import differences, opened, shown

ADDRESSES = (Path(__file__).parent / "addresses.txt").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("address", ADDRESSES)
def test_an_address_gives_the_figures_that_it_gave(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ATLAS_CORPUS", str(tmp_path))  # as on a machine that has built none
    page, _, asked = address.partition(" ")
    found = shown(opened(page, dict(parse_qsl(asked))))
    assert [*differences(*kept("addresses.json", address, found))] == []


def test_every_page_has_addresses() -> None:
    pages = {address.partition(" ")[0] for address in ADDRESSES}
    assert len(pages) == 8 and len(ADDRESSES) >= 60
