"""Which column of a source carries which kind, by its name and its content."""
