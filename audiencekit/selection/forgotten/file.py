"""The memory of erased people as files: `forgotten`, and beside it the serial of the last one that was written.

`forgotten`, a file of whole 16 bytes:

    8 bytes                 MARK
    16 bytes                identity of the memory: random, the same as long as it is the same one
    8 bytes                 serial: how often it was written, big-endian
    16 bytes                keyed digest of both and of what follows
    16 bytes each           tags of keys, ascending: one for every form of every identifier

`forgotten.serial`: the Mark of it, sealed. It is written after `forgotten`, so that a kill between the two leaves a
memory that is newer than its serial, which is believed; one that is older never is. A memory of an earlier version has
neither identity nor serial.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np
import orjson
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from audiencekit.errors import MemoryRefused
from audiencekit.machine.crashpoints import pass_point
from audiencekit.machine.filelocks import locked
from audiencekit.machine.keys import SubKey
from audiencekit.machine.privatefiles import explained, read_file, replace_file
from audiencekit.machine.statedirectory import make_directory
from audiencekit.machine.witness import Mark
from audiencekit.selection.tags import TAG, TAG_BYTES, Tags

FORGOTTEN: Final = "forgotten"
SERIAL: Final = "forgotten.serial"
PURPOSE: Final = "forgotten"  # of the key
MARK: Final = b"AKFORGT2"
EARLIER_MARK: Final = b"AKFORGT1"
MAX_FORGOTTEN_BYTES: Final = 4_000_000_000
OTHER_KEY_HINT: Final = "give the AUDIENCEKIT_KEY, keyring or key file of then, or restore the file"

_IDENTITY_BYTES, _SERIAL_BYTES, _NONCE_BYTES = 16, 8, 12
_HEAD: Final = len(MARK) + _IDENTITY_BYTES + _SERIAL_BYTES
_MOST_SERIAL_FILE_BYTES: Final = 10_000


@dataclass(frozen=True, slots=True, eq=False)
class Memory:
    """The tags, which ascend, and what tells this state of them from others; of an earlier version the serial is 0."""

    tags: Tags = field(repr=False)
    identity: str
    serial: int
    digest: str

    @property
    def mark(self) -> Mark:
        """The mark of it that is noted elsewhere."""
        return Mark(identity=self.identity, serial=self.serial, keys=len(self.tags), digest=self.digest)


def read_memory(state_dir: Path, key: SubKey) -> Memory | None:
    """The memory of `state_dir`, None when there is none.

    Nothing is believed before the digest was checked. Raises MemoryRefused for a file that was cut off, changed, or
    written under another key, and InputOutputFailed for one that cannot be read.
    """
    path = state_dir / FORGOTTEN
    if not os.path.lexists(path):
        return None
    with explained("the memory of erased people cannot be read", path):
        content = read_file(path, MAX_FORGOTTEN_BYTES)
    is_earlier = content.startswith(EARLIER_MARK)
    head = content[: len(MARK) if is_earlier else _HEAD]
    digest, tags = content[len(head) : len(head) + TAG_BYTES], content[len(head) + TAG_BYTES :]
    covered = tags if is_earlier else head[len(MARK) :] + tags
    is_whole = (is_earlier or content.startswith(MARK)) and len(digest) == TAG_BYTES and not len(tags) % TAG_BYTES
    if not is_whole or not hmac.compare_digest(digest, _digest(key, covered)):
        raise MemoryRefused(
            f"{str(path)!r}, the memory of erased people, is damaged or was written under another state key",
            hint=f"{OTHER_KEY_HINT}: without it nothing is sent. `audiencekit forgotten accept --empty` begins anew",
        )
    identity = head[len(MARK) : len(MARK) + _IDENTITY_BYTES]
    serial = 0 if is_earlier else int.from_bytes(head[-_SERIAL_BYTES:], "big")
    return Memory(np.frombuffer(tags, dtype=TAG), identity.hex(), serial, digest.hex())


def write_memory(state_dir: Path, key: SubKey, tags: Tags, *, identity: str, serial: int) -> Memory:
    """The memory with these `tags` in the place of the last one, durable. Raises InputOutputFailed."""
    covered = bytes.fromhex(identity) + serial.to_bytes(_SERIAL_BYTES, "big")
    digest = _digest(key, covered + tags.tobytes())
    path = state_dir / FORGOTTEN
    pass_point("before memory")
    with explained("the memory of erased people cannot be written", path):
        replace_file(path, MARK + covered + digest + tags.tobytes())
    pass_point("after memory")
    return Memory(tags, identity, serial, digest.hex())


def new_identity() -> str:
    """That of a memory that begins now."""
    return secrets.token_hex(_IDENTITY_BYTES)


def read_serial(state_dir: Path, key: SubKey) -> Mark | None:
    """The mark of the last memory that was written here, None when there is none. Raises MemoryRefused."""
    path = state_dir / SERIAL
    if not os.path.lexists(path):
        return None
    with explained("the serial of the memory of erased people cannot be read", path):
        content = read_file(path, _MOST_SERIAL_FILE_BYTES)
    nonce, sealed = content[:_NONCE_BYTES], content[_NONCE_BYTES:]
    try:
        return Mark.from_json(orjson.loads(AESGCM(key.unwrap()).decrypt(nonce, sealed, SERIAL.encode())))
    except (InvalidTag, ValueError, KeyError, TypeError):
        pass
    raise MemoryRefused(
        f"{str(path)!r}, the serial of the memory of erased people, is damaged or was written under another state key",
        hint=f"{OTHER_KEY_HINT}; else `audiencekit forgotten accept` goes by what {FORGOTTEN!r} says",
    )


def write_serial(state_dir: Path, key: SubKey, mark: Mark) -> None:
    """Note `mark` as that of the last memory, durable. Raises InputOutputFailed."""
    nonce = secrets.token_bytes(_NONCE_BYTES)
    sealed = AESGCM(key.unwrap()).encrypt(nonce, orjson.dumps(mark.to_json()), SERIAL.encode())
    path = state_dir / SERIAL
    pass_point("before count")
    with explained("the serial of the memory of erased people cannot be written", path):
        replace_file(path, nonce + sealed)
    pass_point("after count")


@contextmanager
def alone(state_dir: Path) -> Iterator[None]:
    """One process at a time writes the memory. Raises InputOutputFailed."""
    path = make_directory(state_dir) / f".{FORGOTTEN}.lock"
    with ExitStack() as stack:
        with explained("the memory of erased people cannot be locked", path):
            stack.enter_context(locked(path))
        yield


def _digest(key: SubKey, covered: bytes) -> bytes:
    return hashlib.blake2b(covered, key=key.unwrap(), digest_size=TAG_BYTES).digest()
