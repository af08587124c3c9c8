"""The directories that the system gives to a user, never one that depends on the working directory."""

from __future__ import annotations

from pathlib import Path
from typing import Literal


def user_directory(kind: Literal["state", "cache", "data"]) -> Path | None:
    """Ours among the user's for things of this kind; None where there is no user with a home, or no absolute path."""
    import platformdirs

    find = {
        "state": platformdirs.user_state_path,
        "cache": platformdirs.user_cache_path,
        "data": platformdirs.user_data_path,
    }[kind]
    try:
        path = find("audiencekit", appauthor=False)
    except RuntimeError:  # of a user without a home, by later versions of the library
        return None
    # Earlier ones give a path below the working directory then, and where a variable names a relative one.
    return path if path.is_absolute() else None
