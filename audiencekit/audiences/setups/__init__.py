"""Setups: files that name lists, audiences and accounts, so that a run is one word."""
