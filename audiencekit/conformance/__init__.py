"""Whether a pipeline normalises and hashes as it should: vectors with their results, and faults by class."""
