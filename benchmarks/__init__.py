"""What is fast, against whom, on this machine: `python -m benchmarks`."""
