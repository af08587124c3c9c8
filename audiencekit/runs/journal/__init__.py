"""The journal of a run: what was planned, what was sent, what the service confirmed."""
