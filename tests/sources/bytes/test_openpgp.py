"""A message of OpenPGP is known by its first packet; nothing else is taken for one."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given, strategies as st

from audiencekit.sources.bytes.openpgp import PgpContent, is_armored, pgp_content_of

# Headers by RFC 9580, section 4.2: of the old form with one, two and four octets of length, and of the new one with
# one, two, five and a partial one. The body begins with a version, or with the algorithm of a compression.
FOR_KEYS = [b"\x84\x5e\x03", b"\x85\x01\x0c\x03", b"\x86\0\0\1\x0c\x03", b"\xc1\x5e\x03", b"\xc1\xc0\x4c\x06"]
OTHERS = [
    (b"\x8c\x0d\x04", PgpContent.BY_PASSPHRASE),
    (b"\xc3\x1e\x05", PgpContent.BY_PASSPHRASE),
    (b"\xc3\xff\0\0\0\x0d\x06", PgpContent.BY_PASSPHRASE),
    (b"\x90\x0d\x03", PgpContent.IN_THE_CLEAR),
    (b"\x88\x75\x04", PgpContent.IN_THE_CLEAR),
    (b"\xa3\x01", PgpContent.IN_THE_CLEAR),
    (b"\xc8\xed\x02", PgpContent.IN_THE_CLEAR),
    (b"\x99\x01\x8d\x04", PgpContent.KEY),
    (b"\x95\x03\x98\x04", PgpContent.KEY),
]


@pytest.mark.parametrize(("head", "content"), [*((head, PgpContent.FOR_KEYS) for head in FOR_KEYS), *OTHERS])
def test_the_first_packet_tells(head: bytes, content: PgpContent) -> None:
    """In all forms of its header."""
    assert pgp_content_of(head + bytes(60)) == content


@pytest.mark.parametrize("before", [b"", b"\xef\xbb\xbf", b"\r\n  "])
def test_an_armour_is_looked_into(before: bytes) -> None:
    """Behind its headers."""
    letters = base64.b64encode(b"\x8c\x0d\x04" + bytes(45))
    text = before + b"-----BEGIN PGP MESSAGE-----\r\nComment: of a test\r\n\r\n" + letters + b"\r\n=abcd\r\n"
    assert is_armored(text)
    assert pgp_content_of(text) is PgpContent.BY_PASSPHRASE


@pytest.mark.parametrize("rest", [b"", b"\n", b"\n\n!!!!\n", b"\n\nAAAA\n"])
def test_an_armour_that_cannot_be_looked_into_is_left_to_gpg(rest: bytes) -> None:
    """It is no list in the clear, whatever is wrong with it."""
    assert pgp_content_of(b"-----BEGIN PGP MESSAGE-----" + rest) is PgpContent.FOR_KEYS


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"])), st.sampled_from(["utf-8", "cp1252", "cp037", "utf-16"]))
def test_no_text_is_taken_for_one(text: str, encoding: str) -> None:
    """In any encoding of lists."""
    data = text.encode(encoding, "ignore")
    assert is_armored(data) or pgp_content_of(data) is None


@given(st.binary(max_size=80))
def test_any_bytes_are_answered(data: bytes) -> None:
    """Rubbish is no fault."""
    assert pgp_content_of(data) in (None, *PgpContent)
