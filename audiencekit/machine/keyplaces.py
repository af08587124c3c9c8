"""Where the state key is, and how it is moved away from the files that it opens."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final, Literal, TypeAlias

from audiencekit.errors import UsageError
from audiencekit.machine.crashpoints import pass_point
from audiencekit.machine.keycommand import COMMAND_VARIABLE, GivenKey, KeyCommand
from audiencekit.machine.keyrings import clear_keyring, read_keyring, write_keyring
from audiencekit.machine.keyrotation import NEXT_NAME, changing_key
from audiencekit.machine.keys import (
    KEY_FILE,
    KEY_VARIABLE,
    KEYRING_NAME,
    StateKey,
    existing_state_key,
    key_of_file,
    parse_key,
    write_key_file,
)
from audiencekit.machine.privatefiles import explained, overwrite_file, sync_directory
from audiencekit.machine.statedirectory import make_directory

KeyPlace: TypeAlias = Literal["environment", "command", "keyring", "file"]
PLACES: Final[tuple[KeyPlace, ...]] = ("environment", "command", "keyring", "file")
_HINT: Final = "unlock the keyring"
_FINGERPRINT_DIGITS: Final = 8


def place_of_key(state_dir: Path, given: GivenKey) -> KeyPlace | None:
    """Where the key is that would be used; None where none was made yet. Raises CredentialsRefused."""
    if isinstance(given, KeyCommand):
        return "command"
    if given is not None:
        return "environment"
    if read_keyring(KEYRING_NAME, hint=_HINT) is not None:
        return "keyring"
    return "file" if os.path.lexists(state_dir / KEY_FILE) else None


def fingerprint(key: StateKey) -> str:
    """By which people see that two keys are the same one; it says nothing else."""
    return key.derive("fingerprint").unwrap().hex()[:_FINGERPRINT_DIGITS]


def move_key(state_dir: Path, given: GivenKey, place: KeyPlace) -> tuple[KeyPlace, ...]:
    """Have the key in `place` alone; the places of ours that it was removed from.

    It is the same key, so that it opens all that it opened. To `environment` and `command` it was brought before:
    `given` must be what they give now. A kill leaves it in both places, and the same move goes on. Raises UsageError,
    InputOutputFailed and CredentialsRefused.
    """
    make_directory(state_dir)
    key = _key_to_move(state_dir, given, place)
    with changing_key(state_dir):
        pass_point("before key")
        if place == "keyring":
            _to_keyring(key)
        elif place == "file":
            write_key_file(state_dir, key)
        pass_point("after key")
        return tuple(left for left in ("keyring", "file") if left != place and _leave(state_dir, left))


def put_next(directory: Path, key: StateKey, place: KeyPlace) -> None:
    """Put `key` where a rotation takes it from: a file in `directory`, or the keyring. Raises as `move_key` does."""
    if place == "file":
        write_key_file(directory, key)
    elif place == "keyring":
        write_keyring(NEXT_NAME, key.in_hex(), hint=_HINT)


def _key_to_move(state_dir: Path, given: GivenKey, place: KeyPlace) -> StateKey:
    """The key, the same wherever it is. Raises UsageError where two differ, or where there is none."""
    wanted = {"environment": KEY_VARIABLE, "command": COMMAND_VARIABLE}.get(place)
    if wanted is not None and place != place_of_key(state_dir, given):
        raise UsageError(f"{wanted} is not set: the key is not there yet", hint="bring it there first")
    key = existing_state_key(state_dir, given)
    if key is None:
        raise UsageError("there is no state key yet", hint="it is made by the first run")
    own = (key_of_file(state_dir), _key_of_keyring())
    if any(other is not None and other != key for other in own):
        raise UsageError(
            "the keyring or the key file holds another key than the one that is used: nothing was moved",
            hint="see `audiencekit key show`; take away the one that opens nothing",
        )
    return key


def _key_of_keyring() -> StateKey | None:
    kept = read_keyring(KEYRING_NAME, hint=_HINT)
    return None if kept is None else parse_key(kept, "the key in the keyring")


def _to_keyring(key: StateKey) -> None:
    if not write_keyring(KEYRING_NAME, key.in_hex(), hint=_HINT):
        hint = "pip install 'audiencekit[keyring]', or give the key by AUDIENCEKIT_KEY_COMMAND"
        raise UsageError("this machine has no keyring: nothing was moved", hint=hint)


def _leave(state_dir: Path, place: str) -> bool:
    """Whether the key was there; it is no more."""
    if place == "keyring":
        if read_keyring(KEYRING_NAME, hint=_HINT) is None:
            return False
        clear_keyring(KEYRING_NAME, hint=_HINT)
        return True
    return _destroy(state_dir / KEY_FILE)


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
