"""Faults that look like a success, over the wire."""

from __future__ import annotations

import json
from typing import Any

import pytest

from audiencekit.emulator.faults.misleadinglists import HOSTILE_IDS
from audiencekit.emulator.faults.successes import ANOTHER_ID

PLACES = pytest.mark.parametrize(("where", "applied"), [("after_apply", 2), ("before_apply", 0)])
COUNTS = {"success_count": 3, "total_count": 3}


@PLACES
@pytest.mark.parametrize("kind", ["invalid_json", "html", "empty", "null", "duplicate_keys", "nan", "deep", "large"])
async def test_a_200_is_no_answer(bench: Any, where: str, applied: int, kind: str) -> None:
    """Whether it was applied or not, the body is the one that was ordered."""
    await bench.order(16, where=where, kind=kind, bytes=100_000, depth=50_000)
    reply = await bench.upload()
    assert reply.status == 200
    assert len(await bench.log()) == applied
    content = reply.content
    if kind == "html":
        assert reply.headers["Content-Type"].startswith("text/html")
    elif kind in ("invalid_json", "deep"):
        with pytest.raises((ValueError, RecursionError)):
            json.loads(content)
    elif kind == "large":
        assert len(content) > 100_000
        assert json.loads(content)["data"] == COUNTS
    elif kind == "duplicate_keys":
        assert content.count(b'"data"') == 2
    else:
        assert content in (b"", b"null") or b"NaN" in content


@PLACES
@pytest.mark.parametrize(
    ("kind", "success", "total"),
    [
        ("success_short", 2, 3),
        ("both_short", 2, 2),
        ("both_long", 4, 4),
        ("success_long", 4, 3),
        ("operations", 2, 2),
        ("strings", "3", "3"),
        ("floats", 3.5, 3.5),
        ("negative", -3, -3),
        ("booleans", True, True),
        ("huge", 10**18, 10**18),
        ("null", None, None),
    ],
)
async def test_counts_are_wrong(bench: Any, where: str, applied: int, kind: str, success: Any, total: Any) -> None:
    """In each way, of three users in two operations."""
    await bench.order(17, where=where, kind=kind)
    reply = await bench.upload()
    assert reply.status == 200
    assert reply.body["data"] == {"success_count": success, "total_count": total}
    assert len(await bench.log()) == applied
    assert (await bench.upload()).body["data"] == COUNTS


async def test_counts_are_missing(bench: Any) -> None:
    """`data` is there, and empty."""
    await bench.order(17, kind="missing")
    assert (await bench.upload()).body["data"] == {}


async def test_only_answers_with_counts_are_miscounted(bench: Any) -> None:
    """A list of audiences is no match for fault 17."""
    await bench.order(17)
    assert (await bench.caller.call("GET", bench.caller.audiences)).status == 200
    assert await bench.fired() == []
    assert (await bench.upload()).body["data"]["success_count"] == 2


@PLACES
@pytest.mark.parametrize("kind", ["errors", "operation_errors"])
async def test_a_success_has_errors_in_it(bench: Any, where: str, applied: int, kind: str) -> None:
    """The counts are right, and beside them stands what contradicts them."""
    await bench.order(18, where=where, kind=kind)
    reply = await bench.upload()
    assert reply.status == 200
    assert reply.body["data"] == COUNTS
    assert reply.body[kind]
    assert len(await bench.log()) == applied


async def test_a_doctored_success_still_tells_the_rate(bench: Any) -> None:
    """The headers are those of the service."""
    await bench.order(17)
    assert (await bench.upload()).headers["x-rate-limit-remaining"] == "1499"


@pytest.mark.parametrize("number", [17, 18])
async def test_only_json_objects_are_doctored(bench: Any, number: int) -> None:
    """Pages and pairs are no match."""
    await bench.order(number)
    base = bench.caller.emulator.base_url
    assert (await bench.caller.send("GET", "/oauth/authorize", base=base)).status == 401
    assert (await bench.caller.send("GET", "/2/activity/stream", base=base)).status == 401
    token = bench.caller.emulator.store.tokens.give_bearer()
    headers = {"Authorization": f"Bearer {token}"}
    async with bench.caller.session.get(f"{base}/2/activity/stream", headers=headers) as stream:
        assert stream.status == 200
    assert await bench.fired() == []


async def _audiences(bench: Any, *cursors: str) -> list[Any]:
    """Return the answers of one page after the other."""
    paths = [bench.caller.audiences, *(f"{bench.caller.audiences}?cursor={cursor}" for cursor in cursors)]
    return [(await bench.caller.call("GET", path)).body for path in paths]


async def test_a_list_names_what_is_no_id(bench: Any) -> None:
    """In every entry, and of a single thing; what has no id stays as it is."""
    await bench.order(16, kind="hostile_ids", times=None)
    (page,) = await _audiences(bench)
    assert page["data"]
    assert all(entry["id"] in HOSTILE_IDS for entry in page["data"])
    audience = await bench.caller.call("GET", f"{bench.caller.audiences}/{bench.emulator.audience_id}")
    assert audience.body["data"]["id"] in HOSTILE_IDS
    assert (await bench.upload()).body["data"] == COUNTS


@pytest.mark.parametrize(
    ("kind", "cursors", "pages"), [("endless_pages", 3, 3), ("circular_pages", 1, 3), ("same_page", 3, 1)]
)
async def test_a_list_does_not_end(bench: Any, kind: str, cursors: int, pages: int) -> None:
    """With cursors or entries that are ever new, or neither."""
    await bench.order(16, where="before_apply", kind=kind, times=None)
    given = await _audiences(bench, "one", "two")
    assert len({page["next_cursor"] for page in given}) == cursors
    assert len({page["data"][0]["id"] for page in given}) == pages


@PLACES
@pytest.mark.parametrize(("kind", "data"), [("ids", COUNTS), ("shape", [COUNTS, COUNTS])])
async def test_an_answer_is_that_to_another_request(bench: Any, where: str, applied: int, kind: str, data: Any) -> None:
    """Other ids in the data and in the echo, or a list in place of an object."""
    await bench.order(39, where=where, kind=kind)
    reply = await bench.upload()
    assert reply.body["data"] == data
    assert (ANOTHER_ID in reply.content.decode()) is (kind == "ids")
    assert len(await bench.log()) == applied


@pytest.mark.parametrize(("kind", "one"), [("ids", ANOTHER_ID), ("shape", None)])
async def test_an_object_stands_where_a_list_was_asked_for(bench: Any, kind: str, one: str | None) -> None:
    """Or a list of others."""
    await bench.order(39, kind=kind)
    (page,) = await _audiences(bench)
    assert isinstance(page["data"], dict) is (kind == "shape")
    assert one is None or [entry["id"] for entry in page["data"]] == [one]
