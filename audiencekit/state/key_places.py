"""Where the state key is, and how it is moved away from the files that it opens."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final, Literal, TypeAlias

from audiencekit.errors import UsageError
from audiencekit.process.crash_points import pass_point
from audiencekit.state.directory import make_directory
from audiencekit.state.files import explained, overwrite_file, sync_directory
from audiencekit.state.key_command import (
    COMMAND_VARIABLE,
    NAME_FILE,
    GivenKey,
    KeyCommand,
    clear_entry,
    read_entry,
    read_entry_name,
    write_entry,
)
from audiencekit.state.key_rotation import changing_key, settle
from audiencekit.state.keys import (
    KEY_FILE,
    KEY_VARIABLE,
    StateKey,
    existing_state_key,
    key_of_file,
    parse_key,
    write_key_file,
)
from audiencekit.text import install_extra

KeyPlace: TypeAlias = Literal["environment", "command", "keyring", "file"]
_FINGERPRINT_DIGITS: Final = 8


def place_of_key(state_dir: Path, given: GivenKey) -> KeyPlace | None:
    """Return the place of the key that would be used; None before a key is made. Raises CredentialsRefused."""
    if isinstance(given, KeyCommand):
        return "command"
    if given is not None:
        return "environment"
    if read_entry(state_dir) is not None:
        return "keyring"
    return "file" if os.path.lexists(state_dir / KEY_FILE) else None


def key_fingerprint(key: StateKey) -> str:
    """A fingerprint, by which people see that two keys are the same; it says nothing else."""
    return key.derive("fingerprint").unwrap().hex()[:_FINGERPRINT_DIGITS]


def move_key(state_dir: Path, given: GivenKey, place: KeyPlace) -> tuple[KeyPlace, ...]:
    """Have the key in `place` alone; the places of ours that it was removed from.

    It is the same key, so that it opens all that it opened. To `environment` and `command` it was brought before:
    `given` must be what they give now. A kill leaves it in both places, and the same move goes on. Raises UsageError,
    InputOutputFailed and CredentialsRefused.
    """
    make_directory(state_dir)
    with changing_key(state_dir):
        settle(state_dir)
        key = _key_to_move(state_dir, given, place)
        pass_point("before key")
        if place == "keyring" and not read_entry_name(state_dir):
            _to_keyring(state_dir, key)
        elif place == "file":
            write_key_file(state_dir, key)
        pass_point("after key")
        return tuple(left for left in ("keyring", "file") if left != place and _leave(state_dir, left))


def put_next(directory: Path, key: StateKey, place: KeyPlace) -> None:
    """Put `key` where a rotation takes it from, in `directory`. Raises as `move_key` does."""
    if place == "file":
        write_key_file(directory, key)
    elif place == "keyring":
        _to_keyring(directory, key)


def _key_to_move(state_dir: Path, given: GivenKey, place: KeyPlace) -> StateKey:
    """The key, the same wherever it is. Raises UsageError where two differ, or where there is none."""
    wanted = {"environment": KEY_VARIABLE, "command": COMMAND_VARIABLE}.get(place)
    if wanted is not None and place != place_of_key(state_dir, given):
        raise UsageError(f"{wanted} is not set: the key is not there yet", hint="put it there first")
    key = existing_state_key(state_dir, given)
    if key is None:
        raise UsageError("there is no state key yet", hint="it is made by the first run")
    if any(other is not None and other != key for other in (key_of_file(state_dir), _key_of_keyring(state_dir))):
        raise UsageError(
            "the keyring or the key file holds another key than the one that is used: nothing was moved",
            hint="see `audiencekit key show`; remove the one that opens nothing",
        )
    return key


def _key_of_keyring(state_dir: Path) -> StateKey | None:
    kept = read_entry(state_dir)
    return None if kept is None else parse_key(kept, "the key in the keyring")


def _to_keyring(directory: Path, key: StateKey) -> None:
    if not write_entry(directory, key.in_hex()):
        hint = f"{install_extra('keyring')}; or give the key by AUDIENCEKIT_KEY_COMMAND"
        raise UsageError("this machine has no keyring: nothing was changed", hint=hint)


def _leave(state_dir: Path, place: str) -> bool:
    """Whether the key was there, in a place of this directory alone; it is no more."""
    if place == "file":
        return _destroy(state_dir / KEY_FILE)
    name = read_entry_name(state_dir)
    if not name:
        return False
    clear_entry(name)
    with explained("the name of the keyring's entry cannot be removed", state_dir / NAME_FILE):
        os.unlink(state_dir / NAME_FILE)
        sync_directory(state_dir)
    return True


def _destroy(path: Path) -> bool:
    """Whether there was a file; it is overwritten, then removed. Raises InputOutputFailed."""
    with explained("the key file cannot be removed", path):
        if not os.path.lexists(path):
            return False
        pass_point("before wipe")
        overwrite_file(path)
        pass_point("after wipe")
        os.unlink(path)
        sync_directory(path.parent)
    return True
