"""Pages of a list, over the wire."""

from __future__ import annotations

from typing import Any

import pytest

from tests.cases import each_case

NAMES = ["beta", "Alpha", "delta", "alpine", "gamma", "Äther"]


async def _fill(caller: Any) -> list[str]:
    ids = [caller.emulator.audience_id]
    for name in NAMES:
        await caller.move_clock(advance=1)
        ids.append((await caller.call("POST", caller.audiences, query={"name": name})).body["data"]["id"])
    return ids


async def _page(caller: Any, **query: object) -> Any:
    reply = await caller.call("GET", caller.audiences, query=query)
    assert reply.status == 200, reply.content
    return reply.body


def _ids(page: Any) -> list[str]:
    return [record["id"] for record in page["data"]]


async def test_all_fit_on_one_page(caller: Any) -> None:
    """Without parameters: up to 200 records in order of creation, no cursor, no total."""
    ids = await _fill(caller)
    page = await _page(caller)
    assert _ids(page) == ids
    assert page["next_cursor"] is None
    assert "total_count" not in page
    assert page["request"] == {"params": {"account_id": caller.emulator.account_id}}


@pytest.mark.parametrize("count", [1, 2, 3, 6, 7, 8, 1_000])
async def test_pages_hold_everything_once(caller: Any, count: int) -> None:
    """Following cursors shows each record once, in full pages but the last."""
    ids = await _fill(caller)
    seen: list[str] = []
    query: dict[str, object] = {"count": count}
    while True:
        page = await _page(caller, **query)
        assert page["request"]["params"]["count"] == count
        seen += _ids(page)
        if page["next_cursor"] is None:
            break
        assert len(page["data"]) == count
        query["cursor"] = page["next_cursor"]
    assert seen == ids


async def test_a_cursor_keeps_its_place_when_records_go(caller: Any) -> None:
    """Deleting the record that a cursor points to loses nothing of what follows."""
    ids = await _fill(caller)
    cursor = (await _page(caller, count=3))["next_cursor"]
    await caller.call("DELETE", f"{caller.audiences}/{ids[2]}")
    assert _ids(await _page(caller, count=1_000, cursor=cursor)) == ids[3:]


@pytest.mark.parametrize(
    ("sort_by", "order"),
    [
        ("name-asc", [2, 0, 4, 1, 3, 5, 6]),
        ("name-desc", [6, 5, 3, 1, 4, 0, 2]),
        ("created_at-desc", [6, 5, 4, 3, 2, 1, 0]),
        ("deleted-desc,created_at-asc", [0, 1, 2, 3, 4, 5, 6]),
    ],
)
async def test_lists_can_be_sorted(caller: Any, sort_by: str, order: list[int]) -> None:
    """By an attribute, either way; the echo is an array. Names sort by their characters' numbers."""
    ids = await _fill(caller)
    page = await _page(caller, sort_by=sort_by)
    assert _ids(page) == [ids[place] for place in order]
    assert page["request"]["params"]["sort_by"] == sort_by.split(",")


async def test_sorted_pages_follow_each_other(caller: Any) -> None:
    """A cursor goes on in the order of its list."""
    ids = await _fill(caller)
    first = await _page(caller, sort_by="created_at-desc", count=4)
    second = await _page(caller, sort_by="created_at-desc", count=4, cursor=first["next_cursor"])
    assert _ids(first) + _ids(second) == ids[::-1]


async def test_a_total_is_told_when_asked_for(caller: Any) -> None:
    """The total counts what the list holds, whatever the page."""
    ids = await _fill(caller)
    page = await _page(caller, with_total_count="true", count=2)
    assert (page["total_count"], len(page["data"])) == (len(ids), 2)
    assert page["request"]["params"]["with_total_count"] is True
    assert "total_count" not in await _page(caller, with_total_count="false", cursor=page["next_cursor"])


@each_case(
    "query, code, parameter",
    [
        ({"count": 0}, "INVALID_PARAMETER", "count"),
        ({"count": 1_001}, "INVALID_PARAMETER", "count"),
        ({"count": "1.5"}, "INVALID_PARAMETER", "count"),
        ({"count": "٣"}, "INVALID_PARAMETER", "count"),
        ({"count": ""}, "INVALID_PARAMETER", "count"),
        ({"cursor": "made-up"}, "INVALID_PARAMETER", "cursor"),
        ({"cursor": ""}, "INVALID_PARAMETER", "cursor"),
        ({"cursor": "c-x", "with_total_count": "true"}, "EXCLUSIVE_PARAMETERS", "cursor"),
        ({"with_deleted": "yes"}, "INVALID_PARAMETER", "with_deleted"),
        ({"sort_by": "name"}, "INVALID_PARAMETER", "sort_by"),
        ({"sort_by": "account_id-asc"}, "INVALID_PARAMETER", "sort_by"),
        ({"sort_by": "name-up"}, "INVALID_PARAMETER", "sort_by"),
        ({"q": ""}, "INVALID_PARAMETER", "q"),
        ({"q": "x" * 256}, "INVALID_PARAMETER", "q"),
        ({"permission_scope": "MINE"}, "INVALID_PARAMETER", "permission_scope"),
        ({"custom_audience_ids": ",".join(["a"] * 201)}, "INVALID_PARAMETER", "custom_audience_ids"),
        ({"custom_audience_ids": "a,,b"}, "INVALID_PARAMETER", "custom_audience_ids"),
        ({"with_delete": "true"}, "INVALID_PARAMETER", "with_delete"),
    ],
)
async def test_impossible_parameters_are_refused(
    caller: Any, query: dict[str, object], code: str, parameter: str
) -> None:
    """Each with the published code and the name of the parameter."""
    reply = await caller.call("GET", caller.audiences, query=query)
    assert reply.status == 400
    assert [(error["code"], error["parameter"]) for error in reply.body["errors"]] == [(code, parameter)]
    assert reply.body["request"]["params"]["account_id"] == caller.emulator.account_id


async def test_parameters_at_their_bounds_are_taken(caller: Any) -> None:
    """The largest count, the longest prefix, the most ids."""
    for query in ({"count": 1_000}, {"q": "x" * 255}, {"custom_audience_ids": ",".join(["a"] * 200)}):
        assert (await caller.call("GET", caller.audiences, query=query)).status == 200


async def test_a_repeated_parameter_is_refused(caller: Any) -> None:
    """A query says each thing once."""
    repeated = await caller.call("GET", f"{caller.audiences}?count=1&count=1")
    assert (repeated.status, repeated.codes) == (400, ["INVALID_PARAMETER"])
