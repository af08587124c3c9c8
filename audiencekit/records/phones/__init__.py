"""Phone numbers over whole columns: compiled numbering plans, and their decisions."""
