"""Faults on demand: the catalogue, how they are ordered, and what each does to a request."""
