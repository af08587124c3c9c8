"""The memory of erased people: who they are, as keyed tags, and whether a memory is the last one."""
