"""The sync: it makes an audience equal to a list and sends only the changes."""
