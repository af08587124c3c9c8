"""Data frames of the caller."""
