"""Attention Atlas: `streamlit run app.py`, or any ASGI server on `app:app`."""

import streamlit as st

from pages._start import lifespan

# Through st.App every first request, a deep link too, runs the router: with plain multipage
# scripts a folder named `pages` would let it pass by.
app = st.App("pages/_router.py", lifespan=lifespan)
