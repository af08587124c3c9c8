"""JSON documents with a checksum of their own, as they are kept: a flipped bit is to be no other number."""

from __future__ import annotations

import hashlib
import json
from typing import Any, Final

import orjson

CHECKSUM: Final = "checksum"
CHECKSUM_BYTES: Final = 8
MOST_DOCUMENT_BYTES: Final = 64_000_000


def write_json(document: dict[str, Any], option: int = 0) -> bytes:
    """`document` as JSON; `option` is one of orjson. Raises TypeError for what is not JSON."""
    try:
        return orjson.dumps(document, option=option)
    except orjson.JSONEncodeError as error:
        if "surrogates" not in str(error):
            raise
    # A byte of a path that is not UTF-8 is half a character in Python, which orjson neither writes nor reads.
    return json.dumps(document, sort_keys=bool(option & orjson.OPT_SORT_KEYS)).encode()


def read_json(content: bytes | str) -> Any:
    """The document that `write_json` has written. Raises ValueError for what is not JSON."""
    try:
        return orjson.loads(content)
    except ValueError:
        if (b"\\ud" if isinstance(content, bytes) else "\\ud") not in content:  # type: ignore[operator]
            raise
    return json.loads(content)


def encode_checked(document: dict[str, Any]) -> bytes:
    """`document` as it is kept. Raises TypeError for what is not JSON."""
    checked = {**document, CHECKSUM: _checksum(document)}
    return write_json(checked, orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def decode_checked(content: bytes) -> tuple[dict[str, Any] | None, bool]:
    """The document, without its checksum, or None for what is none; and whether it is as it was written.

    Versions that wrote no checksum are believed.
    """
    try:
        document = read_json(content)
    except ValueError:  # its message would quote the file
        return None, False
    if not isinstance(document, dict):
        return None, False
    return document, document.pop(CHECKSUM, None) in (None, _checksum(document))


def _checksum(document: dict[str, Any]) -> str:
    content = write_json(document, orjson.OPT_SORT_KEYS)
    return hashlib.blake2b(content, digest_size=CHECKSUM_BYTES).hexdigest()
