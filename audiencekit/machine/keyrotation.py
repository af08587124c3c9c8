"""A state directory that goes over to another key: all of it, or none of it, whenever the process ends.

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
from audiencekit.machine.crashpoints import pass_point
from audiencekit.machine.filelocks import locked
from audiencekit.machine.keyrings import clear_keyring, read_keyring, write_keyring
from audiencekit.machine.privatefiles import explained, make_private_directory, read_file, replace_file, sync_directory

ROTATION: Final = ".rotation"
READY: Final = "ready"
NEXT_NAME: Final = "state-key-next"  # of the entry of the keyring, until the moment of no return
_MOST_BYTES: Final = 100_000_000
_LOCK: Final = ".key.lock"
_HINT: Final = "unlock the keyring"


@contextlib.contextmanager
def changing_key(state_dir: Path) -> Iterator[None]:
    """No other process changes the state key meanwhile. Raises AudienceBusy when one does, and InputOutputFailed."""
    with contextlib.ExitStack() as stack:
        is_busy = False
        with explained("the state key cannot be locked", state_dir / _LOCK):
            try:
                stack.enter_context(locked(state_dir / _LOCK, wait=False))
            except BlockingIOError:
                is_busy = True
        if is_busy:
            told = "the state key is being changed by another process: nothing was sent"
            raise AudienceBusy(told, run_id=None, process_id=None, hint="try again when it has ended")
        yield


def settle_rotation(state_dir: Path, keyring_name: str) -> None:
    """Finish, or undo, a rotation that was killed. Raises as `changing_key` does."""
    if os.path.lexists(state_dir / ROTATION):
        with changing_key(state_dir):
            settle(state_dir, keyring_name)


def settle(state_dir: Path, keyring_name: str) -> None:
    """The same, for a process that holds the lock."""
    if os.path.lexists(state_dir / ROTATION / READY):
        _go_on(state_dir, keyring_name)
    else:
        _remove(state_dir)


def begin(state_dir: Path) -> Path:
    """The directory for what is sealed anew, empty."""
    _remove(state_dir)
    with explained("the rotation cannot begin", state_dir / ROTATION):
        make_private_directory(state_dir / ROTATION)
        sync_directory(state_dir)
    return state_dir / ROTATION


def commit(state_dir: Path, keyring_name: str, gone: Iterable[Path]) -> None:
    """All is there, and durable: it takes the place of what was sealed before, and what is `gone` goes."""
    shadow = state_dir / ROTATION
    with explained("the rotation cannot go on", shadow):
        for directory, _, names in os.walk(shadow):
            for name in names:
                _sync(Path(directory) / name)
            sync_directory(Path(directory))
        pass_point("before ready")
        names = [str(path.relative_to(state_dir)) for path in gone]
        replace_file(shadow / READY, orjson.dumps(names))
        pass_point("after ready")
    _go_on(state_dir, keyring_name)


def _go_on(state_dir: Path, keyring_name: str) -> None:
    """Move what is still to be moved; it may have been done in part."""
    shadow = state_dir / ROTATION
    if (fresh := read_keyring(NEXT_NAME, hint=_HINT)) is not None:
        write_keyring(keyring_name, fresh, hint=_HINT)
    with explained("the rotation cannot be finished", shadow):
        for name in orjson.loads(read_file(shadow / READY, _MOST_BYTES)):
            (state_dir / name).unlink(missing_ok=True)
        for directory, _, names in os.walk(shadow):
            target = state_dir / Path(directory).relative_to(shadow)
            for name in sorted(set(names) - {READY}):
                pass_point("before forward")
                os.replace(Path(directory) / name, target / name)
                pass_point("after forward")
            sync_directory(target)
    if fresh is not None:
        clear_keyring(NEXT_NAME, hint=_HINT)
    _remove(state_dir)


def _remove(state_dir: Path) -> None:
    """Remove the directory, what makes it valid last: it holds nothing then that is still to be moved."""
    shadow = state_dir / ROTATION
    if not os.path.lexists(shadow):
        return
    with explained("what is left of a rotation cannot be removed", shadow):
        if not os.path.lexists(shadow / READY) and read_keyring(NEXT_NAME, hint=_HINT) is not None:
            clear_keyring(NEXT_NAME, hint=_HINT)
        shutil.rmtree(shadow)
        sync_directory(state_dir)


def _sync(path: Path) -> None:
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(file)
    finally:
        os.close(file)
