"""The lines of the audit log, and the rules by which each belongs to the one before.

    {"format":"audiencekit-audit/1","log":…,"after":0,"hash":…,"at":…,"key":…,"signature":…}     the opening
    {"number":1,"previous":…,"at":…,"who":…,"key":…,"command":…,"step":…, …,"signature":…}        entries

Each line is one JSON object. `signature` is its last field: Ed25519 over the bytes of the line before that field,
behind words that only this log has. `previous` is the SHA-256 of the whole line before, with its line end, in base64.
The opening says after how many entries the file begins, and with which hash: none and the digest of the log's id, or
those of the last entry that a retention has cut. `key` names the public key, which is another one after a rotation of
the state key, and is never an earlier one again.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from audiencekit.state.keys import StateKey
from audiencekit.state.signing import open_note, sign_note, signing_key

FORM: Final = "audiencekit-audit/1"
MOST_LINE_BYTES: Final = 65_536
_SIGNED: Final = b"audiencekit/1\0audit\0"
_KEY_DIGITS: Final = 16
_BEFORE: Final = b',"signature":"'
_AFTER: Final = b'"}\n'
_SIGNATURE_DIGITS: Final = 88  # of base64
_TITLE: Final = "audiencekit audit head 1"
_TEXT: Final = re.compile(
    rf"{_TITLE}\nlog ([0-9a-f]{{16}})\nentries (0|[1-9][0-9]{{0,17}})\nhash ([0-9A-Za-z+/]{{43}}=)\n"
    r"at [0-9TZ:.-]{1,40}\n"
)
_TAIL_BYTES: Final = len(_BEFORE) + _SIGNATURE_DIGITS + len(_AFTER)


@dataclass(frozen=True, slots=True)
class Head:
    """The end of a log: its id, how many entries it has had, and the SHA-256 of the last line, in base64."""

    log: str
    number: int
    hash: str


def hash_of(line: bytes) -> str:
    """Return the SHA-256 of a whole line, in base64."""
    return base64.b64encode(hashlib.sha256(line).digest()).decode()


def first_hash(log: str) -> str:
    """Return the hash before the first entry of a log."""
    return hash_of(log.encode())


def key_id(public: Ed25519PublicKey) -> str:
    """Return the name of a public key in the lines that it signs."""
    return hashlib.sha256(public.public_bytes_raw()).hexdigest()[:_KEY_DIGITS]


def sign_line(facts: Mapping[str, Any], key: Ed25519PrivateKey) -> bytes:
    """Return the line with these facts, the name of the key and its signature."""
    body = orjson.dumps({**facts, "key": key_id(key.public_key())})
    signature = base64.b64encode(key.sign(_SIGNED + body))
    return body[:-1] + _BEFORE + signature + _AFTER


def parse_line(line: bytes) -> dict[str, Any] | None:
    """Return the facts of a line, None when it is none. Its signature is not looked at."""
    if not line.endswith(_AFTER) or line[-_TAIL_BYTES:][: len(_BEFORE)] != _BEFORE:
        return None
    try:
        found = orjson.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def is_torn(line: bytes) -> bool:
    """Whether a kill or a loss of power can have left this as the last line: its end, or a part of it, is missing."""
    return not line.endswith(b"\n") or b"\0" in line


class Keys:
    """The public keys of a log, the oldest first."""

    def __init__(self, keys: Sequence[Ed25519PublicKey]) -> None:
        self._keys = {key_id(key): (place, key) for place, key in enumerate(keys)}

    @classmethod
    def of(cls, key: StateKey) -> Keys:
        """The signing keys that follow from a state key and from the keys before it."""
        return cls([signing_key(each).public_key() for each in (*reversed(key.earlier), key)])

    def place(self, name: object) -> int | None:
        """Return the place of the key with this name, in order of time; None for a key that is unknown."""
        found = self._keys.get(name) if isinstance(name, str) else None
        return None if found is None else found[0]

    def has_signed(self, line: bytes, name: str) -> bool:
        """Whether the key with this name, which is known, has signed the line."""
        body, signature = line[:-_TAIL_BYTES] + b"}", line[-_TAIL_BYTES:][len(_BEFORE) : -len(_AFTER)]
        try:
            self._keys[name][1].verify(base64.b64decode(signature, validate=True), _SIGNED + body)
        except (InvalidSignature, ValueError):
            return False
        return True


# --- The head as a signed note, which others keep: it shows later whether the log still has all entries ---
#
# The text names the log, how many entries it has had, and the hash of the last line; it is no checkpoint of a tree.


def write_note(head: Head, at: str, key: StateKey) -> str:
    """Return the signed note of a head that was taken `at` a time."""
    return sign_note(f"{_TITLE}\nlog {head.log}\nentries {head.number}\nhash {head.hash}\nat {at}\n", key)


def read_note(content: bytes, key: StateKey) -> Head | None:
    """Return the head in a note that `key`, or one before it, has signed; None for any other content."""
    facts = _TEXT.fullmatch(open_note(content, key) or "")
    return None if facts is None else Head(facts[1], int(facts[2]), facts[3])
