"""Benchmarks of promptc: mostly ratios to something else measured in the same run. `python -m benchmarks` prints them all."""
