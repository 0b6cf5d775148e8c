"""What the frame does to Streamlit's own looks so that all can read: contrast, focus, calm.

Words that are quieter than others keep the contrast that WCAG 2.2 asks of small text (success
criterion 1.4.3, level AA: 4.5), in the light theme and in the dark one.
"""

from __future__ import annotations

import streamlit as st

from pages._shared import draw

QUIET = 0.74  # of the page's ink: in captions, and in labels of what is switched off
ON_PRIMARY = ("#FFFFFF", "#14161A")  # letters on the primary colour, light and dark


def style(dark: bool) -> str:
    """The style sheet of the light theme or of the dark one, as HTML."""
    return f"""<style>
    [data-testid=stCaptionContainer], [data-testid=stWidgetLabel][disabled] {{
      opacity: 1;
      color: color-mix(in srgb, currentColor {QUIET:.0%}, transparent);
    }}
    [data-testid=stBaseButton-primary], [data-tag] {{ color: {ON_PRIMARY[dark]} !important; }}
    /* Commands are written in ink, and go on in the next line rather than out of sight. */
    [data-testid=stCode] .token {{ color: inherit !important; }}
    [data-testid=stCode] :is(pre, code) {{
      white-space: pre-wrap !important;
      overflow-wrap: anywhere;
    }}
    [data-testid=stMarkdownContainer] .katex-display {{ overflow: visible; }}
    :is(a, button, summary, [role=tab], [role=slider], [role=radio]):focus-visible {{
      outline: 2px solid currentColor;
      outline-offset: 2px;
    }}
    @media (prefers-reduced-motion: reduce) {{
      *, *::before, *::after {{
        animation-duration: 1ms !important;
        animation-iteration-count: 1 !important;
        scroll-behavior: auto !important;
        transition-duration: 1ms !important;
      }}
    }}
    </style>"""


def wear() -> None:
    """Puts the looks on the page, before anything is drawn."""
    st.html(style(draw.dark()))
