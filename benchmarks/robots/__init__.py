"""Robots that others made, compared with MuJoCo and Pinocchio: `python -m benchmarks.robots`."""
