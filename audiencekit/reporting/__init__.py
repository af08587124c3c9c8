"""Reports, plans and progress: as text, as JSON, in notebooks, and as a page."""
