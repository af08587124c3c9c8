"""Runs that go for good: which are old enough, how one goes, and the receipt of it."""
