"""Faults on demand: the catalogue, the orders, and the effects on requests."""
