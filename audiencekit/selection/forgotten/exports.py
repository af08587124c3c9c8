"""People who were erased on one host, made known on another: an export is sealed to the host that imports it.

    8 bytes                 MARK
    32 bytes                X25519 public key, drawn for this export alone
    sealed                  parts of the memory: the key of their tags, how many there are, the tags

It is sealed with AES-256-GCM, under a key that HKDF with SHA-256 makes of the shared secret, and which is used once. A
recipient's own pair is made from its state key. The tags of an import stay under the key that they were made under, so
that neither host needs identifiers or hashes. What was imported before stays: no order of imports forgets a person.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from audiencekit.errors import InputOutputFailed, MemoryRefused, UsageError
from audiencekit.machine.erasurewitness import Witness
from audiencekit.machine.keycommand import GivenKey
from audiencekit.machine.keys import KEY_BYTES, StateKey, SubKey, find_state_key
from audiencekit.machine.privatefiles import create_file, explained
from audiencekit.personal import Personal, guarded
from audiencekit.selection.forgotten.file import MemoryPart
from audiencekit.selection.forgotten.log import append_line
from audiencekit.selection.forgotten.people import add_parts, last_memory
from audiencekit.selection.tags import TAG, TAG_BYTES

MARK: Final = b"AKFORGX1"
MAX_EXPORT_BYTES: Final = 2_000_000_000  # of which about 125 million keys; the cipher takes a little more at once
_PREFIX, _CHECK_DIGITS = "ak1", 8
_RECIPIENT: Final = re.compile(rf"{_PREFIX}([0-9a-f]{{{2 * KEY_BYTES}}})([0-9a-f]{{{_CHECK_DIGITS}}})")
_PURPOSE: Final = "forgotten recipient"
_INFO: Final = b"audiencekit/1\0forgotten export"
_NONCE: Final = bytes(12)  # of a key that is used once
_COUNT_BYTES, _SEAL_BYTES = 8, 16
_FRAME_BYTES: Final = len(MARK) + KEY_BYTES + _SEAL_BYTES
_WRONG_HINT: Final = "export it to the recipient that `audiencekit forgotten recipient` shows on this host"


class _Export(Personal[bytes]):
    """The content of a file: any, if it is no export."""


def recipient_of(state_dir: Path, given: GivenKey) -> str:
    """The name by which others seal exports to this state directory: a public key with check digits.

    `given` is the state key, as in the settings. It is another one after the state key has changed.
    """
    public = _private_key(find_state_key(state_dir, given)).public_key().public_bytes_raw()
    return f"{_PREFIX}{public.hex()}{_check_digits(public)}"


def export_memory(state_dir: Path, given: GivenKey, recipient: str, path: Path, witness: Witness | None = None) -> int:
    """Write everyone who is remembered here into a new file, sealed to `recipient`; how many keys these are.

    Raises UsageError for an invalid recipient, MemoryRefused for a memory that is not the last, and InputOutputFailed,
    also for a file that is there.
    """
    public = _parsed(recipient)
    memory = last_memory(state_dir, given, witness)
    parts = memory.parts if memory else ()
    if sum(KEY_BYTES + _COUNT_BYTES + part.tags.nbytes for part in parts) > MAX_EXPORT_BYTES:
        raise InputOutputFailed("the memory of erased people is too large for an export: nothing was written")
    with explained("the export cannot be written", path, hint="name another file"):
        if not create_file(path, _sealed(parts, public)):
            raise InputOutputFailed(f"{str(path)!r} exists: nothing was written", hint="name another file")
    return memory.keys if memory else 0


def import_memory(state_dir: Path, given: GivenKey, path: Path, witness: Witness | None = None) -> dict[str, Any]:
    """Remember everyone in an export, besides those who are remembered here; the line of the log.

    Its `imported` is how many keys the export has, `keys` how many are remembered from now on. Raises MemoryRefused for
    an export to another recipient, a damaged one, and a memory here that is not the last, and InputOutputFailed.
    """
    key = find_state_key(state_dir, given)
    with explained("the export cannot be read", path, hint="give a file that `audiencekit forgotten export` wrote"):
        parts = _opened(path, _private_key(key))
    if parts is None:
        raise MemoryRefused(
            f"{str(path)!r} is damaged, no export, or sealed to another recipient: nothing was added", hint=_WRONG_HINT
        )
    last_memory(state_dir, given, witness)  # one that is refused is not logged as changed
    imported = sum(len(part.tags) for part in parts)
    mark, _ = add_parts(state_dir, key, lambda own: parts, witness)
    return append_line(state_dir, imported=imported, keys=mark.keys, serial=mark.serial)


def _private_key(key: StateKey) -> X25519PrivateKey:
    return X25519PrivateKey.from_private_bytes(key.derive(_PURPOSE).unwrap())


def _check_digits(public: bytes) -> str:
    return hashlib.sha256(public).hexdigest()[:_CHECK_DIGITS]


def _parsed(recipient: str) -> X25519PublicKey:
    found = _RECIPIENT.fullmatch(recipient.strip())
    if not found or _check_digits(bytes.fromhex(found[1])) != found[2]:
        hint = "give what `audiencekit forgotten recipient` shows on the host that is to import it"
        raise UsageError("invalid recipient: nothing was exported", hint=hint)
    return X25519PublicKey.from_public_bytes(bytes.fromhex(found[1]))


@guarded
def _sealed(parts: Iterable[MemoryPart], recipient: X25519PublicKey) -> bytes:
    once = X25519PrivateKey.generate()
    public = once.public_key().public_bytes_raw()
    key = _key_of(once.exchange(recipient), public, recipient.public_bytes_raw())
    return MARK + public + AESGCM(key).encrypt(_NONCE, b"".join(map(_written, parts)), MARK)


def _opened(path: Path, own: X25519PrivateKey) -> list[MemoryPart] | None:
    """The parts; None for a file that is no export to the recipient. Raises OSError."""
    with path.open("rb") as file:
        return _unsealed(_Export(file.read(MAX_EXPORT_BYTES + _FRAME_BYTES)), own)


@guarded
def _unsealed(export: _Export, own: X25519PrivateKey) -> list[MemoryPart] | None:
    content, begin = export.unwrap(), len(MARK) + KEY_BYTES
    public = content[len(MARK) : begin]
    if not content.startswith(MARK) or len(public) < KEY_BYTES:
        return None
    with contextlib.suppress(InvalidTag, ValueError):
        shared = own.exchange(X25519PublicKey.from_public_bytes(public))
        key = _key_of(shared, public, own.public_key().public_bytes_raw())
        return list(_parts(AESGCM(key).decrypt(_NONCE, content[begin:], MARK)))
    return None


def _key_of(shared: bytes, once: bytes, recipient: bytes) -> bytes:
    return HKDF(SHA256(), KEY_BYTES, salt=once + recipient, info=_INFO).derive(shared)


def _written(part: MemoryPart) -> bytes:
    return part.key.unwrap() + len(part.tags).to_bytes(_COUNT_BYTES, "big") + part.tags.tobytes()


def _parts(content: bytes) -> Iterator[MemoryPart]:
    """Raises ValueError for a content that no exporter writes."""
    end = 0
    while end < len(content):
        begin = end + KEY_BYTES + _COUNT_BYTES
        count = int.from_bytes(content[begin - _COUNT_BYTES : begin], "big")
        if begin + count * TAG_BYTES > len(content):
            raise ValueError("cut off")
        tags = np.frombuffer(content, dtype=TAG, count=count, offset=begin)
        yield MemoryPart(SubKey(content[end : end + KEY_BYTES]), tags)
        end = begin + count * TAG_BYTES
