"""What a page says about itself."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Page:
    """A module of `pages/` exposes one of these as `PAGE`; `order` 0 is the home page."""

    title: str
    icon: str
    order: int
    about: str
