"""Going to a page in a test without a browser."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash


def visit(app: AppTest, page: str) -> AppTest:
    """`app` with `page` open from its next run on; by its name in the address.

    `AppTest.switch_page` takes the page's script for its name until the app has run once.
    """
    app._page_hash = calc_hash(page)
    return app
