"""Reports and plans as one page for a browser: counts alone, nothing from any network."""
