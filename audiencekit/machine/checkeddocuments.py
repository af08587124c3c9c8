"""JSON documents with a checksum of their own, as they are kept: a flipped bit is to be no other number."""

from __future__ import annotations

import hashlib
from typing import Any, Final

import orjson

CHECKSUM: Final = "checksum"
CHECKSUM_BYTES: Final = 8
MOST_DOCUMENT_BYTES: Final = 64_000_000


def encode_checked(document: dict[str, Any]) -> bytes:
    """`document` as it is kept. Raises TypeError for what is not JSON."""
    checked = {**document, CHECKSUM: _checksum(document)}
    return orjson.dumps(checked, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def decode_checked(content: bytes) -> tuple[dict[str, Any] | None, bool]:
    """The document, without its checksum, or None for what is none; and whether it is as it was written.

    Versions that wrote no checksum are believed.
    """
    try:
        document = orjson.loads(content)
    except ValueError:  # its message would quote the file
        return None, False
    if not isinstance(document, dict):
        return None, False
    return document, document.pop(CHECKSUM, None) in (None, _checksum(document))


def _checksum(document: dict[str, Any]) -> str:
    content = orjson.dumps(document, option=orjson.OPT_SORT_KEYS)
    return hashlib.blake2b(content, digest_size=CHECKSUM_BYTES).hexdigest()
