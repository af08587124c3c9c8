"""Records -> entries -> bodies: how many requests they take, and the bytes of each."""
