"""Measurements: each way of doing a thing against another that does the same, side by side in one run."""
