"""Every rule of every parameter in path and query from both sides: the good is sent, the bad never is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from audiencekit.api.catalogue import ENDPOINTS, Endpoint
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
from audiencekit.errors import UsageError
from tests.api.validation.values import CANARY, bad_values, check, complete, good_values, outside

EACH_ENDPOINT = pytest.mark.parametrize("endpoint", ENDPOINTS, ids=[endpoint.name for endpoint in ENDPOINTS])


@EACH_ENDPOINT
def test_good_values_are_sent(endpoint: Endpoint) -> None:
    """Each good value of a parameter stands in its place, as text."""
    for parameter in outside(endpoint):
        for value in good_values(parameter):
            checked = check(endpoint, {**complete(endpoint, parameter.name), parameter.name: value})
            sent = {**checked.path, **dict(checked.query), **dict(checked.form), **dict(checked.oauth)}
            assert sent[parameter.name] not in (None, ""), parameter.name
            assert isinstance(sent[parameter.name], str), parameter.name


@EACH_ENDPOINT
def test_bad_values_are_refused(endpoint: Endpoint) -> None:
    """Each bad value is refused with the name of the parameter, and is not repeated."""
    for parameter in outside(endpoint):
        assert list(bad_values(parameter)), parameter.name
        for value in bad_values(parameter):
            with pytest.raises(UsageError) as caught:
                check(endpoint, {**complete(endpoint, parameter.name), parameter.name: value})
            assert f"{endpoint.name}: {parameter.name} " in str(caught.value), value
            assert CANARY not in str(caught.value) + caught.value.hint


@EACH_ENDPOINT
def test_smallest_call_is_sent_and_each_of_its_parts_is_needed(endpoint: Endpoint) -> None:
    """Without a required parameter the call is refused; a name that the row does not know is refused too."""
    given = complete(endpoint)
    check(endpoint, given)
    for parameter in outside(endpoint):
        if parameter.required is True:
            with pytest.raises(UsageError, match=f"{parameter.name} is required"):
                check(endpoint, {name: value for name, value in given.items() if name != parameter.name})
            with pytest.raises(UsageError, match=f"{parameter.name} is required"):
                check(endpoint, {**given, parameter.name: None})
    for name in ("no_such_name", "a@b.example", "4155550100"):
        with pytest.raises(UsageError, match="has no parameter") as caught:
            check(endpoint, {**given, name: "x"})
        assert (name in str(caught.value)) == (name == "no_such_name")


@EACH_ENDPOINT
def test_a_parameter_that_the_client_makes_is_not_given(endpoint: Endpoint) -> None:
    """A header is none of the caller's parameters, and a call without a body takes none."""
    for parameter in endpoint.parameters:
        if parameter.place == "header":
            with pytest.raises(UsageError, match="makes it itself"):
                check(endpoint, {**complete(endpoint), parameter.name: "x"})
    if endpoint.body is None:
        with pytest.raises(UsageError, match="takes no body"):
            check(endpoint, complete(endpoint), {})


def _breaking(rule: Rule, endpoint: Endpoint) -> Iterator[dict[str, Any]]:
    """Parameters that break `rule`, on top of a complete call; None takes one away."""
    match rule:
        case NotTogether(names=names) if set(names) == {"cursor", "with_total_count"}:
            yield {"cursor": "c-1", "with_total_count": True}
            yield {"cursor": "c-1", "with_total_count": "true"}
        case RequiredIf() | RequiredUnless():
            other = good_values(endpoint.parameter(rule.other))[0]
            yield {rule.name: None, rule.other: other if isinstance(rule, RequiredIf) else None}
        case OnlyIf():
            yield {rule.name: True, rule.other: "LINE_ITEM"}
        case NotAbove():
            yield {rule.name: 9_007_199_254_740_993, rule.other: "9007199254740992"}
        case ItemsTogether():
            yield {rule.names[0]: "a,b,c,d,e,f", rule.names[1]: "g,h,i,j,k"}
            yield {rule.names[0]: ["a"] * 11}
        case MediaTogether():
            yield {rule.name: "13_1,13_2"}
            yield {rule.name: ["3_1", "16_1"]}
            yield {rule.name: ["7_1", "7_1"]}
        case DaysBetween():
            yield {rule.start: "2026-11-01T00:00:00Z", rule.end: "2026-11-08T00:00:01Z"}
            yield {rule.start: "2026-11-02T00:00:00Z", rule.end: "2026-11-01T00:00:00Z"}
            yield {rule.start: "2026-11-01T00:00:00Z", rule.end: None}
            yield {rule.start: "0001-01-01", rule.end: "9999-12-31"}


def _keeping(rule: Rule, endpoint: Endpoint) -> Iterator[dict[str, Any]]:
    """Parameters that come close to `rule` and keep it."""
    match rule:
        case NotTogether(names=names) if set(names) == {"cursor", "with_total_count"}:
            yield {"cursor": "c-1", "with_total_count": False}
            yield {"with_total_count": True}
        case OnlyIf():
            yield {rule.name: True}
            yield {rule.name: True, rule.other: "CAMPAIGN"}
        case NotAbove():
            yield {rule.name: 9_007_199_254_740_993, rule.other: "9007199254740993"}
        case ItemsTogether():
            yield {rule.names[0]: "a,b,c,d,e,f", rule.names[1]: "g,h,i,j"}
        case MediaTogether():
            yield {rule.name: "3_1,3_2,3_3,3_4"}
            yield {rule.name: "13_1"}
        case DaysBetween():
            yield {rule.start: "2026-11-01T00:00:00Z", rule.end: "2026-11-08T00:00:00Z"}
            yield {rule.start: "2026-11-13T12:30:00Z", rule.end: None}


RULES = [
    pytest.param(row, rule, id=f"{row.name}-{rule.words.replace(' ', '_')}")
    for row in ENDPOINTS
    if not row.body
    for rule in row.rules
]


@pytest.mark.parametrize(("endpoint", "rule"), RULES)
def test_rules_between_parameters_are_tried_from_both_sides(endpoint: Endpoint, rule: Rule) -> None:
    """A call that breaks a rule is refused in the words of the rule; a call that comes close is sent."""
    breaking = list(_breaking(rule, endpoint))
    assert breaking
    for change in breaking:
        given = {**complete(endpoint), **change}
        with pytest.raises(UsageError) as caught:
            check(endpoint, given)
        # Of two rules that say the same about each other, the first one speaks.
        mirrored = isinstance(rule, RequiredUnless) and RequiredUnless(rule.other, rule.name).words in str(caught.value)
        assert rule.words in str(caught.value) or mirrored
    for change in _keeping(rule, endpoint):
        check(endpoint, {**complete(endpoint), **change})


def test_every_kind_of_rule_is_tried_here() -> None:
    """Every kind of rule has a case in this file."""
    used = {type(rule) for row in ENDPOINTS for rule in row.rules}
    tried = {NotTogether, ExactlyOneOf, RequiredIf, RequiredIn, RequiredUnless, OnlyIf, NotAbove, LaterThan,
             ItemsTogether, DaysBetween, UnderMonthsAhead, NotIn, Present, MediaTogether}  # fmt: skip
    assert used == tried
