"""The changes that a sync sends: the source compared with the snapshot, additions, removals, people put back."""
