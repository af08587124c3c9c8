"""The rule for partner user ids: they are sent as they are, unless they are personal data, also in a disguised form."""

from __future__ import annotations

import base64
import binascii
import ipaddress
import re
from collections.abc import Iterator
from typing import Final
from urllib.parse import unquote

from audiencekit.identifiers.kinds import NormalizedPartnerUserId, Reason
from audiencekit.identifiers.texts import has_control, is_placeholder, plain_signs, trim
from audiencekit.limits import MAX_PARTNER_USER_ID_LENGTH

# --- The rule for partner user ids: passed as they are, not hashed (specification part 2, section 4.4) ---
#
# It is the only field that leaves in the clear, so a value that looks like a person's data is refused.

# Anywhere in the value: an address, with or without a name around it; a profile on the platform; a number with a plus.
CONTAINED: Final = (
    r"[^\s@＠][@＠][^\s@＠]|(?:^|[\s/.(])(?:x|twitter)\.com/\w|(?:^|[\s:(])[+＋][\s(]?\d(?:[\s().\-/]?\d){6}"
)
_CONTAINED: Final = re.compile(CONTAINED, re.IGNORECASE)

# The sign as people write it for machines not to read it; a plain word only in front of what ends as a domain does.
BRACKETED_AT: Final = r"\S[ ]?[(\[{<][ ]?(?:at|@)[ ]?[)\]}>][ ]?\S"
_BRACKETED_AT: Final = re.compile(BRACKETED_AT, re.IGNORECASE)
SPELLED_AT: Final = r"[A-Za-z0-9][._-][Aa][Tt][._-][A-Za-z0-9-]+\.[A-Za-z]{2,}"
SPOKEN_AT: Final = r"\S at [^\s@]{1,253}(?:\.| dot | ?[(\[{<]dot[)\]}>] ?)[^\W\d_]{2,63}"
_WORD_AT: Final = re.compile(rf"{SPOKEN_AT}$|{SPELLED_AT}$", re.IGNORECASE)
MAX_SPELLED: Final = 320  # characters of an address and a few; longer texts are not looked through
IP_ADDRESS: Final = r"\[?[0-9A-Fa-f:.]*(?:[0-9]\.[0-9]|:[0-9A-Fa-f]*:)[0-9A-Fa-f:.]*\]?(?::[0-9]{1,5})?"
_IP_ADDRESS: Final = re.compile(IP_ADDRESS)
_PORT: Final = re.compile(r"(?<=[\].])([0-9]{0,3}):[0-9]{1,5}$")
LONGEST_IP: Final = 55  # characters, with brackets and a port
LAYERS: Final = 2  # so many times a value may be encoded

# One of the first stands in all that `_CONTAINED` finds, one of the others in all of `_BRACKETED_AT`. A long text is
# looked through for them in a tenth of the time that a pattern takes.
_SIGNS_CONTAINED: Final = ("@", "＠", "+", "＋", ".com/")
_BRACKETS: Final = ("(", "[", "{", "<")

# Two to four words of letters only.
_WORD: Final = r"(?:[^\W\d_]+['’\-])*[^\W\d_]+\.?"
HANDLE: Final = r"[@＠]\w{1,15}"
PHONE_NUMBERS: Final = (
    r"(?i:tel:)?[(]?[+＋][\d\s().\-/‐-―]{7,24}",  # an international one
    r"(?:1[ .\-])?(?:\(\d{3}\) ?|\d{3}[ .\-])\d{3}[ .\-]\d{4}",  # a North American one
    r"\(?0\d{1,4}\)? ?[ ./\-] ?\d[\d .\-]{4,11}",  # one with its trunk zero, in groups
    r"\(0?\d{2,5}\) ?\d[\d .\-]{4,11}",  # one with its area code in brackets
)
IN_GROUPS: Final = r"\d{2,5}(?:[ \xa0]\d{2,5}){1,6}"  # one without any of these, of so many digits:
GROUPED_DIGITS: Final = r"(?:\D*\d){8,15}\D*"
IN_ANY_DIGITS: Final = r"[\d\s().\-/]{8,24}"  # one in the digits of another script
_WHOLE: Final = tuple(
    map(
        re.compile, (HANDLE, *PHONE_NUMBERS, f"(?={GROUPED_DIGITS}$){IN_GROUPS}", rf"(?=.*[^\x00-\x7f]){IN_ANY_DIGITS}")
    )
)
_LONGEST_WHOLE: Final = 64  # characters, and more than any of these
NAME: Final = rf"{_WORD}(?:,? {_WORD}){{1,3}}"
_NAME: Final = re.compile(NAME)
# A spreadsheet has made a number of it, and most of the digits may still be there.
MANGLED: Final = r"[+-]?[0-9][.,][0-9]+e\+[0-9]+"
_MANGLED: Final = re.compile(MANGLED, re.IGNORECASE | re.ASCII)
_LETTERS: Final = re.compile(r"[^\W\d_]{2,}")


def normalize_partner_user_id(text: str) -> NormalizedPartnerUserId | Reason:
    """Return `text` unchanged, with white space at its ends, or the reason not to send it.

    A hash or a UUID is allowed: partners use both as ids.
    """
    trimmed = trim(text)
    if not trimmed:
        return Reason.EMPTY
    if len(text) > MAX_PARTNER_USER_ID_LENGTH:
        return Reason.TOO_LONG
    if is_placeholder(trimmed):
        return Reason.PLACEHOLDER
    if has_control(text):
        return Reason.INVISIBLE_CHARACTER
    # U+FFFD stands where a decoder gave up: the id is no longer what it was.
    if "\ufffd" in text:
        return Reason.INVALID_SYNTAX
    if _MANGLED.fullmatch(trimmed):
        return Reason.EXCEL_MANGLED
    return Reason.LOOKS_PERSONAL if looks_personal(trimmed) else NormalizedPartnerUserId(text)


def looks_personal(text: str) -> bool:
    """Whether `text` looks like an e-mail address, a marked handle, a phone number, a name or an IP address.

    It may also be encoded. Bare digits do not, since numeric ids look like them: whole columns of them are judged
    elsewhere.
    """
    layer = [trim(text)]
    for _ in range(LAYERS):
        if any(map(_shows_a_person, layer)):
            return True
        layer = [trim(inner) for outer in layer for inner in decoded_forms(outer)]
    return any(map(_shows_a_person, layer))


def _shows_a_person(text: str) -> bool:
    if any(map(_has_shape, {text, plain_signs(text)})):
        return True
    # One word with letters that no machine writes into an id.
    return not text.isascii() and _LETTERS.fullmatch(text) is not None


def _has_shape(text: str) -> bool:
    if _has_any(text.lower(), _SIGNS_CONTAINED) and _CONTAINED.search(text):
        return True
    if _has_any(text, _BRACKETS) and _BRACKETED_AT.search(text):
        return True
    if _NAME.fullmatch(text) or (len(text) <= _LONGEST_WHOLE and any(shape.fullmatch(text) for shape in _WHOLE)):
        return True
    return (len(text) <= MAX_SPELLED and _WORD_AT.search(text) is not None) or _is_ip_address(text)


def _has_any(text: str, signs: tuple[str, ...]) -> bool:
    return any(sign in text for sign in signs)


def _is_ip_address(text: str) -> bool:
    if len(text) > LONGEST_IP or not _IP_ADDRESS.fullmatch(text):
        return False
    try:
        ipaddress.ip_address(_PORT.sub(r"\1", text).strip("[]") if text[0] == "[" or "." in text else text)
    except ValueError:
        return False
    return True


# --- Encoded texts, without a visible `@` or white space: percent signs, HTML, base64, hexadecimal ---

# Letters of base64 for which each of three bytes is ASCII and none is a control character.
_QUAD: Final = "[I-Za-f][A-HQ-Xg-nw-z0-3][ABEFIJMNQRUVYZcdghklopstwx014589][A-Za-z0-9+/_-]"
_TEXT_IN_BASE64: Final = rf"(?:{_QUAD}){{2,}}[A-Za-z0-9+/_-]{{0,3}}={{0,2}}"
_TEXT_IN_HEX: Final = r"(?:[2-7][0-9A-Fa-f])+40(?:[2-7][0-9A-Fa-f])+2[Ee](?:[4-7][0-9A-Fa-f]){2,}"  # an address
# By which texts of letters, digits and signs are recognised that may hold another; all other signs show by themselves.
ENCODED: Final = rf"{_TEXT_IN_BASE64}|{_TEXT_IN_HEX}"

_BASE64: Final = re.compile(_TEXT_IN_BASE64)
_HEX: Final = re.compile(_TEXT_IN_HEX)
# Ids of a few random characters may be decoded, too, and then hold any sign.
_PERSONAL: Final = re.compile(r"[^\s@]+@[^\s@]+\.[A-Za-z]{2,}|[A-Z][a-z]+(?: [A-Z][a-z]+){1,3}")
_URL_SAFE: Final = str.maketrans("-_", "+/")


def decoded_forms(text: str) -> Iterator[str]:
    """Return every text that `text` may encode; of base64 and hexadecimal only addresses and names."""
    if "%" in text and (unquoted := unquote(text)) != text:
        yield unquoted
    if "&" in text:
        from html import unescape  # its table of entities is large, and hardly any list has one

        if (unescaped := unescape(text)) != text:
            yield unescaped
    inner = bytes.fromhex(text).decode("ascii", "ignore") if _HEX.fullmatch(text) else _from_base64(text)
    if _PERSONAL.fullmatch(inner):
        yield inner


def _from_base64(text: str) -> str:
    if not _BASE64.fullmatch(text):
        return ""
    try:
        padded = text.rstrip("=").translate(_URL_SAFE)
        return base64.b64decode(padded + "=" * (-len(padded) % 4), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return ""
