"""Pass one: the options of a run, reading and judging its source, its plan, and the prepared directory."""
