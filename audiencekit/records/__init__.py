"""Columns of text become hashed records."""
