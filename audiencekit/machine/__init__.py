"""The means of the machine: threads, private files, the key of what is sealed at rest, places to crash at in tests."""
