"""JSON documents as they are kept: with their format, and a checksum, so that a flipped bit is no other number."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any, Final

import orjson

from audiencekit.errors import InputOutputFailed

FORMAT: Final = "format"
CHECKSUM: Final = "checksum"
CHECKSUM_BYTES: Final = 8
MOST_DOCUMENT_BYTES: Final = 64_000_000
_ANY_FORMAT: Final = re.compile(r"audiencekit-[a-z-]{1,30}/[0-9]{1,6}")


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


def encode_checked(document: dict[str, Any], form: str) -> bytes:
    """`document` as it is kept in the format `form`, a name and a number. Raises TypeError for what is not JSON."""
    document = {FORMAT: form, **document}
    checked = {**document, CHECKSUM: _checksum(document)}
    return write_json(checked, orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def decode_checked(content: bytes, form: str, path: Path) -> tuple[dict[str, Any] | None, bool]:
    """The document of the file at `path`, or None for what is none; and whether it is as it was written.

    Raises InputOutputFailed for one that was written so in another format than `form`.
    """
    try:
        document = read_json(content)
    except ValueError:  # its message would quote the file
        return None, False
    if not isinstance(document, dict):
        return None, False
    is_as_written = document.pop(CHECKSUM, None) == _checksum(document)
    found = document.pop(FORMAT, None)
    if is_as_written and found != form and _ANY_FORMAT.fullmatch(str(found)):
        raise InputOutputFailed(
            f"{str(path)!r} is in format {found}, and this version of audiencekit reads {form} only",
            hint="use the version that wrote it",
        )
    return document, is_as_written and found == form


def _checksum(document: dict[str, Any]) -> str:
    content = write_json(document, orjson.OPT_SORT_KEYS)
    return hashlib.blake2b(content, digest_size=CHECKSUM_BYTES).hexdigest()
