"""Columns of Arrow as text, by one rule for each type."""
