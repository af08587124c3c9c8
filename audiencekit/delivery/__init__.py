"""Pass two: requests are sent until each is confirmed. It knows no source and no disk."""
