"""Sweeps: what comes about in training, and tables of many measurements."""
