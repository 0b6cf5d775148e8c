"""Encodings: each one as mathematics alone, without a checkpoint."""
