"""Phone numbers in bulk: the numbering plans of all regions as automata over digits."""
