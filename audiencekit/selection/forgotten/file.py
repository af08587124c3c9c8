"""The memory of erased people as files: `forgotten`, and beside it the serial of the last one that was written.

`forgotten`:

    8 bytes                 MARK
    16 bytes                identity of the memory: random, the same as long as it is the same one
    8 bytes                 serial: how often it was written, big-endian
    16 bytes                keyed digest of both and of what follows
    parts, of which the first holds the people who were erased here, and each other those of another host:
        60 bytes            the key of its tags, sealed: nonce, 32 bytes, seal
        8 bytes             how many tags it has, big-endian
        16 bytes each       tags of keys, ascending: one for every form of every identifier

`forgotten.serial`: the Mark of it, sealed. It is written after `forgotten`, so that a kill between the two leaves a
memory that is newer than its serial, which is believed; one that is older never is.

Earlier versions wrote one part alone, its tags under the key of the file; the first of them had no identity and no
serial.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import secrets
from collections.abc import Iterator, Sequence
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
from audiencekit.machine.erasurewitness import Mark
from audiencekit.machine.filelocks import locked
from audiencekit.machine.keys import KEY_BYTES, StateKey, SubKey
from audiencekit.machine.privatefiles import explained, read_file, replace_file
from audiencekit.machine.statedirectory import make_directory
from audiencekit.selection.tags import TAG, TAG_BYTES, Tags

FORGOTTEN: Final = "forgotten"
SERIAL: Final = "forgotten.serial"
EARLIER_PURPOSE: Final = "forgotten"  # of the key that sealed the files of earlier versions, and made their tags
MARK: Final = b"AKFORGT3"
EARLIER_MARK: Final = b"AKFORGT2"
FIRST_MARK: Final = b"AKFORGT1"
MAX_FORGOTTEN_BYTES: Final = 4_000_000_000
OTHER_KEY_HINT: Final = "give the AUDIENCEKIT_KEY, keyring or key file of that time, or restore the file"

# Another key than that of tags, which an export gives to other hosts.
_PURPOSE: Final = "forgotten file"
_IDENTITY_BYTES, _SERIAL_BYTES, _COUNT_BYTES, _NONCE_BYTES, _SEAL_BYTES = 16, 8, 8, 12, 16
_SEALED_KEY_BYTES: Final = _NONCE_BYTES + KEY_BYTES + _SEAL_BYTES
_TAG_KEY: Final = b"forgotten tag key"
_HEAD: Final = len(MARK) + _IDENTITY_BYTES + _SERIAL_BYTES
_MOST_SERIAL_FILE_BYTES: Final = 10_000


@dataclass(frozen=True, slots=True, eq=False)
class MemoryPart:
    """Tags of keys, ascending, and the key that they are made under."""

    key: SubKey
    tags: Tags = field(repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class Memory:
    """The parts, and what tells this state of them from others; of the first version the serial is 0."""

    parts: tuple[MemoryPart, ...]
    identity: str
    serial: int
    digest: str

    def with_new_key(self) -> tuple[MemoryPart, ...]:
        """The parts, and before them an empty one for the people of later, under a tag key that no one has seen."""
        return (MemoryPart(new_tag_key(), np.zeros(0, dtype=TAG)), *(part for part in self.parts if len(part.tags)))

    @property
    def keys(self) -> int:
        """How many tags all parts hold."""
        return sum(len(part.tags) for part in self.parts)

    @property
    def mark(self) -> Mark:
        """The mark of it that is noted elsewhere."""
        return Mark(identity=self.identity, serial=self.serial, keys=self.keys, digest=self.digest)


def read_memory(state_dir: Path, key: StateKey) -> Memory | None:
    """The memory of `state_dir`, None when there is none.

    Nothing is believed before the digest was checked. Raises MemoryRefused for a file that was cut off, changed, or
    written under another key, and InputOutputFailed for one that cannot be read.
    """
    path = state_dir / FORGOTTEN
    if not os.path.lexists(path):
        return None
    with explained("the memory of erased people cannot be read", path):
        content = read_file(path, MAX_FORGOTTEN_BYTES)
    own = key.derive(_PURPOSE if content.startswith(MARK) else EARLIER_PURPOSE)
    head = content[: len(FIRST_MARK) if content.startswith(FIRST_MARK) else _HEAD]
    digest, body = content[len(head) : len(head) + TAG_BYTES], content[len(head) + TAG_BYTES :]
    is_whole = head.startswith((MARK, EARLIER_MARK, FIRST_MARK)) and len(digest) == TAG_BYTES
    if not is_whole or not hmac.compare_digest(digest, _digest(own, head[len(MARK) :] + body)):
        raise MemoryRefused(
            f"{str(path)!r}, the memory of erased people, is damaged or was written under another state key",
            hint=f"{OTHER_KEY_HINT}: without it nothing is sent. `audiencekit forgotten accept --empty` begins anew",
        )
    parts = _parts(body, own) if content.startswith(MARK) else _earlier_parts(body, own)
    return Memory(tuple(parts), *_identity_and_serial(head), digest.hex())


def write_memory(state_dir: Path, key: StateKey, parts: Sequence[MemoryPart], *, identity: str, serial: int) -> Memory:
    """The memory with these `parts` in the place of the last one, durable. Raises InputOutputFailed."""
    own, covered = key.derive(_PURPOSE), bytes.fromhex(identity) + serial.to_bytes(_SERIAL_BYTES, "big")
    body = b"".join(_written(part, own) for part in parts)
    digest = _digest(own, covered + body)
    path = state_dir / FORGOTTEN
    pass_point("before memory")
    with explained("the memory of erased people cannot be written", path):
        replace_file(path, MARK + covered + digest + body)
    pass_point("after memory")
    return Memory(tuple(parts), identity, serial, digest.hex())


def new_tag_key() -> SubKey:
    """A key for the tags of a memory that begins now."""
    return SubKey(secrets.token_bytes(KEY_BYTES))


def new_identity() -> str:
    """That of a memory that begins now."""
    return secrets.token_hex(_IDENTITY_BYTES)


def read_serial(state_dir: Path, key: StateKey) -> Mark | None:
    """The mark of the last memory that was written here, None when there is none. Raises MemoryRefused."""
    path = state_dir / SERIAL
    if not os.path.lexists(path):
        return None
    with explained("the serial of the memory of erased people cannot be read", path):
        content = read_file(path, _MOST_SERIAL_FILE_BYTES)
    for purpose in (_PURPOSE, EARLIER_PURPOSE):
        with contextlib.suppress(InvalidTag, ValueError, KeyError, TypeError):
            return Mark.from_json(orjson.loads(_unsealed(content, key.derive(purpose), SERIAL.encode())))
    raise MemoryRefused(
        f"{str(path)!r}, the serial of the memory of erased people, is damaged or was written under another state key",
        hint=f"{OTHER_KEY_HINT}; else `audiencekit forgotten accept` goes by what {FORGOTTEN!r} says",
    )


def write_serial(state_dir: Path, key: StateKey, mark: Mark) -> None:
    """Note `mark` as that of the last memory, durable. Raises InputOutputFailed."""
    sealed = _sealed(orjson.dumps(mark.to_json()), key.derive(_PURPOSE), SERIAL.encode())
    path = state_dir / SERIAL
    pass_point("before count")
    with explained("the serial of the memory of erased people cannot be written", path):
        replace_file(path, sealed)
    pass_point("after count")


@contextmanager
def only_writer(state_dir: Path) -> Iterator[None]:
    """One process at a time writes the memory. Raises InputOutputFailed."""
    path = make_directory(state_dir) / f".{FORGOTTEN}.lock"
    with ExitStack() as stack:
        with explained("the memory of erased people cannot be locked", path):
            stack.enter_context(locked(path))
        yield


def _identity_and_serial(head: bytes) -> tuple[str, int]:
    identity, serial = head[len(MARK) : len(MARK) + _IDENTITY_BYTES], head[len(MARK) + _IDENTITY_BYTES :]
    return identity.hex(), int.from_bytes(serial, "big")


def _written(part: MemoryPart, own: SubKey) -> bytes:
    count = len(part.tags).to_bytes(_COUNT_BYTES, "big")
    return _sealed(part.key.unwrap(), own, _TAG_KEY) + count + part.tags.tobytes()


def _parts(body: bytes, own: SubKey) -> Iterator[MemoryPart]:
    """The parts of a body whose digest was checked."""
    end = 0
    while end < len(body):
        begin = end + _SEALED_KEY_BYTES + _COUNT_BYTES
        count = int.from_bytes(body[begin - _COUNT_BYTES : begin], "big")
        key = SubKey(_unsealed(body[end : end + _SEALED_KEY_BYTES], own, _TAG_KEY))
        yield MemoryPart(key, np.frombuffer(body, dtype=TAG, count=count, offset=begin))
        end = begin + count * TAG_BYTES


def _earlier_parts(body: bytes, own: SubKey) -> Iterator[MemoryPart]:
    yield MemoryPart(own, np.frombuffer(body, dtype=TAG))


def _sealed(content: bytes, key: SubKey, what: bytes) -> bytes:
    nonce = secrets.token_bytes(_NONCE_BYTES)
    return nonce + AESGCM(key.unwrap()).encrypt(nonce, content, what)


def _unsealed(content: bytes, key: SubKey, what: bytes) -> bytes:
    return AESGCM(key.unwrap()).decrypt(content[:_NONCE_BYTES], content[_NONCE_BYTES:], what)


def _digest(key: SubKey, covered: bytes) -> bytes:
    return hashlib.blake2b(covered, key=key.unwrap(), digest_size=TAG_BYTES).digest()
