"""Values to try the columnar path on, made from a seed: see `kinds`."""
