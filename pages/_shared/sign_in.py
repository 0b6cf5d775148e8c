"""Who may come in: everybody, or, where the server's secrets have an [auth] section, people that an
identity provider (OpenID Connect) vouches for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

import streamlit as st

from viz_core.words import say


def gate() -> None:
    """Lets whoever may come in pass; shows the others how to sign in, and ends the run there."""
    section = _section()
    if not section:
        return
    if not st.user.is_logged_in:
        st.title("Attention Atlas", anchor=False)
        st.write(say("This server asks who you are before it computes for you."))
        st.button(say("Sign in"), type="primary", on_click=st.login)
        st.stop()
    if not admitted(st.user.to_dict(), section.get("people", ())):
        st.error(
            say(
                "Expected someone whom this server knows; the address that you signed in with is "
                "not among them. Sign in with another one, or ask whoever runs the server."
            )
        )
        st.button(say("Sign out"), on_click=st.logout)
        st.stop()


def who() -> None:
    """A line that says who is signed in, with the way out; nothing where nobody has to be."""
    if _section():
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(say("Signed in as {name}", name=_name(st.user.to_dict())))
            st.button(say("Sign out"), key="sign_out", type="tertiary", on_click=st.logout)


def admitted(claims: Mapping[str, Any], people: Sequence[str]) -> bool:
    """Whether the `claims` of a provider are of one of `people`: patterns such as "*@example.org".

    Everybody whom the provider vouches for, where there are none. An address that the provider
    says is not verified is nobody's.
    """
    if not people:
        return True
    address = str(claims.get("email", "")).lower()
    known = claims.get("email_verified", True) in (True, "true")
    return known and any(fnmatchcase(address, pattern.lower()) for pattern in people)


def _section() -> Mapping[str, Any]:
    """The [auth] section of the secrets; empty where there is none."""
    if not st.secrets.load_if_toml_exists():
        return {}
    section: Mapping[str, Any] = st.secrets.get("auth", {})
    return section


def _name(claims: Mapping[str, Any]) -> str:
    """What a person is called, with nothing in it that markdown would read."""
    name = str(claims.get("name") or claims.get("email") or say("someone"))
    return "".join(c if c.isalnum() or c in " -'.@" else " " for c in name)[:80]
