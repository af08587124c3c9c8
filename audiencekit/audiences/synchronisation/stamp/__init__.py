"""Whether the snapshot is the last state of its audience: a stamp in the description tells."""
