"""Every rule of every member of a JSON body, from both sides: the good is taken, the bad changes nothing.

The members come from the catalogue; the calls are those of a client that checks nothing.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest
import pytest_asyncio

from audiencekit.api.catalogue import BY_NAME, ENDPOINTS, Endpoint
from audiencekit.api.catalogue.parameters import Level, Parameter, Type
from tests.cases import each_case
from tests.emulator.endpoints.test_cards import DETAILS
from tests.emulator.world import World, open_world, snapshot

pytestmark = pytest.mark.asyncio(loop_scope="module")

HASH = "ab" * 32
_LINE_ITEM = {"objective": "REACH", "product_type": "MEDIA"}
REFUSED, MISSING = "INVALID_PARAMETER", "MISSING_PARAMETER"
ROWS = [row for row in ENDPOINTS if row.body and row.auth == "user"]
MEMBERS = [(row, member, level) for row in ROWS for member in row.parameters for level in member.at]
BAD: dict[Type, list[Any]] = {
    Type.STRING: [1, None, [], True],
    Type.BOOLEAN: ["true", 1, None],
    Type.INT: ["1", 1.5, True, None],
    Type.ENUM: [1, None, "NONE_OF_THEM", "", []],
    Type.DATETIME: [1_790_000_000, None, "soon", "", "2027-02-30T00:00:00Z"],
    Type.ARRAY: [None, "[]", {}, 1, [None], [1]],
    Type.OBJECT: [None, "{}", [], 1],
}


def _leaf(world: World) -> dict[str, Any]:
    return {
        "custom_audience_id": world.values["custom_audience_id"],
        "frequency": 1,
        "frequency_comparator": "NUM_GTE",
        "lookback_window": 30,
        "negate": False,
        "child_segments": [],
    }


def _component(world: World) -> dict[str, Any]:
    return {"type": "MEDIA", "media_key": world.values["media_key"]}


def _flexible(world: World, **more: Any) -> Any:
    return [{"operation_type": "Create", "params": {"audience_type": "FLEXIBLE", "name": world.text(), **more}}]


def _tree(world: World) -> Any:
    inner = {"boolean_operator": "OR", "child_segments": [_leaf(world), _leaf(world)]}
    return {"boolean_operator": "AND", "child_segments": [inner, _leaf(world)]}


# Good bodies. Members are tried in the last one, unless they stand in the first.
BODIES: dict[str, Callable[[World], list[Any]]] = {
    "batch_campaigns": lambda world: [
        [{"operation_type": "Update", "params": {"campaign_id": world.values["campaign_id"], "name": world.text()}}],
        [
            {
                "operation_type": "Create",
                "params": {
                    "funding_instrument_id": world.values["funding_instrument_id"],
                    "name": world.text(),
                    "daily_budget_amount_local_micro": 1,
                },
            }
        ],
    ],
    "batch_line_items": lambda world: [
        [{"operation_type": "Update", "params": {"line_item_id": world.values["line_item_id"], "name": world.text()}}],
        [{"operation_type": "Create", "params": {"campaign_id": world.values["campaign_id"], **_LINE_ITEM}}],
    ],
    "batch_targeting_criteria": lambda world: [
        [
            {
                "operation_type": "Create",
                "params": {
                    "line_item_id": world.values["line_item_id"],
                    "operator_type": "EQ",
                    "targeting_type": "BROAD_KEYWORD",
                    "targeting_value": world.text(),
                },
            }
        ],
    ],
    "estimate_audience": lambda world: [
        {"targeting_criteria": [{"targeting_type": "KEYWORD", "targeting_value": "tea"}]},
        {
            "targeting_criteria": [{"targeting_type": "KEYWORD", "targeting_value": "tea", "operator_type": "EQ"}],
            "operator_type": "EQ",
        },
    ],
    "batch_flexible_audiences": lambda world: [
        _flexible(world, **_tree(world)),
        _flexible(world, segments=_tree(world)),
    ],
    "add_custom_audience_users": lambda world: [
        [{"operation_type": "Delete", "params": {"users": [{"partner_user_id": ["a-1"]}]}}],
        [
            {
                "operation_type": "Update",
                "params": {
                    "users": [{"email": [HASH]}],
                    "effective_at": "2027-01-16T00:00:00Z",
                    "expires_at": "2027-02-16T00:00:00Z",
                },
            }
        ],
    ],
    "batch_do_not_reach_users": lambda world: [
        [{"operation_type": "Delete", "params": {"users": [{"phone_number": [HASH]}]}}],
        [
            {
                "operation_type": "Update",
                "params": {"users": [{"email": [HASH]}], "expires_at": "2027-02-16T00:00:00Z"},
            }
        ],
    ],
    "create_card": lambda world: [
        {"name": "ä" * 80, "slides": [[_component(world), DETAILS], [_component(world), DETAILS]]},
        {"name": "n", "components": [_component(world), DETAILS]},
    ],
    "update_card": lambda world: [
        {"name": "ä" * 80, "slides": [[_component(world), DETAILS], [_component(world), DETAILS]]},
        {"name": "n", "components": [_component(world), DETAILS]},
    ],
}
# Choices that ask for more than a word in another place.
ASK_FOR_MORE = {
    ("batch_line_items", "operation_type"),
    ("batch_targeting_criteria", "operation_type"),
    ("batch_campaigns", "operation_type"),
    ("batch_flexible_audiences", "operation_type"),
    ("batch_flexible_audiences", "audience_type"),
}
IN_THE_FIRST = {
    ("params", "boolean_operator"),
    ("params", "child_segments"),
    ("top", "slides"),
}
OF_INNER_SEGMENTS = ("boolean_operator", "child_segments")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world() -> AsyncIterator[World]:
    """A world for all that leaves it good for the next."""
    async with open_world() as opened:
        yield opened


async def _send(world: World, row: Endpoint, body: Any) -> Any:
    path = row.path.format_map(world.values)
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return await world.caller.call(row.method, path, data=data, headers={"Content-Type": "application/json"})


def _body(world: World, row: Endpoint, member: Parameter, level: Level) -> tuple[Any, dict[str, Any]]:
    """A good body, and the object in it that has the members of a level."""
    body = BODIES[row.name](world)[0 if (level, member.name) in IN_THE_FIRST else -1]
    first = body[0] if isinstance(body, list) else body
    steps: dict[str, Callable[[], Any]] = {
        "criterion": lambda: first["targeting_criteria"][0],
        "params": lambda: first["params"],
        "user": lambda: first["params"]["users"][0],
        "segment": lambda: first["params"]["segments"]["child_segments"][member.name not in OF_INNER_SEGMENTS],
    }
    return body, steps.get(level, lambda: first)()


def _bad_values(member: Parameter) -> Iterator[Any]:
    yield from BAD[member.type]
    if member.values and member.type is Type.INT:
        yield 2
    if member.pattern:
        yield from (["someone@mail.example"], [HASH[:-1]], [HASH.upper()], [HASH, None])
    if member.max_length:
        yield "a" * (member.max_length + 1)
    if member.type is Type.ARRAY and member.required is True:
        yield []
    if member.required is True and member.type is Type.STRING:
        yield ""


def _codes(reply: Any) -> list[str]:
    """The codes of a refusal, whichever of the two members they stand under."""
    of_items = [problem for found in reply.body.get("operation_errors", ()) for problem in found]
    return [problem["code"] for problem in [*reply.body.get("errors", ()), *of_items]]


@each_case("name", BODIES)
async def test_good_bodies_are_taken(world: World, name: str) -> None:
    """Smallest and richest ones."""
    for body in BODIES[name](world):
        reply = await _send(world, BY_NAME[name], body)
        assert reply.status == 200, (name, body, reply.content)


async def test_every_endpoint_with_a_body_is_tried() -> None:
    """None is forgotten."""
    assert BODIES.keys() == {row.name for row in ROWS}


@each_case("row, member, level", MEMBERS)
async def test_members_are_tried_from_both_sides(world: World, row: Endpoint, member: Parameter, level: Level) -> None:
    """Each choice is good; another type, a choice that is none, and a missing member change nothing."""
    for value in member.values if (row.name, member.name) not in ASK_FOR_MORE else ():
        body, holder = _body(world, row, member, level)
        holder[member.name] = value
        reply = await _send(world, row, body)
        assert reply.status == 200, (row.name, member.name, value, reply.content)
    before = snapshot(world.caller)
    for value in _bad_values(member):
        body, holder = _body(world, row, member, level)
        holder[member.name] = value
        # A segment without good children is a leaf that lacks its audience.
        lacks = [MISSING] if value == [] or member.name in OF_INNER_SEGMENTS else []
        await _refused(world, row, body, REFUSED, *lacks)
    if member.required is True:
        body, holder = _body(world, row, member, level)
        holder.pop(member.name)
        await _refused(world, row, body, MISSING)
    body, holder = _body(world, row, member, level)
    holder["unheard_of"] = 1
    await _refused(world, row, body, REFUSED)
    assert snapshot(world.caller) == before


async def _refused(world: World, row: Endpoint, body: Any, *codes: str) -> None:
    reply = await _send(world, row, body)
    assert reply.status == 400, (row.name, body, reply.content)
    assert _codes(reply), (row.name, body, reply.content)
    assert set(_codes(reply)) <= {*codes}, (row.name, body, reply.content)


@each_case("row", ROWS)
async def test_an_invalid_body_is_refused(world: World, row: Endpoint) -> None:
    """Neither text that is no JSON, nor the other shape, nor a repeated key, nor too many operations; nor a query."""
    before = snapshot(world.caller)
    good = BODIES[row.name](world)[-1]
    bodies: list[Any] = [b"", b"{", b'{"a":1,"a":2}', {} if isinstance(good, list) else [], "text", None, 1]
    for body in bodies:
        assert (await _send(world, row, body)).status == 400, (row.name, body)
    if row.operations:
        assert _codes(await _send(world, row, good * (row.operations + 1))) == ["REQUEST_TOO_COMPLEX"]
        assert _codes(await _send(world, row, [])) == ["INVALID_PARAMETER"]
    path = row.path.format_map(world.values)
    data = json.dumps(good).encode()
    wrong = await world.caller.call(row.method, path, data=data, headers={"Content-Type": "text/plain"})
    assert wrong.status == 415
    headers = {"Content-Type": "application/json"}
    assert (await world.caller.call(row.method, path, query={"name": "n"}, data=data, headers=headers)).status == 400
    assert snapshot(world.caller) == before
