"""The state key: what is kept in the state directory is sealed, and compared, under keys that are made from it."""

from __future__ import annotations

import os
import re
import secrets
from pathlib import Path
from typing import Final

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from audiencekit.errors import AudiencekitError, UsageError
from audiencekit.machine.keyrings import read_keyring
from audiencekit.machine.privatefiles import check_private, create_file, explained, read_file
from audiencekit.machine.statedirectory import check_root, make_directory
from audiencekit.personal import Personal, Secret

KEY_BYTES: Final = 32
KEY_FILE: Final = "key"
KEY_VARIABLE: Final = "AUDIENCEKIT_KEY"
KEYRING_NAME: Final = "state-key"
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
    check_root(state_dir)
    if given is not None:
        return _parse(given, KEY_VARIABLE)
    kept = read_keyring(KEYRING_NAME, hint=f"unlock it, or give {KEY_VARIABLE}")
    return _read_or_make(state_dir / KEY_FILE) if kept is None else _parse(kept, "the key in the keyring")


def existing_state_key(state_dir: Path, given: Secret | None) -> StateKey | None:
    """The key as `find_state_key` gives it; None where that would make one. Raises as it does."""
    kept = given or read_keyring(KEYRING_NAME, hint=f"unlock it, or give {KEY_VARIABLE}")
    if kept is None and not os.path.lexists(state_dir / KEY_FILE):
        return None
    return find_state_key(state_dir, kept)


def known_state_key(state_dir: Path, given: Secret | None) -> StateKey | None:
    """The same for those who can do without: None where it cannot be had."""
    try:
        return existing_state_key(state_dir, given)
    except AudiencekitError:
        return None


def _parse(text: Secret, where: str) -> StateKey:
    if not _HEX.fullmatch(text.unwrap().strip()):
        raise UsageError(f"{where} is not a key", hint="a key is 64 hex digits, such as `openssl rand -hex 32` makes")
    return StateKey(bytes.fromhex(text.unwrap().strip()))


def _read_or_make(path: Path) -> StateKey:
    with explained("the state key cannot be read or made", path):
        if not os.path.lexists(path):
            make_directory(path.parent)
            create_file(path, b"-".join(secrets.token_hex(8).encode() for _ in range(KEY_BYTES // 8)) + b"\n")
        check_private(path, lost="runs that were begun with it cannot be resumed")
        # In groups: who looks for hashes in the state directory is to find none.
        text = Secret(read_file(path, KEY_BYTES * 3).decode("latin-1").replace("-", ""))
    return _parse(text, f"the file {str(path)!r}")
