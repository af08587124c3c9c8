"""The memory of erased people as files: `forgotten`, and beside it the serial of the last one that was written.

`forgotten`:

    8 bytes                 MARK
    16 bytes                identity of the memory: random, the same as long as it is the same one
    8 bytes                 serial: how often it was written, big-endian
    16 bytes                keyed digest of both and of what follows
    60 bytes                the key of all tags, sealed: nonce, 32 bytes, seal
    8 bytes                 size of the list of imports, big-endian
    the list, sealed        JSON: how many tags are of people erased here; of each import id, sender, time and number
    16 bytes each           tags of keys: those of people erased here, then those of each import; each group ascends

`forgotten.serial`: the Mark of it, sealed. It is written after `forgotten`, so that a kill between the two leaves a
memory that is newer than its serial, which is believed; one that is older never is.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import secrets
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import orjson
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from audiencekit.errors import MemoryRefused
from audiencekit.process.crash_points import pass_point
from audiencekit.selection.erasure_witness import Mark
from audiencekit.selection.tag_arrays import TAG, Tags
from audiencekit.selection.tags import TAG_BYTES, Tagger
from audiencekit.state.directory import make_directory
from audiencekit.state.files import explained, other_number, read_file, replace_file
from audiencekit.state.keys import KEY_BYTES, StateKey, SubKey
from audiencekit.state.locks import locked

FORGOTTEN: Final = "forgotten"
SERIAL: Final = "forgotten.serial"
MARK: Final = b"AKFORGT4"
MAX_FORGOTTEN_BYTES: Final = 4_000_000_000
OTHER_KEY_HINT: Final = "give the AUDIENCEKIT_KEY, keyring or key file of that time, or restore the file"

# Another key than that of tags, which an export gives to other hosts.
_PURPOSE: Final = "forgotten file"
_IDENTITY_BYTES, _SERIAL_BYTES, _COUNT_BYTES, _NONCE_BYTES, _SEAL_BYTES = 16, 8, 8, 12, 16
_SEALED_KEY_BYTES: Final = _NONCE_BYTES + KEY_BYTES + _SEAL_BYTES
_TAG_KEY: Final = b"forgotten tag key"
_LIST: Final = b"forgotten imports"
_HEAD: Final = len(MARK) + _IDENTITY_BYTES + _SERIAL_BYTES
_MOST_SERIAL_FILE_BYTES: Final = 10_000


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ImportedPeople:
    """The tags of one import, ascending, and whose export it was: `sender` as named, `at` as text."""

    import_id: str
    sender: str
    at: str
    tags: Tags = field(repr=False)

    def to_json(self) -> dict[str, Any]:
        """The document of `forget --list`: tags are counted only."""
        return {"id": self.import_id, "at": self.at, "sender": self.sender, "keys": len(self.tags)}


@dataclass(frozen=True, slots=True, eq=False)
class People:
    """Tags under `key`: of people who were erased here, ascending, and of those who were imported."""

    key: SubKey
    own: Tags = field(repr=False)
    imports: tuple[ImportedPeople, ...] = ()

    def all(self) -> Tags:
        """Each tag once, ascending."""
        return np.unique(np.concatenate([self.own, *(each.tags for each in self.imports)]))

    def under(self, key: SubKey) -> People:
        """The same people with tags under another key."""
        before, after = Tagger(self.key, movable=True), Tagger(key, movable=True)
        imports = (replace(each, tags=np.sort(before.moved(each.tags, after))) for each in self.imports)
        return People(key, np.sort(before.moved(self.own, after)), tuple(imports))


@dataclass(frozen=True, slots=True, eq=False)
class Memory:
    """The people, with the marks that distinguish this version of the memory from others."""

    people: People
    identity: str
    serial: int
    digest: str
    keys: int

    @property
    def mark(self) -> Mark:
        """The mark of it that is noted elsewhere."""
        return Mark(identity=self.identity, serial=self.serial, keys=self.keys, digest=self.digest)


def read_memory(state_dir: Path, key: StateKey) -> Memory | None:
    """Return the memory of `state_dir`; None when there is none.

    Nothing is believed before the digest was checked. Raises MemoryRefused for a file that was cut off, changed, or
    written under another key, and InputOutputFailed for one that cannot be read.
    """
    path = state_dir / FORGOTTEN
    if not os.path.lexists(path):
        return None
    with explained("the memory of erased people cannot be read", path):
        content = read_file(path, MAX_FORGOTTEN_BYTES)
    if what := other_number(content, MARK):
        raise MemoryRefused(
            f"{str(path)!r}, the memory of erased people, {what}: nothing was sent",
            hint="use the version that wrote it; `audiencekit forgotten accept --empty` begins anew",
        )
    own, head = key.derive(_PURPOSE), content[:_HEAD]
    digest, body = content[_HEAD : _HEAD + TAG_BYTES], content[_HEAD + TAG_BYTES :]
    is_whole = head.startswith(MARK) and len(digest) == TAG_BYTES
    if not is_whole or not hmac.compare_digest(digest, _digest(own, head[len(MARK) :] + body)):
        raise MemoryRefused(
            f"{str(path)!r}, the memory of erased people, is damaged or was written under another state key",
            hint=f"{OTHER_KEY_HINT}: without it nothing is sent. `audiencekit forgotten accept --empty` begins anew",
        )
    return _memory(_read(body, own), head, digest)


def write_memory(state_dir: Path, key: StateKey, people: People, *, identity: str, serial: int) -> Memory:
    """The memory of these `people` in the place of the last one, durable. Raises InputOutputFailed."""
    own, covered = key.derive(_PURPOSE), bytes.fromhex(identity) + serial.to_bytes(_SERIAL_BYTES, "big")
    body = _written(people, own)
    digest = _digest(own, covered + body)
    path = state_dir / FORGOTTEN
    pass_point("before memory")
    with explained("the memory of erased people cannot be written", path):
        replace_file(path, MARK + covered + digest + body)
    pass_point("after memory")
    return _memory(people, MARK + covered, digest)


def no_people() -> People:
    """A memory that begins now."""
    return People(new_tag_key(), np.zeros(0, dtype=TAG))


def new_tag_key() -> SubKey:
    """A key for the tags of a memory that begins now."""
    return SubKey(secrets.token_bytes(KEY_BYTES))


def new_identity() -> str:
    """A new identity, for a memory that begins now."""
    return secrets.token_hex(_IDENTITY_BYTES)


def read_serial(state_dir: Path, key: StateKey) -> Mark | None:
    """Return the mark of the last memory that was written here; None when there is none. Raises MemoryRefused."""
    path = state_dir / SERIAL
    if not os.path.lexists(path):
        return None
    with explained("the serial of the memory of erased people cannot be read", path):
        content = read_file(path, _MOST_SERIAL_FILE_BYTES)
    with contextlib.suppress(InvalidTag, ValueError, KeyError, TypeError):
        return Mark.from_json(orjson.loads(_unsealed(content, key.derive(_PURPOSE), SERIAL.encode())))
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


def _memory(people: People, head: bytes, digest: bytes) -> Memory:
    identity, serial = head[len(MARK) : len(MARK) + _IDENTITY_BYTES], head[len(MARK) + _IDENTITY_BYTES :]
    return Memory(people, identity.hex(), int.from_bytes(serial, "big"), digest.hex(), len(people.all()))


def _written(people: People, own: SubKey) -> bytes:
    listed = orjson.dumps({"own": len(people.own), "imports": [each.to_json() for each in people.imports]})
    sealed = _sealed(listed, own, _LIST)
    groups = (people.own, *(each.tags for each in people.imports))
    return b"".join(
        [
            _sealed(people.key.unwrap(), own, _TAG_KEY),
            len(sealed).to_bytes(_COUNT_BYTES, "big"),
            sealed,
            *(tags.tobytes() for tags in groups),
        ]
    )


def _read(body: bytes, own: SubKey) -> People:
    """The people of a body whose digest was checked."""
    begin = _SEALED_KEY_BYTES + _COUNT_BYTES
    end = begin + int.from_bytes(body[_SEALED_KEY_BYTES:begin], "big")
    listed = orjson.loads(_unsealed(body[begin:end], own, _LIST))
    tags = np.frombuffer(body, dtype=TAG, offset=end)
    first, *others = np.split(tags, np.cumsum([listed["own"], *(each["keys"] for each in listed["imports"])])[:-1])
    imports = (
        ImportedPeople(import_id=each["id"], sender=each["sender"], at=each["at"], tags=found)
        for each, found in zip(listed["imports"], others, strict=True)
    )
    return People(SubKey(_unsealed(body[:_SEALED_KEY_BYTES], own, _TAG_KEY)), first, tuple(imports))


def _sealed(content: bytes, key: SubKey, what: bytes) -> bytes:
    nonce = secrets.token_bytes(_NONCE_BYTES)
    return nonce + AESGCM(key.unwrap()).encrypt(nonce, content, what)


def _unsealed(content: bytes, key: SubKey, what: bytes) -> bytes:
    return AESGCM(key.unwrap()).decrypt(content[:_NONCE_BYTES], content[_NONCE_BYTES:], what)


def _digest(key: SubKey, covered: bytes) -> bytes:
    return hashlib.blake2b(covered, key=key.unwrap(), digest_size=TAG_BYTES).digest()
