"""The head of a log as a signed note, which others keep: later they see whether the log still has all that it had.

The form is that of C2SP (c2sp.org/signed-note), with Ed25519. The text names the log, how many entries it has had, and
the hash of the last line, each in a line; it is no checkpoint of a tree.
"""

from __future__ import annotations

import base64
import hashlib
import re
from typing import Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from audiencekit.audit.chain import Head
from audiencekit.state.keys import StateKey
from audiencekit.state.signing import signing_key

MOST_NOTE_BYTES: Final = 16_384
_TITLE: Final = "audiencekit audit head 1"
_NAME: Final = "audiencekit/audit"
_ED25519: Final = b"\x01"
_KEY_ID_BYTES: Final = 4
_TEXT: Final = re.compile(
    rf"{_TITLE}\nlog ([0-9a-f]{{16}})\nentries (0|[1-9][0-9]{{0,17}})\nhash ([0-9A-Za-z+/]{{43}}=)\n"
    r"at [0-9TZ:.-]{1,40}\n"
)
_SIGNATURE: Final = re.compile(r"— (\S+) ([0-9A-Za-z+/]+={0,2})\n")


def write_note(head: Head, at: str, key: StateKey) -> str:
    """Return the signed note of a head that was taken `at` a time."""
    text = f"{_TITLE}\nlog {head.log}\nentries {head.number}\nhash {head.hash}\nat {at}\n"
    private = signing_key(key)
    signature = _key_id(private.public_key()) + private.sign(text.encode())
    return f"{text}\n— {_NAME} {base64.b64encode(signature).decode()}\n"


def verifier_key(key: StateKey) -> str:
    """Return the public key as verifiers of notes take it: name, key id, and type and key in base64."""
    public = signing_key(key).public_key()
    return f"{_NAME}+{_key_id(public).hex()}+{base64.b64encode(_ED25519 + public.public_bytes_raw()).decode()}"


def read_note(content: bytes, key: StateKey) -> Head | None:
    """Return the head in a note that `key`, or one before it, has signed; None for any other content."""
    try:
        text, found, signatures = content.decode().rpartition("\n\n")
    except ValueError:
        return None
    facts = _TEXT.fullmatch(text + "\n") if found else None
    if facts is None or _SIGNATURE.sub("", signatures) != "":
        return None
    publics = {_key_id(public): public for each in (key, *key.earlier) for public in [signing_key(each).public_key()]}
    is_signed = False
    for name, signature in _SIGNATURE.findall(signatures):
        try:
            raw = base64.b64decode(signature, validate=True)
        except ValueError:
            return None
        public = publics.get(raw[:_KEY_ID_BYTES])
        if name != _NAME or public is None:
            continue  # of another, who has signed the same text
        try:
            public.verify(raw[_KEY_ID_BYTES:], (text + "\n").encode())
        except InvalidSignature:
            return None
        is_signed = True
    return Head(facts[1], int(facts[2]), facts[3]) if is_signed else None


def _key_id(public: Ed25519PublicKey) -> bytes:
    named = _NAME.encode() + b"\n" + _ED25519 + public.public_bytes_raw()
    return hashlib.sha256(named).digest()[:_KEY_ID_BYTES]
