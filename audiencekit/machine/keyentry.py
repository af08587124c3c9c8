"""The entry of the keyring that holds the state key of one state directory; a file there says its name."""

from __future__ import annotations

import os
import re
import secrets
from pathlib import Path
from typing import Final

from audiencekit.errors import InputOutputFailed
from audiencekit.machine.keyrings import clear_keyring, read_keyring, write_keyring
from audiencekit.machine.privatefiles import explained, read_file, replace_file
from audiencekit.personal import Secret

NAME_FILE: Final = "key.entry"
_BEGIN: Final = "state-key-"
_NAME: Final = re.compile(rf"{_BEGIN}[0-9a-f]{{12}}")
_MOST_BYTES: Final = 100
_HINT: Final = "unlock it, or give AUDIENCEKIT_KEY"


def read_entry_name(directory: Path) -> str:
    """The name that the file in `directory` says; empty where there is none. Raises InputOutputFailed."""
    path = directory / NAME_FILE
    if not os.path.lexists(path):
        return ""
    with explained("the name of the keyring's entry cannot be read", path):
        name = read_file(path, _MOST_BYTES).decode("latin-1").strip()
    if not _NAME.fullmatch(name):
        raise InputOutputFailed(f"{str(path)!r} says no name of an entry of the keyring", hint="restore it")
    return name


def read_entry(state_dir: Path) -> Secret | None:
    """The key in the entry; None for none. Raises CredentialsRefused."""
    name = read_entry_name(state_dir)
    return read_keyring(name, hint=_HINT) if name else None


def write_entry(directory: Path, key: Secret) -> bool:
    """Whether there is a keyring: then it holds `key` in a new entry, and the file in `directory` names that."""
    name = f"{_BEGIN}{secrets.token_hex(6)}"
    with explained("the name of the keyring's entry cannot be kept", directory / NAME_FILE):
        replace_file(directory / NAME_FILE, name.encode() + b"\n")
        if write_keyring(name, key, hint=_HINT):
            return True
        os.unlink(directory / NAME_FILE)
    return False


def clear_entry(name: str) -> None:
    """Remove the entry of that name, if there is one. Raises CredentialsRefused."""
    if name and read_keyring(name, hint=_HINT) is not None:
        clear_keyring(name, hint=_HINT)
