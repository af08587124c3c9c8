"""The audit log: a chain of signed entries on everything that a state directory did to people."""
