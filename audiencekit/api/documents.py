"""Strict JSON: bytes -> what they say, or nothing. What can be read in two ways is not read."""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn, TypeAlias

Document: TypeAlias = dict[str, Any]


def read_document(body: bytes) -> Document | None:
    """The whole body as one JSON object in UTF-8; None when it is anything else.

    Refused are duplicate keys, NaN and infinities, numbers beyond a float, and nesting deeper than the
    reader. Whole numbers keep all digits: ids of users do not fit a double (public service, examples of
    echoes).
    """
    document = read_json(body)
    return document if isinstance(document, dict) else None


def read_json(body: bytes) -> Any:
    """The whole body as JSON of any kind, by the same rules; None for what is refused, and for `null`."""
    try:
        return json.loads(
            body.decode("utf-8"),
            object_pairs_hook=_unique,
            parse_constant=_refuse,
            parse_float=_finite,
        )
    except (ValueError, RecursionError):
        # The exception quotes the body and ends here.
        return None


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
