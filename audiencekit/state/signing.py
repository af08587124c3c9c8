"""The key pair by which others know a state directory, and the notes that it signs.

It signs exports, entries of the audit log, heads of the log and receipts of erasures. The form of a note is that of
C2SP (c2sp.org/signed-note), with Ed25519.
"""

from __future__ import annotations

import base64
import hashlib
import re
from typing import Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from audiencekit.state.keys import StateKey

MOST_NOTE_BYTES: Final = 65_536
# Names of senders that other hosts have noted are made from the key for this purpose: it stays.
_PURPOSE: Final = "forgotten sender"
_NAME: Final = "audiencekit/state"
_ED25519: Final = b"\x01"
_KEY_ID_BYTES: Final = 4
_SIGNATURE: Final = re.compile(r"— (\S+) ([0-9A-Za-z+/]+={0,2})\n")


def signing_key(key: StateKey) -> Ed25519PrivateKey:
    """Return the key that signs for a state directory: the same for the same state key.

    Each message begins with words that no message of another kind has, so that no signature is taken for another one.
    """
    return Ed25519PrivateKey.from_private_bytes(key.derive(_PURPOSE).unwrap())


def sign_note(text: str, key: StateKey) -> str:
    """Return a note: the text, whose last letter is a line end, an empty line, and a line with the signature."""
    private = signing_key(key)
    signature = _key_id(private.public_key()) + private.sign(text.encode())
    return f"{text}\n— {_NAME} {base64.b64encode(signature).decode()}\n"


def open_note(content: bytes, key: StateKey) -> str | None:
    """Return the text of a note that `key`, or one before it, has signed; None for any other content."""
    try:
        text, found, signatures = content.decode().rpartition("\n\n")
    except ValueError:
        return None
    if not found or _SIGNATURE.sub("", signatures) != "":
        return None
    text += "\n"
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
            public.verify(raw[_KEY_ID_BYTES:], text.encode())
        except InvalidSignature:
            return None
        is_signed = True
    return text if is_signed else None


def verifier_key(key: StateKey) -> str:
    """Return the public key as verifiers of notes take it: name, key id, and type and key in base64."""
    public = signing_key(key).public_key()
    return f"{_NAME}+{_key_id(public).hex()}+{base64.b64encode(_ED25519 + public.public_bytes_raw()).decode()}"


def _key_id(public: Ed25519PublicKey) -> bytes:
    named = _NAME.encode() + b"\n" + _ED25519 + public.public_bytes_raw()
    return hashlib.sha256(named).digest()[:_KEY_ID_BYTES]
