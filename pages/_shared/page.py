"""What a page says about itself, and how its parts stand on their own."""

from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from viz_core.errors import AtlasError


@dataclass(frozen=True)
class Page:
    """Each `pages/NAME/page.py` exposes one of these as `PAGE`; `order` 0 is the home page."""

    title: str
    icon: str
    order: int
    about: str


def script(name: str) -> str:
    """The script of the page `name`, as Streamlit's links and switches take it."""
    return f"{name}/page.py"


def section(show: Callable[..., None], *values: object) -> None:
    """One part of a page; what stands in its way is a sentence in its place."""
    try:
        show(*values)
    except AtlasError as error:
        st.error(str(error))
