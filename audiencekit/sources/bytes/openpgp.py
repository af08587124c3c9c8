"""Files of OpenPGP (RFC 9580), in letters or not, recognised by their first packet and never by a name."""

from __future__ import annotations

import base64
import binascii
import codecs
from enum import StrEnum
from typing import Final

HEAD_BYTES: Final = 2_048  # the headers of an armour, and the first octets of the first packet
ARMOR_END: Final = b"-----END PGP MESSAGE-----"
_ARMOR: Final = b"-----BEGIN PGP MESSAGE-----"
_LINES: Final = 2  # of the armour, of which the first may be short
_OLD_LENGTH_OCTETS: Final = (1, 2, 4, 0)
_FOUR_OCTETS: Final = 255  # says that the length follows, in four octets
_TWO_OCTETS: Final = range(192, 224)


class PgpContent(StrEnum):
    """The content of a file of OpenPGP, in words."""

    FOR_KEYS = "a list encrypted with PGP"
    BY_PASSPHRASE = "a PGP message encrypted with a passphrase"  # noqa: S105
    IN_THE_CLEAR = "a PGP message that is not encrypted"
    KEY = "a PGP key"


# By the tag of the first packet (section 5): what follows, and the versions of the packet, or the algorithms of the
# compression. No text has these octets where they stand, so that a list in the clear is never taken for a message.
_PACKETS: Final = {
    1: (PgpContent.FOR_KEYS, (3, 6)),
    2: (PgpContent.IN_THE_CLEAR, (3, 4, 6)),
    3: (PgpContent.BY_PASSPHRASE, (4, 5, 6)),
    4: (PgpContent.IN_THE_CLEAR, (3, 6)),
    5: (PgpContent.KEY, (3, 4, 5, 6)),
    6: (PgpContent.KEY, (3, 4, 5, 6)),
    8: (PgpContent.IN_THE_CLEAR, (0, 1, 2, 3)),
}


def pgp_content_of(first_bytes: bytes) -> PgpContent | None:
    """The content of a file that begins so; None when it is not OpenPGP.

    An armour whose first packet is unknown counts as a message for keys: gpg then says what is wrong with it.
    """
    if not is_armored(first_bytes):
        return _content_of_packet(first_bytes)
    return _content_of_packet(_unarmored(first_bytes)) or PgpContent.FOR_KEYS


def is_armored(first_bytes: bytes) -> bool:
    """Whether it begins as a message in letters; a byte order mark or blanks may come before."""
    return first_bytes.removeprefix(codecs.BOM_UTF8).lstrip().startswith(_ARMOR)


def _unarmored(first_bytes: bytes) -> bytes:
    """The first octets behind the headers of an armour (section 6.2)."""
    lines = [line.strip() for line in first_bytes[first_bytes.index(_ARMOR) :].splitlines()]
    begin = lines.index(b"") + 1 if b"" in lines else len(lines)
    letters = b"".join(lines[begin : begin + _LINES]).partition(b"=")[0]  # padding, or the line of a checksum
    try:
        return base64.b64decode(letters[: len(letters) // 4 * 4], validate=True)
    except binascii.Error:
        return b""


def _content_of_packet(data: bytes) -> PgpContent | None:
    """By the header of the first packet (section 4.2) and the octet behind it."""
    if len(data) < 2 or not data[0] & 0x80:
        return None
    if data[0] & 0x40:
        tag = data[0] & 0x3F
        length_octets = 5 if data[1] == _FOUR_OCTETS else 2 if data[1] in _TWO_OCTETS else 1
    else:
        tag = (data[0] >> 2) & 0xF
        length_octets = _OLD_LENGTH_OCTETS[data[0] & 3]
    content, octets = _PACKETS.get(tag, (None, ()))
    return content if data[1 + length_octets : 2 + length_octets] in [bytes([octet]) for octet in octets] else None
