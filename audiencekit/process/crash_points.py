"""The places between two durable steps of a run, by name, so that tests can end the process at every one of them.

Outside tests nothing is set, and passing a point does nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

# A step is durable when it returns: the journal is begun, the plan is in it, the intent of one request is in it, the
# bytes of the request have been answered, its end is in the journal, the report is kept, the end of the run is in it.
STEPS: Final = ("begin", "plan", "intent", "send", "acknowledgement", "report", "finish")
POINTS: Final = tuple(f"{side} {step}" for step in STEPS for side in ("before", "after"))

# And of a sync: what it is about to change is noted, the new snapshot is there, and its serial, the file of changes
# that a whole one takes the place of is gone, what was noted is gone; the stamps that the audience may bear are kept,
# and it bears a new one.
SYNC_STEPS: Final = ("changes", "snapshot", "serial", "recent", "removal", "stamps", "stamp")
SYNC_POINTS: Final = tuple(f"{side} {step}" for step in SYNC_STEPS for side in ("before", "after"))

# And of an erasure: the memory of erased people is there, its serial, and what is noted of it outside.
ERASURE_STEPS: Final = ("memory", "count", "witness")
ERASURE_POINTS: Final = tuple(f"{side} {step}" for step in ERASURE_STEPS for side in ("before", "after"))

# And of a move of the state key: it is in its new place, and overwritten in its old one; of a rotation: all is ready,
# and each file has taken the place of the one before.
KEY_STEPS: Final = ("key", "wipe", "ready", "forward")
KEY_POINTS: Final = tuple(f"{side} {step}" for step in KEY_STEPS for side in ("before", "after"))

# And of a purge: its receipt is begun; one directory is out of sight, what opens its files is destroyed, its files are
# gone; the receipt says how it ended.
PURGE_STEPS: Final = ("order", "aside", "keys", "files", "end")
PURGE_POINTS: Final = tuple(f"{side} {step}" for step in PURGE_STEPS for side in ("before", "after"))

# And of what is told of a run: that it is to be told, or that it was, is kept.
TOLD_POINTS: Final = ("before told", "after told")

# And of an entry of the audit log: it is written, and on the disk; and of a cut: the shorter log is in its place.
AUDIT_POINTS: Final = ("before audit", "audit written", "after audit")
AUDIT_CUT_POINTS: Final = ("before audit cut", "after audit cut")

_hook: Callable[[str], None] | None = None


def set_hook(hook: Callable[[str], None] | None) -> None:
    """Have `hook` called with the name of every point that is passed, in whatever thread passes it."""
    global _hook
    _hook = hook


def pass_point(point: str) -> None:
    """Note that `point` is reached."""
    if _hook is not None:
        _hook(point)
