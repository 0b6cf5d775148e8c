"""Names without what training puts around them."""

from __future__ import annotations

import pytest

from viz_core.errors import DamagedCheckpoint
from viz_core.readers.wrappers import unwrapped

NAMES = {
    "_orig_mod.a.b": "a.b",
    "a._orig_mod.b": "a.b",
    "module._orig_mod.a": "a",
    "_fsdp_wrapped_module.a._fsdp_wrapped_module.b": "a.b",
    "a._checkpoint_wrapped_module.attn.q": "a.attn.q",
    "a.not_orig_mod.b": "a.not_orig_mod.b",
    "a_orig_mod.b": "a_orig_mod.b",
    "plain": "plain",
}


@pytest.mark.parametrize("name", NAMES)
def test_wrappers_are_taken_off(name: str) -> None:
    assert unwrapped([name], "a.pt") == {NAMES[name]: name}


def test_module_is_taken_off_where_it_is_before_every_name() -> None:
    assert [*unwrapped(["module.a", "module.b"], "a.pt")] == ["a", "b"]
    assert [*unwrapped(["module.a", "b"], "a.pt")] == ["module.a", "b"]
    assert unwrapped([], "a.pt") == {}


def test_names_that_become_one_are_refused() -> None:
    with pytest.raises(DamagedCheckpoint, match=r"once in a\.pt; .*'a' and '_orig_mod\.a'"):
        unwrapped(["a", "_orig_mod.a"], "a.pt")
