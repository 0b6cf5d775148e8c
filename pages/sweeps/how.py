"""How to make a sweep, for a server that has none yet."""

from __future__ import annotations

import streamlit as st

from viz_core.words import say

SPEC = """checkpoints = ["runs/*/step-*.safetensors"]   # from this file's folder
lengths = [512, 1024]
measurements = ["signatures", "perplexity"]"""
COMMANDS = """export ATLAS_SWEEPS=~/sweeps           # where the app looks for such files
python -m viz_core sweep ~/sweeps/mine.toml"""


def show(folded: bool) -> None:
    """The file and the commands: in a card, or `folded` up below a sweep that is shown."""
    title = say("How to make one")
    icon = ":material/dynamic_form:"
    if folded:
        place = st.expander(title, icon=icon)
    else:
        place = st.container(border=True, key="sweeps_how")
        place.markdown(f"**{icon} {title}**")
    with place:
        _steps()


def _steps() -> None:
    st.markdown(
        say(
            "A sweep measures many checkpoints under many settings, at many lengths, on many "
            "texts. It is one small file, `mine.toml`:"
        )
    )
    st.code(SPEC, "toml")
    st.markdown(
        say(
            "Run it here, in processes, or on Slurm. This page shows how far it is while it runs, "
            "and its table and figures as results come in."
        )
    )
    st.code(COMMANDS, "bash")
    st.caption(
        say(
            "Each result has the key that all pages use: what a sweep has computed, they open at "
            "once. docs/sweeps.md says more."
        )
    )
