"""Records -> entries -> bodies: how many requests they need, and the bytes of each."""
