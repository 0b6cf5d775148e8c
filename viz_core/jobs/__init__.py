"""Sweeps: many checkpoints, settings, lengths and texts, here, in processes, or on Slurm.

A file in TOML (`spec`) is planned into cells (`planning`), each with the key of its result. What
the store has not, an executor computes (`sweep`; `inline`, `local`, `slurm`): its workers write to
the store and return keys alone. Tables (`tables`) and figures (`drawn`) come from what is there.
"""
