"""Where a server keeps uploads, what they may take, and whose they are.

Whose: a random id that lies in the visitor's session and in nothing else, so that no address and
no other session leads to an upload.
"""

from __future__ import annotations

import secrets

import streamlit as st

from viz_core import journal
from viz_core.readers.intake import Limits, Uploads

MIB = 1 << 20


def uploads() -> Uploads:
    """The uploads of this server, under the present limits. Raises UsageError for wrong ones."""
    return Uploads(journal.store_folder() / "uploads", Limits.read())


def visitor() -> str:
    """Whose uploads this session sees; "" before it has any, which is no one's."""
    found: str = st.session_state.get("uploads_owner", "")
    return found


def owner() -> str:
    """Whose an upload of this session becomes."""
    if not visitor():
        st.session_state.uploads_owner = secrets.token_hex(16)
    return visitor()


def most(limits: Limits) -> int:
    """The largest file that a browser may send, in MiB: by `limits`, and by the server's own."""
    bytes_ = min(limits.largest_file, limits.largest_upload)
    return max(1, min(bytes_ // MIB, int(st.get_option("server.maxUploadSize"))))
