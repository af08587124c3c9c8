"""Change the key of a state directory: all files or none have the new key, whenever the process ends.

In `.rotation` everything that is sealed is written anew, under the new key, with the names that it has in the state
directory; a new key of the file lies there as well. The file `ready` is the moment of no return: before it, all of that
is of no use; from then on it takes the place of what was sealed before, whichever process finds it.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import orjson

from audiencekit.errors import AudienceBusy
from audiencekit.process.crash_points import pass_point
from audiencekit.state.files import OURS, explained, make_private_directory, read_file, replace_file, sync_directory
from audiencekit.state.key_command import clear_entry, read_entry_name
from audiencekit.state.locks import taken

ROTATION: Final = ".rotation"
READY: Final = "ready"
_MOST_BYTES: Final = 100_000_000
_LOCK: Final = ".key.lock"


@contextlib.contextmanager
def changing_key(state_dir: Path) -> Iterator[None]:
    """No other process changes the state key meanwhile. Raises AudienceBusy when one does, and InputOutputFailed."""
    told = "the state key is being changed by another process: nothing was sent"
    with taken(
        state_dir / _LOCK,
        "the state key cannot be locked",
        lambda: AudienceBusy(told, hint="try again when it has ended"),
    ):
        yield


def settle_rotation(state_dir: Path) -> None:
    """Finish, or undo, a rotation that was killed. Raises as `changing_key` does."""
    if os.path.lexists(state_dir / ROTATION):
        with changing_key(state_dir):
            settle(state_dir)


def settle(state_dir: Path) -> None:
    """The same, for a process that holds the lock."""
    if os.path.lexists(state_dir / ROTATION / READY):
        _go_on(state_dir)
    else:
        undo(state_dir)


def begin_rotation(state_dir: Path) -> Path:
    """Return an empty directory for the files under the new key. From now on no other process gets a key."""
    with explained("the rotation cannot begin", state_dir / ROTATION):
        make_private_directory(state_dir / ROTATION)
        sync_directory(state_dir)
    return state_dir / ROTATION


def commit(state_dir: Path, *, stale: Iterable[Path], entry: str) -> None:
    """Put the new files, which are all durable, in place of the earlier ones.

    The files that are `stale` go, and the `entry` of the keyring that holds the key before; empty for none.
    """
    shadow = state_dir / ROTATION
    with explained("the rotation cannot go on", shadow):
        for directory, _, names in os.walk(shadow):
            for name in names:
                _sync(Path(directory) / name)
            sync_directory(Path(directory))
        pass_point("before ready")
        order = {"stale": [str(path.relative_to(state_dir)) for path in stale], "entry": entry}
        replace_file(shadow / READY, orjson.dumps(order))
        pass_point("after ready")
    _go_on(state_dir)


def undo(state_dir: Path) -> None:
    """Keep the earlier files, and remove the keyring entry that was made for the new key."""
    shadow = state_dir / ROTATION
    if os.path.lexists(shadow):
        clear_entry(read_entry_name(shadow))
        with explained("what is left of a rotation cannot be removed", shadow):
            shutil.rmtree(shadow)
            sync_directory(state_dir)


def _go_on(state_dir: Path) -> None:
    """Move the remaining files, after a move that may have been cut short."""
    shadow = state_dir / ROTATION
    with explained("the rotation cannot be finished", shadow):
        order = orjson.loads(read_file(shadow / READY, _MOST_BYTES))
        for name in order["stale"]:
            (state_dir / name).unlink(missing_ok=True)
        for directory, _, names in os.walk(shadow):
            _move(Path(directory), state_dir / Path(directory).relative_to(shadow), sorted(set(names) - {READY}))
    clear_entry(order["entry"])
    with explained("what is left of a rotation cannot be removed", shadow):
        shutil.rmtree(shadow)
        sync_directory(state_dir)


def _move(directory: Path, target: Path, names: list[str]) -> None:
    """Move files into `target`, unless that was removed meanwhile."""
    if target.is_dir():
        for name in names:
            pass_point("before forward")
            os.replace(directory / name, target / name)
            pass_point("after forward")
        sync_directory(target)


def _sync(path: Path) -> None:
    file = os.open(path, os.O_RDWR | OURS)  # Windows syncs no file that is open to be read alone
    try:
        os.fsync(file)
    finally:
        os.close(file)
