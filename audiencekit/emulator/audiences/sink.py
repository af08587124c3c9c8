"""Counting the users of a body without looking at each: for benchmarks, which the emulator must not slow down.

The hashes are cut out of the text, so that all users with the same fields look the same; each of the few looks is then
replaced by a digit. What is left is a small JSON text with the shape of the body, and is parsed as one. Hashes are not
checked, and digits where none belong may go unseen.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

import orjson

from audiencekit.emulator.audiences.operations import OPERATION_TYPES
from audiencekit.emulator.audiences.users import UserRules
from audiencekit.limits import MAX_OPERATIONS

_HASH_DIGITS: Final = b"0123456789abcdef"
_MAX_LOOKS: Final = 32


def count_users(body: bytes, rules: UserRules) -> int | None:
    """Return how many users a body has; None when it is not one that is plainly good."""
    pattern = _user_pattern(rules.fields)
    shape = body.translate(None, _HASH_DIGITS)
    for _ in range(_MAX_LOOKS):
        user = pattern.search(shape)
        if user is None:
            break
        shape = shape.replace(user.group(), b"0")
    try:
        return sum(map(_count, _operations(orjson.loads(shape))))
    except (ValueError, TypeError, KeyError):
        return None


def _user_pattern(names: Iterable[str]) -> re.Pattern[bytes]:
    name = b'"(?:' + b"|".join(map(_bare, names)) + b')"'
    field = name + rb':\[""(?:,"")*\]'
    return re.compile(rb"\{" + field + rb"(?:," + field + rb")*\}")


def _bare(word: str) -> bytes:
    return word.encode().translate(None, _HASH_DIGITS)


def _operations(document: Any) -> list[Any]:
    if not isinstance(document, list) or not 0 < len(document) <= MAX_OPERATIONS:
        raise ValueError
    return document


def _count(operation: dict[str, Any]) -> int:
    users = operation[_bare("params").decode()][_bare("users").decode()]
    known = operation[_bare("operation_type").decode()] in [_bare(word).decode() for word in OPERATION_TYPES]
    if not known or not isinstance(users, list) or not users:
        raise ValueError
    return len(users)
