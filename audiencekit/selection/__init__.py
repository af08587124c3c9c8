"""Which records are sent, and in which wave: conflicts, duplicates, suppression, and the people who were erased."""
