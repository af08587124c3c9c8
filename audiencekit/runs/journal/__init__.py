"""The journal of a run: what was planned, what left, what the service confirmed."""
