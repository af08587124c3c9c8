"""Audience estimates, over the wire."""

from __future__ import annotations

from typing import Any

from tests.cases import each_case

KEYWORD = {"targeting_type": "BROAD_KEYWORD", "targeting_value": "running", "operator_type": "EQ"}
SIX_HOURS = 6 * 3_600


async def _estimate(caller: Any, *criteria: Any, **more: Any) -> Any:
    body = {"targeting_criteria": list(criteria), **more}
    return await caller.upload(body, path=caller.account + "/audience_estimate")


async def _bounds(caller: Any, *criteria: Any, **more: Any) -> tuple[int, int]:
    size = (await _estimate(caller, *criteria, **more)).body["data"]["audience_size"]
    return size["min"], size["max"]


async def test_an_estimate_has_two_bounds(caller: Any) -> None:
    """The echo has no criteria; the same question has the same answer."""
    reply = await _estimate(caller, KEYWORD)
    assert reply.body["request"]["params"] == {"targeting_criteria": None, "account_id": caller.emulator.account_id}
    size = reply.body["data"]["audience_size"]
    assert 0 < size["min"] < size["max"]
    assert (await _estimate(caller, KEYWORD)).content == reply.content


async def test_criteria_widen_narrow_and_take_away(caller: Any) -> None:
    """More keywords, more people; a place, fewer; negated, the others."""
    other = {**KEYWORD, "targeting_value": "jogging"}
    one = await _bounds(caller, KEYWORD)
    assert await _bounds(caller, KEYWORD, other) > one
    assert await _bounds(caller, KEYWORD, {"targeting_type": "LOCATION", "targeting_value": "5122804491"}) < one
    assert await _bounds(caller, KEYWORD, {**KEYWORD, "operator_type": "NE"}) == (0, 0)
    assert (await _bounds(caller, KEYWORD, operator_type="NE"))[1] > 300_000_000


async def test_the_people_of_an_audience_are_its_last_count(open_emulator: Any) -> None:
    """Before its first count it has no people."""
    async with open_emulator(match_rate=1.0) as caller:
        users = [{"email": [f"{number:064x}"]} for number in range(200)]
        await caller.upload([{"operation_type": "Update", "params": {"users": users}}])
        criterion = {"targeting_type": "CUSTOM_AUDIENCE", "targeting_value": caller.emulator.audience_id}
        assert await _bounds(caller, criterion) == (0, 0)
        await caller.move_clock(advance=SIX_HOURS)
        assert await _bounds(caller, criterion) == (190, 210)


@each_case(
    "body, parameter",
    [
        ([], "targeting_criteria"),
        ({}, "targeting_criteria"),
        ({"targeting_criteria": {}}, "targeting_criteria"),
        ({"targeting_criteria": []}, "targeting_criteria"),
        ({"targeting_criteria": [5]}, "targeting_criteria"),
        ({"targeting_criteria": [{"targeting_type": "LOCATION", "targeting_value": "1"}]}, "targeting_criteria"),
        ({"targeting_criteria": [{**KEYWORD, "name": "x"}]}, "targeting_criteria"),
        ({"targeting_criteria": [{**KEYWORD, "operator_type": "GTE"}]}, "operator_type"),
        ({"targeting_criteria": [{"targeting_value": "x"}]}, "targeting_type"),
        ({"targeting_criteria": [{"targeting_type": "BROAD_KEYWORD"}]}, "targeting_value"),
        ({"targeting_criteria": [{**KEYWORD, "targeting_value": 5}]}, "targeting_value"),
        (
            {"targeting_criteria": [{"targeting_type": "CUSTOM_AUDIENCE", "targeting_value": "nothing"}]},
            "targeting_value",
        ),
        ({"targeting_criteria": [KEYWORD], "operator_type": []}, "operator_type"),
        ({"targeting_criteria": [KEYWORD], "name": "x"}, "body"),
    ],
)
async def test_faulty_questions_are_refused(caller: Any, body: Any, parameter: str) -> None:
    """Each rule, broken once."""
    refused = await caller.upload(body, path=caller.account + "/audience_estimate")
    assert (refused.status, refused.body["errors"][0]["parameter"]) == (400, parameter)


async def test_an_estimate_is_json(caller: Any) -> None:
    """Another type is refused as everywhere."""
    refused = await caller.upload(b"{}", path=caller.account + "/audience_estimate", media_type="text/plain")
    assert refused.status == 415
