"""What promptc costs, as ratios against something else measured in the same run. `python -m benchmarks` prints them all."""
