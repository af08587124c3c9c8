"""Parameters in words: of messages, of the help and of the reference page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from audiencekit.api.catalogue.parameters import (
    CARD_ID,
    CARD_URI,
    EVENT_TYPE,
    IDENTIFIER,
    LISTS,
    MINUTE,
    SHA256,
    SORT_BY,
    WEBHOOK_ID,
    Parameter,
    Type,
)

_PATTERNS: Final = {
    IDENTIFIER: "an id of 1 to 32 lower-case letters and digits",
    CARD_ID: "an id of 1 to 32 lower-case letters and digits, not all",
    CARD_URI: "an address of a card such as card://abc1",
    SHA256: "a SHA-256 of 64 lower-case hex digits",
    SORT_BY.pattern: "the name of an attribute that ends in -asc or -desc",
    "[A-Z]{2}": "two capital letters",
    WEBHOOK_ID: "1 to 19 digits",
    EVENT_TYPE: "a name in lower case with dots",
    MINUTE: "12 digits",
}
_ITEMS: Final = {"text": "texts", "object": "objects", "array": "arrays"}


def expectation(parameter: Parameter) -> str:
    """The values of `parameter` in words, such as `a whole number from 1 to 1000`."""
    if parameter.type in LISTS:
        return _list(parameter)
    return _WORDS[parameter.type](parameter)


def _list(parameter: Parameter) -> str:
    bound = f" of at most {parameter.max_items}" if parameter.max_items else ""
    return f"a comma-separated list{bound}, each {_entry(parameter)}"


def _entry(parameter: Parameter) -> str:
    if parameter.values:
        return f"one of {_join(parameter.values)}"
    if parameter.type is Type.CSV_LONG:
        return "a whole number of up to 63 bits"
    return _PATTERNS[parameter.pattern] if parameter.pattern else "a text"


def _string(parameter: Parameter) -> str:
    if parameter.pattern:
        return _PATTERNS[parameter.pattern]
    return f"a text{_length(parameter)}"


def _length(parameter: Parameter) -> str:
    low = parameter.min_length or (1 if parameter.required is True else 0)
    if parameter.max_length is None:
        return " that is not empty" if low else ""
    return f" of {low} to {parameter.max_length} characters"


def _whole(parameter: Parameter) -> str:
    if parameter.values:
        return f"one of {_join(parameter.values)}"
    if parameter.minimum is not None and parameter.maximum is not None:
        return f"a whole number from {parameter.minimum} to {parameter.maximum}"
    if parameter.minimum is not None:
        return f"a whole number of at least {parameter.minimum}"
    return "a whole number"


def _array(parameter: Parameter) -> str:
    of = _ITEMS[parameter.items or "object"]
    bounds = f"{parameter.min_items} to {parameter.max_items} " if parameter.min_items and parameter.max_items else ""
    least = f", at least {parameter.min_items}" if parameter.min_items and not parameter.max_items else ""
    return f"a JSON array of {bounds}{of}{least}" + (
        f", each {_PATTERNS[parameter.pattern]}" if parameter.pattern else ""
    )


def _join(values: tuple[str | int, ...]) -> str:
    return ", ".join(map(str, values))


_WORDS: Final[dict[Type, Callable[[Parameter], str]]] = {
    Type.STRING: _string,
    Type.BOOLEAN: lambda _: "true or false",
    Type.INT: _whole,
    Type.LONG: lambda _: "a whole number of up to 63 bits",
    Type.ENUM: lambda parameter: f"one of {_join(parameter.values)}" if parameter.values else "a word",
    Type.DATETIME: lambda parameter: (
        "a time such as 2026-12-31T00:00:00Z" + (", a whole hour" if parameter.whole_hours else "")
    ),
    Type.URL: lambda _: "a web address that begins with http:// or https://",
    Type.CURRENCY: lambda _: "a currency such as EUR (ISO 4217)",
    Type.HASHTAG: lambda parameter: f"a hashtag of 1 to {parameter.max_length} characters, its # not counted",
    Type.ARRAY: _array,
    Type.OBJECT: lambda _: "a JSON object",
}
