"""What is fast and what is not, measured: each against another way of doing the same, side by side in one run."""
