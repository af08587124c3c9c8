"""Dry runs: all that a run does before its first request, and none of its requests. Nothing is kept."""
