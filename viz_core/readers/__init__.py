"""Checkpoint files in."""
