"""The commands of `python -m viz_core`, one module each: `run(options)`, or AtlasError."""
