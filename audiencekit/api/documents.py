"""Strict JSON: bytes -> what they say, or nothing. What can be read in two ways is not read."""

from __future__ import annotations

import json
import math
import re
from typing import Any, Final, NoReturn, TypeAlias

Document: TypeAlias = dict[str, Any]

_HALF: Final = re.compile("[\ud800-\udfff]")
_HALF_ESCAPED: Final = re.compile(rb"\\u[dD][89a-fA-F]")


def read_document(body: bytes) -> Document | None:
    """The whole body as one JSON object in UTF-8; None when it is anything else.

    Refused are duplicate keys, NaN and infinities, numbers beyond a float, and nesting deeper than the
    reader. Whole numbers keep all digits: ids of users do not fit a double (public service, examples of
    echoes).
    """
    document = read_json(body)
    return document if isinstance(document, dict) else None


def read_json(body: bytes) -> Any:
    """The whole body as JSON of any kind, by the same rules; None for what is refused, and for `null`.

    Half of a character, which an escape can write and no text can hold, becomes U+FFFD.
    """
    try:
        found = json.loads(
            body.decode("utf-8"),
            object_pairs_hook=_unique,
            parse_constant=_refuse,
            parse_float=_finite,
        )
        return _mended(found) if _HALF_ESCAPED.search(body) else found
    except (ValueError, RecursionError):
        # The exception quotes the body and ends here.
        return None


def find_break(body: bytes) -> str:
    """The place where `body` stops being JSON in UTF-8, in words; "" where it is JSON, which may still be refused."""
    try:
        json.loads(body.decode("utf-8"))
    except json.JSONDecodeError as error:
        return f"it breaks in line {error.lineno}, column {error.colno}"
    except UnicodeDecodeError as error:
        return f"byte {error.start + 1} is no UTF-8"
    except (ValueError, RecursionError):
        return "a number in it is too long, or it is nested too deeply"
    return ""


def _mended(found: Any) -> Any:
    match found:
        case str():
            return _HALF.sub("\ufffd", found)
        case list():
            return [_mended(each) for each in found]
        case dict():
            return {_mended(name): _mended(each) for name, each in found.items()}
    return found


def _unique(pairs: list[tuple[str, Any]]) -> Document:
    document = dict(pairs)
    if len(document) != len(pairs):
        raise ValueError
    return document


def _refuse(constant: str) -> NoReturn:
    raise ValueError


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError
    return number
