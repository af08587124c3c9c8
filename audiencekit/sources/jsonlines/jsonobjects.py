"""One line of NDJSON as an object, and its values as text: numbers by their digits, never by their value."""

from __future__ import annotations

import json
import re
from typing import Any, Final

import orjson

from audiencekit.identifiers.kinds import Reason

Texts = str | list[str | None] | None
_KEY: Final = re.compile(rb'"[ \t\r]*:')  # at least one for each key, and more where a text has such letters
_TWICE: Final = object()


class NotText(Exception):
    """A value that is no text, number, or list of these."""


def read_object(line: bytes) -> dict[str, Any] | Reason:
    """The object that `line` is, or why it is none. A key that stands twice is a fault: which one is meant?"""
    try:
        found = orjson.loads(line)
    except orjson.JSONDecodeError:
        return Reason.RAGGED if _is_text(line) else Reason.ENCODING
    if not isinstance(found, dict):
        return Reason.RAGGED
    # A colon for each key is proof enough that none stands twice, and quick to see.
    if line.count(b":") == len(found) or len(_KEY.findall(line)) == _keys_of(found):
        return found
    return Reason.RAGGED if _exactly(line) is _TWICE else found


def texts_of(found: dict[str, Any], key: str, line: bytes) -> Texts:
    """The value of `key` in the object of `line`: text, several texts, None for null or nothing. Raises NotText."""
    value = found.get(key)
    if value is None or isinstance(value, str):
        return value
    if type(value) is int and value:
        return str(value)
    if isinstance(value, list) and all(part is None or isinstance(part, str) for part in value):
        return value
    if any(isinstance(part, dict | list | bool) for part in (value if isinstance(value, list) else [value])):
        raise NotText
    # Digits beyond 64 bits, fractions, exponents and minus zero are lost by now: the line is read once more.
    exact = _exactly(line)[key]
    return [_single(part) for part in exact] if isinstance(exact, list) else _single(exact)


def _keys_of(value: Any) -> int:
    """The keys of all objects in `value`, those within others too."""
    inner = value.values() if isinstance(value, dict) else value
    nested = sum(_keys_of(part) for part in inner if isinstance(part, dict | list))
    return nested + (len(value) if isinstance(value, dict) else 0)


def _single(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    raise NotText


def _exactly(line: bytes) -> Any:
    """The value of `line` with every number as it is written; _TWICE for an object with a key that stands twice."""
    return json.loads(line, parse_int=str, parse_float=str, object_pairs_hook=_distinct)


def _distinct(pairs: list[tuple[str, Any]]) -> Any:
    found = dict(pairs)
    return found if len(found) == len(pairs) else _TWICE


def _is_text(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True
