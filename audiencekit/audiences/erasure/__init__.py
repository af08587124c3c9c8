"""The erasure of people: they are taken out of every audience, and kept out."""
