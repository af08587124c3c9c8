"""Phone numbers over whole columns: plans of numbers, compiled, and what they decide."""
