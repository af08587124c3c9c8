"""The client of the ads API: one HTTP exchange, its signature, its answer, and the catalogue of endpoints."""
