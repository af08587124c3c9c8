"""Heads as signed notes, in the form of C2SP (c2sp.org/signed-note)."""

from __future__ import annotations

import base64
import hashlib

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from audiencekit.audit.chain import Head, read_note, write_note
from audiencekit.state.keys import StateKey
from audiencekit.state.signing import verifier_key
from tests.audit.edits import KEY, STRANGER

HEAD = Head("0123456789abcdef", 42, base64.b64encode(b"h" * 32).decode())
NOTE = write_note(HEAD, "2026-01-01T00:00:00Z", KEY)


def test_a_note_has_the_form_of_c2sp() -> None:
    """Text, an empty line, a signature line; the key id and the signature are those of the specification."""
    text, signatures = NOTE.split("\n\n")
    dash, name, encoded = signatures.removesuffix("\n").split(" ")
    shown, key_id, typed = verifier_key(KEY).split("+", 2)
    public = base64.b64decode(typed)
    assert (dash, name, public[:1]) == ("—", shown, b"\x01")
    assert not set(name) & set(" +")
    computed = hashlib.sha256(name.encode() + b"\n" + public).digest()[:4]
    raw = base64.b64decode(encoded)
    assert (raw[:4], key_id) == (computed, computed.hex())
    Ed25519PublicKey.from_public_bytes(public[1:]).verify(raw[4:], (text + "\n").encode())


def test_a_note_is_read_by_its_key_and_by_a_later_one() -> None:
    """Also with the signature of another, who has signed it, too."""
    later, other = StateKey(b"\x03" * 32, (KEY,)), write_note(HEAD, "2026-01-01T00:00:00Z", STRANGER)
    assert [read_note(NOTE.encode(), key) for key in (KEY, later)] == [HEAD, HEAD]
    witnessed = NOTE + "— a.witness/x " + other.rpartition(" ")[2]
    assert read_note(witnessed.encode(), KEY) == HEAD


@pytest.mark.parametrize(
    "content",
    [
        b"", b"\xff", NOTE.encode()[:-1], NOTE.replace("entries 42", "entries 41").encode(), NOTE.encode() * 2,
        NOTE.replace("audiencekit/state", "audiencekit/other").encode(),
        write_note(HEAD, "2026-01-01T00:00:00Z", STRANGER).encode(), NOTE.partition("\n\n")[0].encode() + b"\n\n",
        NOTE.replace("log 0", "log 1").encode(), NOTE.replace("\nhash", "\nhush").encode(),
    ],
    ids=range(10),
)  # fmt: skip
def test_a_note_that_was_changed_is_none(content: bytes) -> None:
    """Nor is one of another key, or without a signature."""
    assert read_note(content, KEY) is None
