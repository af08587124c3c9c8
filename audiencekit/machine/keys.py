"""The state key: what is kept in the state directory is sealed, and compared, under keys that are made from it."""

from __future__ import annotations

import os
import re
import secrets
import stat
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from audiencekit.errors import CredentialsRefused, InputOutputFailed, UsageError
from audiencekit.machine.privatefiles import OTHERS, create_file, explained, read_file
from audiencekit.personal import Personal, Secret

KEY_BYTES: Final = 32
KEY_FILE: Final = "key"
KEY_VARIABLE: Final = "AUDIENCEKIT_KEY"
KEYRING_SERVICE, KEYRING_NAME = "audiencekit", "state-key"
DIGESTS: Final = "digests"  # purposes: keys for one are of no use for another
SPOOL: Final = "spool"

_HEX: Final = re.compile(r"[0-9a-fA-F]{64}")


class SubKey(Personal[bytes]):
    """A key of 256 bits for one purpose."""


class StateKey(Personal[bytes]):
    """The key that all others of a state directory are made from."""

    def derive(self, purpose: str, of: str = "") -> SubKey:
        """The key for `purpose` (of one run, say): the same for the same words, by HKDF with SHA-256."""
        info = f"audiencekit/1\0{purpose}\0{of}".encode()
        return SubKey(HKDF(SHA256(), KEY_BYTES, salt=None, info=info).derive(self.unwrap()))


def find_state_key(state_dir: Path, given: Secret | None) -> StateKey:
    """`given` (64 hex digits), else the keyring's, else that of the file `key` of `state_dir`, made at first use.

    Raises UsageError for what is no key, InputOutputFailed when the file cannot be made or others may read it,
    CredentialsRefused when there is a keyring that cannot be read.
    """
    if given is not None:
        return _parse(given, KEY_VARIABLE)
    kept = _ask_keyring()
    return _read_or_make(state_dir / KEY_FILE) if kept is None else _parse(kept, "the key in the keyring")


def _parse(text: Secret, where: str) -> StateKey:
    if not _HEX.fullmatch(text.unwrap().strip()):
        raise UsageError(f"{where} is not a key", hint="a key is 64 hex digits, such as `openssl rand -hex 32` makes")
    return StateKey(bytes.fromhex(text.unwrap().strip()))


def _ask_keyring() -> Secret | None:
    """The keyring's key; None without the extra, without a keyring, and when it holds none."""
    try:
        keyring: Any = import_module("keyring")
        errors: Any = import_module("keyring.errors")
    except ImportError:
        return None
    try:
        kept = keyring.get_password(KEYRING_SERVICE, KEYRING_NAME)
    except errors.NoKeyringError:
        return None
    except Exception as error:  # backends raise what they like; another key than before would be worse than none
        hint = f"unlock it, or give {KEY_VARIABLE}"
        raise CredentialsRefused(f"the keyring cannot be read: {type(error).__name__}", hint=hint) from None
    return None if kept is None else Secret(kept)


def _read_or_make(path: Path) -> StateKey:
    with explained("the state key cannot be read or made", path):
        if not os.path.lexists(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            create_file(path, b"-".join(secrets.token_hex(8).encode() for _ in range(KEY_BYTES // 8)) + b"\n")
        _check_private(path)
        # In groups: who looks for hashes in the state directory is to find none.
        text = Secret(read_file(path, KEY_BYTES * 3).decode("latin-1").replace("-", ""))
    return _parse(text, f"the file {str(path)!r}")


def _check_private(path: Path) -> None:
    status = os.lstat(path)
    if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid():
        raise InputOutputFailed(f"{str(path)!r} is not a file of yours", hint="remove it, or restore the key")
    if status.st_mode & OTHERS:
        hint = "`chmod 600` it if nobody read it; else remove it, and runs that were begun with it cannot be resumed"
        raise InputOutputFailed(f"others may read {str(path)!r}, the key of what is kept", hint=hint)
