"""Check single values against their rules, and rules between parameters. Pure.

The catalogue has the rules and their words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import singledispatch
from typing import Any, Final

from audiencekit.api.catalogue.endpoint import Endpoint
from audiencekit.api.catalogue.parameters import LISTS, Parameter, Type
from audiencekit.api.catalogue.rules import (
    DaysBetween,
    ExactlyOneOf,
    ItemsTogether,
    LaterThan,
    MediaTogether,
    NotAbove,
    NotIn,
    NotTogether,
    OnlyIf,
    Present,
    RequiredIf,
    RequiredIn,
    RequiredUnless,
    Rule,
    UnderMonthsAhead,
)
from audiencekit.limits import MAX_PLATFORM_ID
from audiencekit.personal import Secret
from audiencekit.service_words import CURRENCIES, MOVING_MEDIA

# --- Whether a rule between parameters is broken. Pure; the catalogue has the rules, and the words for them ---

Given = Mapping[str, Any]


@singledispatch
def is_broken(rule: Rule, given: Given, endpoint: Endpoint, now: datetime) -> bool:
    """Whether `given`, whose single values are valid, breaks `rule`. `now` is in UTC."""
    raise NotImplementedError


@is_broken.register
def _(rule: NotTogether, given: Given, endpoint: Endpoint, now: datetime) -> bool:
    return _count(rule.names, given) > 1


@is_broken.register
def _(rule: ExactlyOneOf, given: Given, endpoint: Endpoint, now: datetime) -> bool:
    return _count(rule.names, given) != 1


@is_broken.register
def _(rule: RequiredIf, given: Given, endpoint: Endpoint, now: datetime) -> bool:
    return _is_given(given, rule.other) and not _is_given(given, rule.name)


@is_broken.register
def _(rule: RequiredIn, given: Given, endpoint: Endpoint, now: datetime) -> bool:
    return given.get("operation_type") == rule.operation and all(given.get(name) in (None, "") for name in rule.names)


@is_broken.register
def _(rule: NotIn, given: Given, endpoint: Endpoint, now: datetime) -> bool:
    is_there = rule.name in given if rule.value is None else given.get(rule.name) == rule.value
    return is_there and given.get("operation_type") == rule.operation


@is_broken.register
def _(rule: Present, given: Given, endpoint: Endpoint, now: datetime) -> bool:
    return rule.name not in given


@is_broken.register
def _(rule: RequiredUnless, given: Given, endpoint: Endpoint, now: datetime) -> bool:
    return not _is_given(given, rule.other) and not _is_given(given, rule.name)


@is_broken.register
def _(rule: OnlyIf, given: Given, endpoint: Endpoint, now: datetime) -> bool:
    other = given.get(rule.other, endpoint.parameter(rule.other).default)
    return rule.name in given and other is not None and other != rule.value


@is_broken.register
def _(rule: NotAbove, given: Given, endpoint: Endpoint, now: datetime) -> bool:
    both = rule.name in given and rule.other in given
    return both and int(given[rule.name]) > int(given[rule.other])


@is_broken.register
def _(rule: LaterThan, given: Given, endpoint: Endpoint, now: datetime) -> bool:
    later = _moment(given, rule.name)
    return later is not None and later <= (_moment(given, rule.other) or now)


@is_broken.register
def _(rule: ItemsTogether, given: Given, endpoint: Endpoint, now: datetime) -> bool:
    return sum(len(split_list(given.get(name, ""))) for name in rule.names) > rule.max_items


@is_broken.register
def _(rule: MediaTogether, given: Given, endpoint: Endpoint, now: datetime) -> bool:
    keys = split_list(given.get(rule.name, ""))
    return len(keys) > 1 and any(key.startswith(MOVING_MEDIA) for key in keys)


@is_broken.register
def _(rule: DaysBetween, given: Given, endpoint: Endpoint, now: datetime) -> bool:
    start, end = _moment(given, rule.start), _moment(given, rule.end) or now
    return start is not None and not timedelta() <= end - start <= timedelta(days=rule.days)


@is_broken.register
def _(rule: UnderMonthsAhead, given: Given, endpoint: Endpoint, now: datetime) -> bool:
    moment = _moment(given, rule.name)
    return moment is not None and not (now < moment and is_under_months(moment, now, rule.months))


def _count(names: tuple[str, ...], given: Given) -> int:
    return sum(_is_given(given, name) for name in names)


def _is_given(given: Given, name: str) -> bool:
    return given.get(name) not in (None, "", "false", False, [], {})


def _moment(given: Given, name: str) -> datetime | None:
    text = given.get(name)
    return read_moment(text) if isinstance(text, str) else None


# --- Times as the service writes them (specification part 1, section 2: ISO 8601, UTC) ---


def read_moment(text: str) -> datetime | None:
    """Return `text` (ISO 8601; a date is its midnight; without an offset UTC) in UTC; None for anything else."""
    try:
        moment = datetime.fromisoformat(text)
        return moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def write_moment(moment: datetime) -> str:
    """Return `moment` in UTC and whole seconds, ending in `Z`."""
    return moment.astimezone(UTC).replace(tzinfo=None, microsecond=0).isoformat() + "Z"


def is_whole_hour(moment: datetime) -> bool:
    """Whether the moment is at the beginning of an hour."""
    return (moment.minute, moment.second, moment.microsecond) == (0, 0, 0)


def is_under_months(moment: datetime, now: datetime, months: int) -> bool:
    """Whether `moment` is before the same day and time of the month that is `months` after that of `now`."""
    ahead = (moment.year - now.year) * 12 + moment.month - now.month
    if ahead != months:
        return ahead < months
    return (moment.day, moment.timetz()) < (now.day, now.timetz())


# --- One value of one parameter: its text on the wire, or None when the catalogue does not allow it. Pure ---

_INT: Final = re.compile(r"-?(?:0|[1-9][0-9]{0,9})", re.ASCII)
_LONG: Final = re.compile(r"0|[1-9][0-9]{0,18}", re.ASCII)
_URL: Final = re.compile(r"https?://[^\s/?#]+\S*", re.IGNORECASE)
_HASHTAG: Final = re.compile(r"#?([^\s#]+)")


def write_value(parameter: Parameter, value: Any) -> str | None:
    """Return the text of `value` in a path, query or form; None if it is invalid for `parameter`.

    Texts, whole numbers, booleans, moments with a zone, and sequences of these for lists are valid. A float is not: it
    may have lost digits.
    """
    text = _write_list(parameter, value) if _is_sequence(value) else _write_one(value)
    if text is None or not _is_allowed(parameter, text):
        return None
    return _write_time(text) if parameter.type is Type.DATETIME else text


def is_json_value(parameter: Parameter, value: Any) -> bool:
    """Whether `value` is valid for `parameter` in a JSON body, where numbers and booleans are not texts."""
    if parameter.type is Type.ARRAY:
        return (
            isinstance(value, list) and _has_items(parameter, value) and all(_is_item(parameter, one) for one in value)
        )
    if parameter.type is Type.OBJECT:
        return isinstance(value, dict)
    if parameter.type is Type.BOOLEAN:
        return isinstance(value, bool)
    if parameter.type in (Type.INT, Type.LONG):
        return type(value) is int and _is_allowed(parameter, str(value))
    return isinstance(value, str) and _is_allowed(parameter, value)


def split_list(text: str) -> list[str]:
    """Return the entries of a comma-separated list; none for an empty text."""
    return text.split(",") if text else []


def _has_items(parameter: Parameter, items: Sequence[Any]) -> bool:
    return (
        (parameter.min_items or 0) <= len(items) <= (len(items) if parameter.max_items is None else parameter.max_items)
    )


def _is_item(parameter: Parameter, item: Any) -> bool:
    if parameter.items == "text":
        pattern = parameter.pattern
        return isinstance(item, str) and bool(re.fullmatch(pattern, item, re.ASCII) if pattern else item)
    return isinstance(item, list if parameter.items == "array" else dict)


def _is_sequence(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray | memoryview)


def _write_list(parameter: Parameter, values: Sequence[Any]) -> str | None:
    written = [_write_one(value) for value in values]
    if parameter.type not in LISTS or not all(text and "," not in text for text in written):
        return None
    return ",".join(text for text in written if text)


def _write_one(value: Any) -> str | None:
    if isinstance(value, Secret):
        return value.unwrap()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return write_moment(value) if value.tzinfo and not value.astimezone(UTC).microsecond else None
    return str(value) if isinstance(value, str | int) else None


def _write_time(text: str) -> str | None:
    moment = read_moment(text)
    return write_moment(moment) if moment else None


def _is_allowed(parameter: Parameter, text: str) -> bool:
    if not text:
        return _may_be_empty(parameter)
    return _CHECKS[parameter.type](parameter, text)


def _may_be_empty(parameter: Parameter) -> bool:
    if parameter.removable:
        return True
    free = parameter.type is Type.STRING and parameter.place == "query" and parameter.pattern is None
    return free and parameter.required is not True and not parameter.min_length


def _is_string(parameter: Parameter, text: str) -> bool:
    if parameter.pattern and not re.fullmatch(parameter.pattern, text, re.ASCII):
        return False
    return _has_length(parameter, text)


def _has_length(parameter: Parameter, text: str) -> bool:
    return (parameter.min_length or 0) <= len(text) <= (parameter.max_length or len(text))


def _is_whole(parameter: Parameter, text: str) -> bool:
    if not _INT.fullmatch(text):
        return False
    number = int(text)
    if parameter.values:
        return number in parameter.values
    low, high = parameter.minimum, parameter.maximum
    return (low is None or low <= number) and (high is None or number <= high)


def _is_long(_: Parameter, text: str) -> bool:
    return bool(_LONG.fullmatch(text)) and int(text) <= MAX_PLATFORM_ID


def _is_choice(parameter: Parameter, text: str) -> bool:
    return text in parameter.values or not parameter.values


def _is_time(parameter: Parameter, text: str) -> bool:
    moment = read_moment(text)
    return moment is not None and (is_whole_hour(moment) or not parameter.whole_hours)


def _is_hashtag(parameter: Parameter, text: str) -> bool:
    match = _HASHTAG.fullmatch(text)
    return match is not None and _has_length(parameter, match[1])


def _is_list_of(entry: Callable[[Parameter, str], bool]) -> Callable[[Parameter, str], bool]:
    def check(parameter: Parameter, text: str) -> bool:
        entries = text.split(",")
        few = parameter.max_items is None or len(entries) <= parameter.max_items
        return few and all(each and entry(parameter, each) for each in entries)

    return check


_CHECKS: Final[dict[Type, Callable[[Parameter, str], bool]]] = {
    Type.STRING: _is_string,
    Type.BOOLEAN: lambda _, text: text in ("true", "false"),
    Type.INT: _is_whole,
    Type.LONG: _is_long,
    Type.ENUM: _is_choice,
    Type.DATETIME: _is_time,
    Type.URL: lambda _, text: bool(_URL.fullmatch(text)),
    Type.CURRENCY: lambda _, text: text in CURRENCIES,
    Type.HASHTAG: _is_hashtag,
    Type.CSV_STRING: _is_list_of(_is_string),
    Type.CSV_ENUM: _is_list_of(_is_choice),
    Type.CSV_LONG: _is_list_of(_is_long),
    # Structures stand in JSON bodies, and are never written as text.
    Type.ARRAY: lambda _, __: False,
    Type.OBJECT: lambda _, __: False,
}
