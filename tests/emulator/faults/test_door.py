"""`/__faults` over the wire."""

from __future__ import annotations

import json
from typing import Any

import pytest


async def test_a_list_replaces_and_an_object_adds(bench: Any) -> None:
    """The order is shown with every default, and with its counts."""
    shown = await bench.door("POST", [{"fault": 8}, {"fault": 10, "p": 0.5}])
    assert [fault["fault"] for fault in shown["faults"]] == [8, 10]
    shown = await bench.order(11, nth=3, match={"path": "*/users"})
    assert [fault["fault"] for fault in shown["faults"]] == [8, 10, 11]
    assert shown["faults"][2] == {
        "fault": 11,
        "where": "before_apply",
        "match": {"path": "*/users"},
        "nth": 3,
        "times": 1,
        "seed": 0,
        "status": 408,
        "body": "json",
        "met": 0,
        "fired": 0,
    }
    shown = await bench.door("POST", [{"fault": 9}])
    assert [fault["fault"] for fault in shown["faults"]] == [9]


async def test_a_rehearsal_is_set_by_its_name(bench: Any) -> None:
    """In place of what was set."""
    await bench.order(8)
    shown = await bench.door("POST", {"rehearsal": "storm"})
    assert len(shown["faults"]) > 10


async def test_faults_are_cleared(bench: Any) -> None:
    """With their record."""
    await bench.order(8)
    assert (await bench.upload()).status == 500
    assert await bench.door("DELETE") == {"faults": [], "fired": []}
    assert (await bench.upload()).status == 200


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "not valid JSON"),
        (b"[", "not valid JSON"),
        (b'{"fault": 8, "fault": 9}', "repeats a key"),
        (b"8", "expected an object"),
        (b'[{"fault": 8}, {"fault": 8, "nth": 0}]', "fault 2 of 2"),
        (b'{"fault": 33}', "is outside"),
        (b'{"fault": 34}', "is outside"),
        (b'{"rehearsal": "sunshine"}', "storm"),
        (b'{"rehearsal": 1}', "storm"),
    ],
)
async def test_a_wrong_order_changes_nothing(bench: Any, body: bytes, words: str) -> None:
    """400 with what is wrong; the faults stay as they were."""
    await bench.order(10)
    reply = await bench.caller.send("POST", "/__faults", data=body)
    assert reply.status == 400
    assert words in reply.body["errors"][0]["message"]
    assert [fault["fault"] for fault in (await bench.door())["faults"]] == [10]


async def test_doors_are_not_struck(bench: Any) -> None:
    """A fault of every request strikes those of the API only."""
    await bench.door("POST", [{"fault": 13, "where": "headers", "times": None}])
    reply = await bench.caller.send("GET", "/__log")
    assert (reply.status, json.loads((await bench.caller.send("GET", "/__requests")).content)) == (200, [])
