"""People who were erased on one host, made known on another: an export is signed by the one and sealed to the other.

    8 bytes                 MARK
    32 bytes                X25519 public key, drawn for this export alone
    sealed                  Ed25519 public key of the sender, its signature, and the content:
                            a key drawn for this export alone, and the tags of all people under it, ascending

The signature covers the key of the export, the recipient and the content, so that no export can be sealed to another
recipient. It is sealed with AES-256-GCM under a key that HKDF with SHA-256 makes of the shared secret, and that is used
once. Both pairs of a host are made from its state key. An importer brings the tags under its own key: neither host
needs identifiers or hashes, and a check asks as much for one import as for many.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
import secrets
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import numpy as np
from cryptography.exceptions import InvalidSignature, InvalidTag
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from audiencekit.errors import InputOutputFailed, MemoryRefused, UsageError
from audiencekit.personal import Personal, guarded
from audiencekit.records.plan_times import format_time
from audiencekit.selection.erased_people import append_line, change_memory, last_memory
from audiencekit.selection.erased_people_file import ImportedPeople, People, new_tag_key, no_people
from audiencekit.selection.erasure_witness import Witness
from audiencekit.selection.tag_arrays import TAG
from audiencekit.selection.tags import TAG_BYTES, Tagger
from audiencekit.state.files import create_file, explained, other_number
from audiencekit.state.key_command import GivenKey
from audiencekit.state.keys import KEY_BYTES, StateKey, SubKey, find_state_key
from audiencekit.state.signing import signing_key

MARK: Final = b"AKFORGX2"
MAX_EXPORT_BYTES: Final = 2_000_000_000  # of which about 125 million keys; the cipher takes a little more at once
MOST_IMPORTS: Final = 100  # that are remembered at once
_RECIPIENT, _SENDER, _CHECK_DIGITS = "ak1", "as1", 8
_NAME: Final = re.compile(rf"({_RECIPIENT}|{_SENDER})([0-9a-f]{{{2 * KEY_BYTES}}})([0-9a-f]{{{_CHECK_DIGITS}}})")
_RECIPIENT_PURPOSE: Final = "forgotten recipient"
_INFO: Final = b"audiencekit/1\0forgotten export"
_SIGNED: Final = b"audiencekit/1\0forgotten sender\0"
_NONCE: Final = bytes(12)  # of a key that is used once
_SEAL_BYTES, _SIGNATURE_BYTES, _ID_BYTES = 16, 64, 4
_FRAME_BYTES: Final = len(MARK) + KEY_BYTES + _SEAL_BYTES + KEY_BYTES + _SIGNATURE_BYTES + KEY_BYTES
_WRONG_HINT: Final = (
    "name the sender that `audiencekit forgotten sender` shows on the host that exports,"
    " which exports to the recipient that `audiencekit forgotten recipient` shows here"
)


class _Export(Personal[bytes]):
    """The content of a file: any, if it is no export."""


class _Tags(Personal[bytes]):
    """A key, and tags under it, of an export whose sender is known."""


def recipient_of(state_dir: Path, given: GivenKey) -> str:
    """The name by which others seal exports to this state directory: a public key with check digits.

    `given` is the state key, as in the settings. It is another one after the state key has changed.
    """
    return _name(_RECIPIENT, _opening_key(find_state_key(state_dir, given)).public_key().public_bytes_raw())


def sender_of(state_dir: Path, given: GivenKey) -> str:
    """The name by which others know exports of this state directory: a public key. As `recipient_of` otherwise."""
    return _name(_SENDER, signing_key(find_state_key(state_dir, given)).public_key().public_bytes_raw())


def export_memory(state_dir: Path, given: GivenKey, recipient: str, path: Path, witness: Witness | None = None) -> int:
    """Write all remembered people into a new file, sealed to `recipient`. Returns the number of keys.

    Raises UsageError for an invalid recipient, MemoryRefused for a memory that is not the last, and InputOutputFailed,
    also for a file that is there.
    """
    public = _parsed_recipient(recipient)
    memory = last_memory(state_dir, given, witness)
    people = memory.people if memory else no_people()
    tags = np.sort(Tagger(people.key, movable=True).moved(people.all(), Tagger(once := new_tag_key(), movable=True)))
    if tags.nbytes > MAX_EXPORT_BYTES:
        raise InputOutputFailed("the memory of erased people is too large for an export: nothing was written")
    sealed = _sealed(_Tags(once.unwrap() + tags.tobytes()), public, signing_key(find_state_key(state_dir, given)))
    with explained("the export cannot be written", path, hint="name another file"):
        if not create_file(path, sealed):
            raise InputOutputFailed(f"{str(path)!r} exists: nothing was written", hint="name another file")
    return len(tags)


def import_memory(
    state_dir: Path, given: GivenKey, path: Path, sender: str, witness: Witness | None = None
) -> dict[str, Any]:
    """Remember everyone in an export of `sender`, besides those who are remembered here; the line of the log.

    Its `imported` is how many keys the export has, `keys` how many are remembered from now on, `import` the id by which
    it can be withdrawn. Raises UsageError for an invalid sender, MemoryRefused for an export of anyone else or to
    another recipient, a damaged one, too many imports, and a memory here that is not the last, and InputOutputFailed.
    """
    public = _parsed(sender, _SENDER)
    if public is None:
        hint = "give what `audiencekit forgotten sender` shows on the host that exports"
        raise UsageError("invalid sender: nothing was imported", hint=hint)
    key = find_state_key(state_dir, given)
    with explained("the export cannot be read", path, hint="give a file that `audiencekit forgotten export` wrote"):
        export = _read(path)
    if what := other_number(export.unwrap()[: len(MARK)], MARK):
        hint = "have the same version of audiencekit on both hosts, and export again"
        raise MemoryRefused(f"{str(path)!r} {what}: nothing was added", hint=hint)
    content = _unsealed(export, _opening_key(key), public)
    if content is None:
        raise MemoryRefused(
            f"{str(path)!r} is damaged, no export, of another sender or to another recipient: nothing was added",
            hint=_WRONG_HINT,
        )
    last_memory(state_dir, given, witness)  # one that is refused is not logged as changed
    import_id, now = secrets.token_hex(_ID_BYTES), format_time(datetime.now(UTC))
    imported = ImportedPeople(import_id=import_id, sender=sender.strip(), at=now, tags=np.zeros(0, dtype=TAG))
    mark, _ = change_memory(state_dir, key, lambda people: _with_import(people, imported, content), witness)
    count = (len(content.unwrap()) - KEY_BYTES) // TAG_BYTES
    return append_line(
        state_dir, imported=count, keys=mark.keys, serial=mark.serial, sender=imported.sender, **{"import": import_id}
    )


def list_imports(state_dir: Path, given: GivenKey, witness: Witness | None = None) -> list[dict[str, Any]]:
    """The imports that are remembered, oldest first: `id`, `at`, `sender`, `keys` of each. Raises as `last_memory`."""
    memory = last_memory(state_dir, given, witness)
    return [each.to_json() for each in memory.people.imports] if memory else []


def withdraw_import(state_dir: Path, given: GivenKey, import_id: str, witness: Witness | None = None) -> dict[str, Any]:
    """Take one import back: its people can be sent again, but for those who were erased here or in another import.

    The line of the log comes back. Raises UsageError for an id that no import has, and as `last_memory`.
    """
    found = [each for each in list_imports(state_dir, given, witness) if each["id"] == import_id]
    if not found:
        raise UsageError(
            "no import has this id: nothing was withdrawn",
            hint="`audiencekit forgotten imports` lists them with their ids",
        )
    mark, _ = change_memory(
        state_dir, find_state_key(state_dir, given), lambda people: _without_import(people, import_id), witness
    )
    return append_line(state_dir, withdrawn=import_id, sender=found[0]["sender"], keys=mark.keys, serial=mark.serial)


@guarded
def _with_import(people: People, imported: ImportedPeople, content: _Tags) -> People:
    """Return `people` with the import, in place of imports of the same sender whose people it contains.

    Raises MemoryRefused when there are too many imports.
    """
    key, tags = content.unwrap()[:KEY_BYTES], np.frombuffer(content.unwrap(), dtype=TAG, offset=KEY_BYTES)
    moved = np.unique(Tagger(SubKey(key), movable=True).moved(tags, Tagger(people.key, movable=True)))
    others = [each for each in people.imports if each.sender != imported.sender or not np.isin(each.tags, moved).all()]
    if len(others) >= MOST_IMPORTS:
        raise MemoryRefused(
            f"{MOST_IMPORTS} imports are remembered, and no more can be: nothing was added",
            hint="`audiencekit forgotten imports` lists them; withdraw one whose people another one holds, too",
        )
    return replace(people, imports=(*others, replace(imported, tags=moved)))


def _without_import(people: People, import_id: str) -> People:
    return replace(people, imports=tuple(each for each in people.imports if each.import_id != import_id))


def _opening_key(key: StateKey) -> X25519PrivateKey:
    return X25519PrivateKey.from_private_bytes(key.derive(_RECIPIENT_PURPOSE).unwrap())


def _name(prefix: str, public: bytes) -> str:
    return f"{prefix}{public.hex()}{_check_digits(prefix, public)}"


def _check_digits(prefix: str, public: bytes) -> str:
    return hashlib.sha256(prefix.encode() + public).hexdigest()[:_CHECK_DIGITS]


def _parsed(name: str, prefix: str) -> bytes | None:
    found = _NAME.fullmatch(name.strip())
    public = bytes.fromhex(found[2]) if found else b""
    return public if found and found[1] == prefix and _check_digits(prefix, public) == found[3] else None


def _parsed_recipient(name: str) -> X25519PublicKey:
    """Raises UsageError, also for a key with which every secret is shared: anyone could open the export."""
    public = _parsed(name, _RECIPIENT)
    with contextlib.suppress(ValueError):
        if public is not None:
            recipient = X25519PublicKey.from_public_bytes(public)
            X25519PrivateKey.generate().exchange(recipient)
            return recipient
    hint = "give what `audiencekit forgotten recipient` shows on the host that is to import it"
    raise UsageError("invalid recipient: nothing was exported", hint=hint)


@guarded
def _sealed(content: _Tags, recipient: X25519PublicKey, sender: Ed25519PrivateKey) -> bytes:
    once = X25519PrivateKey.generate()
    public, to = once.public_key().public_bytes_raw(), recipient.public_bytes_raw()
    key = _key_of(once.exchange(recipient), public, to)
    signature = sender.sign(_signed((public, to), content.unwrap()))
    signed = sender.public_key().public_bytes_raw() + signature + content.unwrap()
    return MARK + public + AESGCM(key).encrypt(_NONCE, signed, MARK)


def _signed(ends: Sequence[bytes], content: bytes) -> bytes:
    """The message that is signed: a digest, since the content can be large."""
    return _SIGNED + b"".join(ends) + hashlib.sha256(content).digest()


def _read(path: Path) -> _Export:
    with path.open("rb") as file:
        return _Export(file.read(MAX_EXPORT_BYTES + _FRAME_BYTES))


@guarded
def _unsealed(export: _Export, own: X25519PrivateKey, sender: bytes) -> _Tags | None:
    """The content; None for a file that is no export of the sender to the recipient."""
    content, begin = export.unwrap(), len(MARK) + KEY_BYTES
    public, to = content[len(MARK) : begin], own.public_key().public_bytes_raw()
    if not content.startswith(MARK) or len(public) < KEY_BYTES:
        return None
    with contextlib.suppress(InvalidTag, InvalidSignature, ValueError):
        shared = own.exchange(X25519PublicKey.from_public_bytes(public))
        signed = AESGCM(_key_of(shared, public, to)).decrypt(_NONCE, content[begin:], MARK)
        signature, found = signed[KEY_BYTES : KEY_BYTES + _SIGNATURE_BYTES], signed[KEY_BYTES + _SIGNATURE_BYTES :]
        if signed[:KEY_BYTES] != sender or len(found) % TAG_BYTES or len(found) < KEY_BYTES:
            return None
        Ed25519PublicKey.from_public_bytes(sender).verify(signature, _signed((public, to), found))
        return _Tags(found)
    return None


def _key_of(shared: bytes, once: bytes, recipient: bytes) -> bytes:
    return HKDF(SHA256(), KEY_BYTES, salt=once + recipient, info=_INFO).derive(shared)
