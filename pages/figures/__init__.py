"""Figures: pinned panels composed into one figure for a paper."""
