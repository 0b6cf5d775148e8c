"""Checkpoints: the shipped ones, and one's own."""
