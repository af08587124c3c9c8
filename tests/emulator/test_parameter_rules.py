"""Every rule of every parameter in a path or a query, from both sides: the good is taken, the bad changes nothing.

The rules come from the catalogue; the calls are those of a client that checks nothing. What stands in JSON bodies is
tried by the tests of their endpoints.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
import pytest_asyncio

from audiencekit.api.catalogue import ENDPOINTS, Endpoint
from audiencekit.api.catalogue.parameters import CARD_URI, IDENTIFIER, LISTS, SORT_BY, Parameter, Type
from audiencekit.api.catalogue.rules import (
    DaysBetween,
    ItemsTogether,
    MediaTogether,
    NotAbove,
    NotTogether,
    OnlyIf,
    RequiredIf,
    RequiredUnless,
    Rule,
)
from audiencekit.emulator.routes import ROUTES
from tests.cases import each_case
from tests.emulator.world import World, left_as_it_was, open_world, snapshot

REFUSED, MISSING, EXCLUSIVE = "INVALID_PARAMETER", "MISSING_PARAMETER", "EXCLUSIVE_PARAMETERS"
CODES = {False: (REFUSED,), True: (REFUSED, MISSING)}  # of a bad value, by whether it is empty
OTHER_CODES = {"media_keys": ("INVALID_MEDIA",)}
SERVED = {(route.method, re.sub(r"\{\w+\}", "{}", route.path)) for route in ROUTES}
# Signed by a user, answered with JSON, and without a body: the rows that a query says everything of.
ROWS = [
    row
    for row in ENDPOINTS
    if (row.auth, row.answer, row.body) == ("user", "json", None)
    and (row.method, re.sub(r"\{\w+\}", "{}", row.path)) in SERVED
]
EACH_ROW = each_case("row", ROWS)
LOOKED_UP = (IDENTIFIER, CARD_URI)  # whatever is no id is an id of nothing

pytestmark = pytest.mark.asyncio(loop_scope="module")

# The refusal of an unknown id in the path, where it is not 404.
FOREIGN = {"account_id": (403, ("NOT_FOUND",)), "user_id": (403, ("USER_NOT_FOUND", "ACTION_NOT_ALLOWED"))}
_LIST = "do_not_reach_list_id"

GOOD = {
    Type.BOOLEAN: ["true", "false"],
    Type.LONG: ["1", "9223372036854775807"],
    Type.DATETIME: ["2027-01-15T08:00:00Z", "2027-01-15T09:00:00+01:00", "2027-01-15T09:00:00+01", "2027-01-15"],
    Type.URL: ["https://shop.example/a?b=c#d", "http://shop.example"],
    Type.CURRENCY: ["EUR", "USD"],
    Type.HASHTAG: ["#moon", "moon"],
    Type.CSV_LONG: ["1", "756201191646691328,2"],
}
BAD = {
    Type.STRING: [],
    Type.BOOLEAN: ["True", "yes", "1", ""],
    Type.INT: ["1.5", "1e2", "+1", " 1", "-1", "٣", "one", ""],
    Type.LONG: ["7.5e17", "1.0", "-1", "9223372036854775808", "٣", "one", ""],
    Type.ENUM: ["", "NONE OF THEM"],
    Type.DATETIME: ["", "soon", "2027-02-30", "2027-01-15T08:00:00", "1790000000"],
    Type.URL: ["", "no address", "ftp://shop.example", "https://a b.example"],
    Type.CURRENCY: ["", "eur", "EU", "EURO", "XXQ"],
    Type.HASHTAG: ["", "#", "#two words"],
    Type.CSV_STRING: [",", "a,,b", "a,"],
    Type.CSV_ENUM: ["", ",", "NONE_OF_THEM"],
    Type.CSV_LONG: ["", "one", "1,one", "1,,2", "9223372036854775808"],
}
PATTERNS = {CARD_URI: "card://1nmth", SORT_BY.pattern: "created_at-desc", "[A-Z]{2}": "DE"}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world() -> AsyncIterator[World]:
    """A world for all that leaves it good for the next."""
    async with open_world() as opened:
        yield opened


async def call(world: World, row: Endpoint, given: dict[str, str]) -> Any:
    """The answer to a call with these parameters, those of the path among them."""
    path = row.path.format_map({"account_id": world.values["account_id"], **given})
    query = {name: text for name, text in given.items() if f"{{{name}}}" not in row.path}
    base = world.caller.emulator.ads_sandbox_url if row.sandbox_only else ""
    reply = await world.caller.call(row.method, path, query=query, base=base)
    if reply.headers["x-rate-limit-remaining"] == "0":
        await world.caller.move_clock(advance=1_000)
    return reply


def _query(row: Endpoint) -> list[Parameter]:
    return [parameter for parameter in row.parameters if parameter.place == "query"]


def _is_first(row: Endpoint, parameter: Parameter) -> bool:
    """Whether no row before has a parameter of this name and type: the forms of a type are tried once for a name."""
    with_it = (
        each for each in ROWS if any((one.name, one.type) == (parameter.name, parameter.type) for one in _query(each))
    )
    return next(with_it) is row


def _first_good(world: World, row: Endpoint, parameter: Parameter) -> str:
    known = world.value(row, parameter.name)
    return known if known is not None else next(_good_values(world, row, parameter), "c-a")


def _good_values(world: World, row: Endpoint, parameter: Parameter) -> Iterator[str]:
    """Values that a call is carried out with; both bounds among them."""
    known = world.value(row, parameter.name)
    if parameter.type in LISTS:
        yield from _good_lists(parameter, known)
    elif known is not None:
        yield known
    elif parameter.values:
        yield from map(str, parameter.values)
    elif parameter.type is Type.INT:
        yield from map(str, (parameter.minimum or 1, parameter.maximum or 7))
    elif parameter.type is Type.STRING and parameter.name != "cursor":
        yield world.text()
        if parameter.max_length is not None:
            yield "ä" * parameter.max_length
    elif parameter.type is not Type.STRING:
        yield from GOOD[parameter.type] if _is_first(row, parameter) else GOOD[parameter.type][:1]


def _good_lists(parameter: Parameter, known: str | None) -> Iterator[str]:
    word = known or PATTERNS.get(parameter.pattern or "", "words")
    if parameter.values:
        yield from (str(parameter.values[0]), ",".join(map(str, parameter.values)))
    elif parameter.type is Type.CSV_LONG and known is None:
        yield from GOOD[Type.CSV_LONG]
        yield ",".join(map(str, range(1, (parameter.max_items or 3) + 1)))
    else:
        yield from (word, ",".join([word] * (parameter.max_items or 3)))


def _bad_values(world: World, row: Endpoint, parameter: Parameter) -> Iterator[str]:
    """Values that a call is refused with; the first ones beyond each bound among them."""
    # An empty text unsets in a change (public documentation), which may be good or not.
    may_unset = parameter.removable or (row.method == "PUT" and parameter.type in (Type.URL, Type.HASHTAG))
    known = [text for text in BAD[parameter.type] if text or not may_unset]
    yield from known if _is_first(row, parameter) else [text for text in known if text][:1]
    if parameter.type is Type.STRING and (parameter.required is True or parameter.min_length):
        yield ""
    if parameter.minimum is not None:
        yield str(parameter.minimum - 1)
    if parameter.maximum is not None:
        yield str(parameter.maximum + 1)
    if parameter.max_length is not None:
        yield "#" * (parameter.type is Type.HASHTAG) + "a" * (parameter.max_length + 1)
    if parameter.max_items is not None:
        word = next(_good_lists(parameter, world.value(row, parameter.name)))
        yield ",".join([word] * (parameter.max_items + 1))
    if parameter.pattern not in (None, *LOOKED_UP):
        yield "none of them"
    if parameter.whole_hours:
        yield "2027-01-15T08:30:00Z"


def complete(world: World, row: Endpoint, *names: str, without: str = "") -> dict[str, str]:
    """The smallest good call that has `names`."""
    given = {
        one.name: _first_good(world, row, one)
        for one in row.parameters
        if one.place in ("path", "query") and (one.required is True or one.name in names)
    }
    if row.name == "create_campaign":
        given.setdefault("daily_budget_amount_local_micro", "1")
    if row.name == "create_line_item" and without != "objective":
        given.setdefault("categories", world.value(row, "categories") or "")
    for rule in row.rules * 2:
        if isinstance(rule, RequiredUnless) and rule.other not in given:
            given.setdefault(rule.name, _first_good(world, row, row.parameter(rule.name)))
        if isinstance(rule, RequiredIf) and rule.other in given:
            given.setdefault(rule.name, _first_good(world, row, row.parameter(rule.name)))
        if isinstance(rule, OnlyIf) and rule.name in given:
            given.setdefault(rule.other, rule.value)
        if isinstance(rule, NotAbove) and rule.other in given:
            given.setdefault(rule.name, "1")
    return {name: text for name, text in given.items() if name != without}


async def _refused(
    world: World, row: Endpoint, given: dict[str, str], name: str, *codes: str, others: tuple[str, ...] = ()
) -> None:
    """Sends a call that must be refused for a parameter, or one of the others, with one of the codes."""
    reply = await call(world, row, given)
    where = (row.name, name, given.get(name), reply.content)
    assert reply.status == 400, where
    (error,) = reply.body["errors"]
    assert error["code"] in codes, where
    assert error["parameter"] in (name, *others), where


@EACH_ROW
async def test_good_values_are_taken(world: World, row: Endpoint) -> None:
    """Each by itself in the smallest call that has it, echoed under its name."""
    for parameter in _query(row):
        for value in [*_good_values(world, row, parameter), *await _cursors(world, row, parameter)]:
            given = {**complete(world, row, parameter.name), parameter.name: value}
            reply = await _carry_out(world, row, given)
            assert reply.status == 200, (row.name, parameter.name, value, reply.content)
            assert parameter.name in reply.body["request"]["params"]
    assert (await _carry_out(world, row, complete(world, row))).status == 200


async def _cursors(world: World, row: Endpoint, parameter: Parameter) -> list[str]:
    """A cursor that a page of the list could give."""
    if parameter.name != "cursor" or world.value(row, "cursor"):
        return []
    listed = (await call(world, row, complete(world, row))).body["data"]
    return [f"c-{record['id']}" for record in listed[:1]]


async def _carry_out(world: World, row: Endpoint, given: dict[str, str]) -> Any:
    """The answer of a good call. What ends something, or can be done once only, leaves the world as it was."""
    is_list = row.name == "create_do_not_reach_list"
    if not is_list and not row.name.startswith("delete_"):
        return await call(world, row, given)
    async with left_as_it_was(world):
        if is_list:
            await world.caller.call("DELETE", f"{world.caller.account}/do_not_reach_lists/{world.values[_LIST]}")
        return await call(world, row, given)


@EACH_ROW
async def test_bad_values_change_nothing(world: World, row: Endpoint) -> None:
    """Each is refused with its code and the name of the parameter; so is one that is missing, or unheard of."""
    before = snapshot(world.caller)
    for parameter in _query(row):
        more = OTHER_CODES.get(parameter.name, ())
        for value in _bad_values(world, row, parameter):
            given = {**complete(world, row, parameter.name), parameter.name: value}
            await _refused(world, row, given, parameter.name, *CODES[value == ""], *more)
        if parameter.required is True:
            given = complete(world, row, without=parameter.name)
            await _refused(world, row, given, parameter.name, MISSING)
    await _refused(world, row, {**complete(world, row), "unheard_of": "1"}, "unheard_of", REFUSED)
    assert snapshot(world.caller) == before


@EACH_ROW
async def test_ids_in_the_path_are_looked_up(world: World, row: Endpoint) -> None:
    """An id that is unknown or of another account is not found; a malformed number is invalid."""
    before = snapshot(world.caller)
    for parameter in row.parameters:
        if parameter.place != "path":
            continue
        given, is_number = complete(world, row), parameter.type is Type.LONG
        status, codes = FOREIGN.get(parameter.name, (404, ("NOT_FOUND",)))
        foreign = world.caller.emulator.store.origin.foreign_account_id
        other = foreign if parameter.name == "account_id" else "7" if is_number else "zzzzz"
        reply = await call(world, row, {**given, parameter.name: other})
        assert reply.status == status, (row.name, parameter.name, reply.content)
        assert reply.codes[0] in codes
        for value in ("one", "1.0", "9223372036854775808") if is_number else ():
            await _refused(world, row, {**given, parameter.name: value}, parameter.name, REFUSED)
    assert snapshot(world.caller) == before


def _breaches(rule: Rule) -> Iterator[tuple[dict[str, str], str, str]]:
    """Yield parameters that break the rule, the name that is blamed, and the code."""
    match rule:
        case NotTogether(names=("cursor", "with_total_count")):
            yield {"cursor": "c-a", "with_total_count": "true"}, "cursor", EXCLUSIVE
        case NotAbove(name, other):
            yield {name: "2", other: "1"}, name, REFUSED
        case OnlyIf(name, other, "CAMPAIGN"):
            yield {name: "true", other: "LINE_ITEM"}, name, EXCLUSIVE
        case ItemsTogether((first, second), most):
            yield {first: ",".join("a" * most), second: "b"}, second, REFUSED
        case DaysBetween(start, end, days):
            times = {start: "2027-01-01T00:00:00Z", end: f"2027-01-{days + 1:02}T00:00:01Z"}
            yield times, end, "INVALID_TIME_WINDOW"
            yield {start: times[start], end: times[start]}, end, "INVALID_TIME_WINDOW"


BETWEEN = [(row, rule) for row in ROWS for rule in row.rules]


@each_case("row, rule", BETWEEN)
async def test_rules_between_parameters_hold(world: World, row: Endpoint, rule: Rule) -> None:
    """Each is broken once, and changes nothing; media are tried in the tests of tweets, where there are some."""
    before, breaches = snapshot(world.caller), [*_breaches(rule)]
    assert breaches or isinstance(rule, (RequiredIf, RequiredUnless, MediaTogether))
    for changes, name, code in breaches:
        await _refused(world, row, {**complete(world, row), **changes}, name, code)
    if isinstance(rule, RequiredIf):
        await _refused(world, row, complete(world, row, rule.other, without=rule.name), rule.name, MISSING)
    if isinstance(rule, RequiredUnless):
        given = complete(world, row, without=rule.name)
        given.pop(rule.other, None)
        await _refused(world, row, given, rule.name, MISSING, others=(rule.other,))
    assert snapshot(world.caller) == before


@each_case("row", [row for row in ROWS if row.sandbox_only])
async def test_the_sandbox_alone_makes_what_costs_nothing(world: World, row: Endpoint) -> None:
    """At the other address the same call changes nothing."""
    before = snapshot(world.caller)
    given = complete(world, row)
    query = {name: text for name, text in given.items() if f"{{{name}}}" not in row.path}
    reply = await world.caller.call(row.method, row.path.format_map({**world.values, **given}), query=query)
    assert (reply.status, reply.codes) == (405, ["METHOD_NOT_ALLOWED"])
    assert snapshot(world.caller) == before
