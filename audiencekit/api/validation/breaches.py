"""Whether a rule between parameters is broken. Pure; the catalogue has the rules, and the words for them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import singledispatch
from typing import Any

from audiencekit.api.catalogue.endpoint import Endpoint
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
from audiencekit.api.validation.timestamps import is_under_months, read_moment
from audiencekit.api.validation.values import split_list
from audiencekit.servicewords import MOVING_MEDIA

Given = Mapping[str, Any]


@singledispatch
def is_broken(rule: Rule, given: Given, endpoint: Endpoint, now: datetime) -> bool:
    """Whether `given`, whose values are right one by one, breaks `rule`. `now` is in UTC."""
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
