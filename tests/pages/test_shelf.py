"""A shelf in memory keeps its limit."""

from __future__ import annotations

from pages._shared.shelf import Shelf


def test_a_shelf_holds_its_limit_and_keeps_what_is_used() -> None:
    shelf: Shelf[str] = Shelf(10)
    for name in "abc":
        shelf.put(name, name.upper(), 4)
        shelf.get("a")
    assert [shelf.get(n) for n in "abc"] == ["A", None, "C"] and shelf.held == 8
    shelf.put("a", "again", 5)
    assert shelf.held == 9 and shelf.get("a") == "again"
    shelf.put("large", "L", 50)
    assert shelf.get("large") == "L" and shelf.held == 50
    shelf.clear()
    assert shelf.get("large") is None and shelf.held == 0
