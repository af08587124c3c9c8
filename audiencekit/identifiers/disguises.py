"""Texts written in another way, without a visible `@` or white space: percent signs, HTML, base64, hexadecimal."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from typing import Final
from urllib.parse import unquote

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


def undisguised(text: str) -> Iterator[str]:
    """Every text that `text` may stand for; of base64 and hexadecimal, addresses and names only."""
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
