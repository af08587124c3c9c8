"""Whose a file is, and whether others may use it.

Where the system knows no owners and modes (Windows), a file is as private as the directory that it lies in: there the
profile directory of a user is closed to other users, and what is made in it is closed as well.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

OTHERS: Final = 0o077  # what group and others may do
ROOT: Final = 0


def own_user() -> int | None:
    """The number of the user of this process; None where users have none."""
    user = getattr(os, "geteuid", None)
    return user() if user else None


def is_ours(status: os.stat_result, *, or_of_root: bool = False) -> bool:
    """Whether the file of this status belongs to the user of this process."""
    user = own_user()
    return user is None or status.st_uid == user or (or_of_root and status.st_uid == ROOT)


def others_may(status: os.stat_result, rights: int = OTHERS) -> bool:
    """Whether others than its owner have one of `rights` on the file of this status, by its mode."""
    return own_user() is not None and bool(status.st_mode & rights)


def lies_in_profile(path: Path) -> bool:
    """Whether `path` is in the profile directory of the user; of no matter, and true, where modes keep it private."""
    try:
        return own_user() is not None or path.resolve().is_relative_to(Path.home().resolve())
    except RuntimeError:  # there is no such directory
        return False
