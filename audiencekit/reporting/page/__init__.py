"""Reports and plans as one page for a browser: only counts, nothing from a network."""
