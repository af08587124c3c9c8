"""Pass one: the options of a run, its source read and judged, its plan, and the prepared directory."""
