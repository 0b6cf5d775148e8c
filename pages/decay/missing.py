"""What an address asks of Decay in vain: a sentence for each part that isn't there."""

from __future__ import annotations

from collections.abc import Mapping

from pages._shared import decoding, setting_choices
from pages.decay import state as decay_state
from viz_core import texts
from viz_core.catalogue import Checkpoint
from viz_core.words import say


def in_vain(address: Mapping[str, str], shipped: dict[str, Checkpoint]) -> list[str]:
    """A sentence for each part of `address` that can't be read or isn't there.

    Made anew in every run, since the language may have changed.
    """
    state, wrong = decay_state.decoded(address)
    if not address or not shipped:
        return wrong
    wrong += [
        say(
            "Expected a checkpoint among {known}; the address names {name!r}, so it is left out.",
            known=say(", ").join(shipped),
            name=name[: decoding.SAID],
        )
        for name in dict.fromkeys((*state.chosen, state.changed))
        if name not in shipped
    ]
    if state.view and state.view not in state.chosen:
        wrong.append(
            say(
                "Expected view in the address among the chosen checkpoints; got {name!r}, so all "
                "are shown.",
                name=state.view[: decoding.SAID],
            )
        )
    changed = shipped.get(state.changed)
    if "what" in address and changed and not setting_choices.fits(changed, state.what):
        wrong.append(
            say(
                "Expected what in the address to be a setting of {name}; got {setting!r}, so "
                "another is shown.",
                name=state.changed,
                setting=state.what.replace(":", "-"),
            )
        )
    if "text" in address and state.text not in (known := [c.id for c in texts.available()]):
        wrong.append(decoding.unknown("text", known, state.text))
    configs = [shipped[n].config for n in state.chosen if n in shipped]
    configs = configs or [next(iter(shipped.values())).config]
    ends = min(c.layers for c in configs), min(c.heads for c in configs)
    for name, most in zip(("layer", "head"), ends, strict=True):
        if name in address and getattr(state, name) >= most:
            wrong.append(
                say(
                    "Expected {name} in the address to be a number from 1 to {most}; got {value}, "
                    "so {most} is shown.",
                    name=name,
                    most=most,
                    value=getattr(state, name) + 1,
                )
            )
    return wrong
