"""Decay: attention by distance, head by head, each statistic beside its null."""
