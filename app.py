"""Attention Atlas: `streamlit run app.py`, or any ASGI server on `app:app`."""

import streamlit as st
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware

from pages._server.headers import Headers
from pages._server.logs import unforeseen
from pages._server.routes import ROUTES
from pages._start import lifespan

# Streamlit itself asks for the host on its WebSocket alone.
hosts = st.get_option("server.allowedHosts") or ["*"]
# Through st.App every first request, a deep link too, runs the router: with plain multipage
# scripts a folder named `pages` would let it pass by.
app = st.App(
    "pages/_router.py",
    lifespan=lifespan,
    routes=ROUTES,
    middleware=[Middleware(Headers), Middleware(TrustedHostMiddleware, allowed_hosts=hosts)],
    on_script_error=unforeseen,
)
