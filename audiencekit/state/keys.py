"""The state key. The keys that seal and compare the files of the state directory are derived from it."""

from __future__ import annotations

import base64
import os
import re
import secrets
import shlex
from pathlib import Path
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from audiencekit.errors import AudiencekitError, CredentialsRefused, UsageError
from audiencekit.personal import Personal, Secret
from audiencekit.state.directory import check_root, check_writable, make_directory
from audiencekit.state.files import check_private, create_file, explained, read_file, replace_file
from audiencekit.state.key_command import COMMAND_VARIABLE, GivenKey, KeyCommand, read_entry, read_entry_name
from audiencekit.state.key_rotation import settle_rotation
from audiencekit.state.locks import check_locks

KEY_BYTES: Final = 32
KEY_FILE: Final = "key"
EARLIER_FILE: Final = "key.earlier"
KEY_VARIABLE: Final = "AUDIENCEKIT_KEY"
# Files of a state directory that are sealed or signed under its key; the rooms above write them.
UNDER_KEY: Final = (
    *(EARLIER_FILE, "audit.log", "forgotten", "forgotten.serial"),
    *("snapshots/*/*", "runs/*/journal.sqlite"),
)
DIGESTS: Final = "digests"  # purposes: keys for one are of no use for another
SPOOL: Final = "spool"

_HEX: Final = re.compile(r"[0-9a-fA-F]{64}")
_BASE64: Final = re.compile(r"[0-9A-Za-z+/]{43}=")
_GROUP: Final = 16  # digits
_NO_ENTRY_HINT: Final = "unlock the keyring that has it; or put the earlier key into AUDIENCEKIT_KEY"
_EARLIER, _NONCE_BYTES, _MOST_EARLIER_BYTES = "earlier keys", 12, 100_000


class SubKey(Personal[bytes]):
    """A key of 256 bits for one purpose."""


class StateKey(Personal[bytes]):
    """The key that all others of a state directory are made from.

    `earlier` are those before it, the last one first: journals of runs that have ended stay under the key of then.
    """

    __slots__ = ("earlier",)

    def __init__(self, hidden: bytes, earlier: tuple[StateKey, ...] = ()) -> None:
        super().__init__(hidden)
        self.earlier = earlier

    def in_hex(self) -> Secret:
        """The hex digits in groups, so that searches for hashes in a state directory find none."""
        digits = self.unwrap().hex()
        return Secret("-".join(digits[start : start + _GROUP] for start in range(0, len(digits), _GROUP)))

    def derive(self, purpose: str, of: str = "") -> SubKey:
        """The key for `purpose` (of one run, say): the same for the same words, by HKDF with SHA-256."""
        info = f"audiencekit/1\0{purpose}\0{of}".encode()
        return SubKey(HKDF(SHA256(), KEY_BYTES, salt=None, info=info).derive(self.unwrap()))


def find_state_key(state_dir: Path, given: GivenKey) -> StateKey:
    """`given` (64 hex digits), else the keyring's, else that of the file `key` of `state_dir`, made at first use.

    Raises UsageError for what is no key, InputOutputFailed when the file cannot be made or others may read it,
    CredentialsRefused for a keyring that cannot be read, a command that gives no key, and as `refuse_lost_key` does.
    """
    check_root(state_dir)
    settle_rotation(state_dir)
    key = _find(state_dir, given)
    return StateKey(key.unwrap(), read_earlier(state_dir, key))


def _find(state_dir: Path, given: GivenKey) -> StateKey:
    if isinstance(given, KeyCommand):
        return parse_key(given.read(), f"the output of the command of {COMMAND_VARIABLE}")
    if given is not None:
        return parse_key(given, KEY_VARIABLE)
    kept = read_entry(state_dir)
    if kept is not None:
        return parse_key(kept, "the key in the keyring")
    name = read_entry_name(state_dir)
    if name and not os.path.lexists(state_dir / KEY_FILE):
        raise CredentialsRefused(f"the keyring has no entry {name!r}, which holds the state key", hint=_NO_ENTRY_HINT)
    return _read_or_make(state_dir / KEY_FILE)


def read_earlier(state_dir: Path, key: StateKey) -> tuple[StateKey, ...]:
    """The keys before `key`, the last one first.

    Raises CredentialsRefused where the state directory has gone over to another key, and InputOutputFailed.
    """
    path = state_dir / EARLIER_FILE
    if not os.path.lexists(path):
        return ()
    with explained("the earlier state keys cannot be read", path):
        content = read_file(path, _MOST_EARLIER_BYTES)
    try:
        own = AESGCM(key.derive(_EARLIER).unwrap())
        keys = own.decrypt(content[:_NONCE_BYTES], content[_NONCE_BYTES:], _EARLIER.encode())
    except (InvalidTag, ValueError):
        keys = None
    if keys is None:
        raise CredentialsRefused(
            f"{str(state_dir)!r} is under another state key than is given: it was rotated, or the file"
            f" {EARLIER_FILE!r} is damaged: nothing was sent",
            hint="give the current key; `audiencekit key show` says the fingerprint of one that is given",
        )
    return tuple(StateKey(keys[start : start + KEY_BYTES]) for start in range(0, len(keys), KEY_BYTES))


def write_earlier(directory: Path, key: StateKey) -> None:
    """Have `directory` hold the keys before `key`, sealed under it. Raises InputOutputFailed."""
    nonce = secrets.token_bytes(_NONCE_BYTES)
    keys = b"".join(one.unwrap() for one in key.earlier)
    sealed = AESGCM(key.derive(_EARLIER).unwrap()).encrypt(nonce, keys, _EARLIER.encode())
    with explained("the earlier state keys cannot be written", directory / EARLIER_FILE):
        replace_file(directory / EARLIER_FILE, nonce + sealed)


def existing_state_key(state_dir: Path, given: GivenKey) -> StateKey | None:
    """The key as `find_state_key` gives it; None where that would make one. Raises as it does."""
    settle_rotation(state_dir)
    kept = given or read_entry(state_dir)
    if kept is None and not os.path.lexists(state_dir / KEY_FILE):
        return None
    return find_state_key(state_dir, kept)


def refuse_lost_key(state_dir: Path, given: GivenKey) -> None:
    """Returns when there is a key, or nothing that needs the key of before. Raises CredentialsRefused: a new key would
    open none of the files there."""
    if given is not None or read_entry_name(state_dir):
        return
    kept = [next(state_dir.glob(pattern), None) for pattern in UNDER_KEY]
    names = sorted({path.relative_to(state_dir).parts[0] for path in kept if path is not None})
    if names and not os.path.lexists(state_dir / KEY_FILE):  # another process may have made it with the first of these
        path = str(state_dir / KEY_FILE)
        raise CredentialsRefused(
            f"the state key is missing, and {str(state_dir)!r} has files under it: {', '.join(names)}; no other key"
            " was made",
            hint=f"copy {path!r} from the machine where the files were made, or give that key by {KEY_VARIABLE}; if it"
            f" is lost, `(umask 077; openssl rand -hex 32 > {shlex.quote(path)})` puts another one there, and"
            " docs/accounts.md says what is lost with it",
        )


def check_state(state_dir: Path, given: GivenKey) -> None:
    """Returns when a run can write into `state_dir`, and has its key or can make it. Raises as these do."""
    check_writable(state_dir)
    check_locks(state_dir)
    existing_state_key(state_dir, given)


def known_state_key(state_dir: Path, given: GivenKey) -> StateKey | None:
    """The same for those who can do without: None where it cannot be had."""
    try:
        return existing_state_key(state_dir, given)
    except AudiencekitError:
        return None


def parse_key(text: Secret, where: str) -> StateKey:
    """The key that `text` is: 64 hex digits, with or without dashes, or base64 of 32 bytes.

    Raises UsageError, which names `where`.
    """
    written = text.unwrap().strip()
    if _HEX.fullmatch(digits := written.replace("-", "")):
        return StateKey(bytes.fromhex(digits))
    if _BASE64.fullmatch(written):  # as key management services print bytes
        return StateKey(base64.b64decode(written))
    raise UsageError(f"{where} is not a key", hint="a key is 64 hex digits, such as `openssl rand -hex 32` makes")


def key_of_file(state_dir: Path) -> StateKey | None:
    """Return the key in the file of `state_dir`; None when there is no file, or a kill left it overwritten. Raises as
    above."""
    path = state_dir / KEY_FILE
    if not os.path.lexists(path):
        return None
    with explained("the state key cannot be read or made", path):
        check_private(path, lost="runs that were begun with it cannot be resumed")
        text = Secret(read_file(path, KEY_BYTES * 3).decode("latin-1"))
    return parse_key(text, f"the file {str(path)!r}") if text.unwrap().strip("\0") else None


def write_key_file(state_dir: Path, key: StateKey) -> None:
    """Have the file hold `key`. Raises InputOutputFailed."""
    path = state_dir / KEY_FILE
    with explained("the state key cannot be read or made", path):
        replace_file(path, key.in_hex().unwrap().encode() + b"\n")


def _read_or_make(path: Path) -> StateKey:
    with explained("the state key cannot be read or made", path):
        if not os.path.lexists(path):
            refuse_lost_key(path.parent, None)
            make_directory(path.parent)
            create_file(path, StateKey(secrets.token_bytes(KEY_BYTES)).in_hex().unwrap().encode() + b"\n")
    key = key_of_file(path.parent)
    if key is None:
        hint = "give the earlier key: by the keyring, by AUDIENCEKIT_KEY, or in the file"
        raise UsageError(f"the key file {str(path)!r} was emptied when its key was moved", hint=hint)
    return key
