"""How others normalise and hash, compared with the vectors."""
