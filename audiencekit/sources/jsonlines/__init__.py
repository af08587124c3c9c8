"""NDJSON: one object a line."""
