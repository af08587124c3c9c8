"""Faults that are an answer, over the wire."""

from __future__ import annotations

import json
from typing import Any

import pytest

START = 1_800_000_000.25
HEADER, ACCOUNT = "x-rate-limit-reset", "x-account-rate-limit-reset"


@pytest.mark.parametrize(
    ("order", "status", "code"),
    [
        ({"fault": 8}, 500, "INTERNAL_ERROR"),
        ({"fault": 8, "status": 502, "where": "headers"}, 502, "INTERNAL_ERROR"),
        ({"fault": 10}, 503, "OVER_CAPACITY"),
        ({"fault": 10, "code": "SERVICE_UNAVAILABLE"}, 503, "SERVICE_UNAVAILABLE"),
        ({"fault": 11}, 408, "CANCELLED_REQUEST"),
        ({"fault": 11, "status": 423}, 423, "LOCK_ACQUISITION_TIMEOUT"),
        ({"fault": 22}, 401, 89),
        ({"fault": 24}, 401, 32),
        ({"fault": 24, "kind": "account"}, 403, "ACCOUNT_NOT_FOUND"),
        ({"fault": 24, "kind": "application"}, 403, "UNAUTHORIZED_CLIENT_APPLICATION"),
        ({"fault": 25}, 404, "NOT_FOUND"),
        ({"fault": 25, "kind": "permission"}, 403, "INSUFFICIENT_USER_AUTHORIZED_PERMISSION"),
    ],
)
async def test_a_status_comes_and_nothing_is_applied(bench: Any, order: dict[str, Any], status: int, code: Any) -> None:
    """The catalogue's status and code; the fault is on record with the request that it struck."""
    await bench.order(order.pop("fault"), **order)
    reply = await bench.upload()
    assert (reply.status, reply.codes) == (status, [code])
    assert await bench.log() == []
    fired = await bench.fired()
    assert [(each[2], each[3]) for each in fired] == [(1, False)]


@pytest.mark.parametrize("number", [9, 10, 11])
async def test_after_it_was_applied_the_same_status_comes(bench: Any, number: int) -> None:
    """The operations are there, and the log says that a fault struck their request."""
    await bench.order(number, where="after_apply")
    reply = await bench.upload()
    assert reply.status in (500, 503, 408)
    assert [line["fault"] for line in await bench.log()] == [number, number]
    assert await bench.fired() == [(number, "after_apply", 1, True)]
    assert (await bench.upload()).status == 200
    assert ["fault" in line for line in await bench.log()] == [True, True, False, False]


@pytest.mark.parametrize(("body", "start"), [("json", b"{"), ("html", b"<html>"), ("empty", b"")])
async def test_a_body_is_json_html_or_nothing(bench: Any, body: str, start: bytes) -> None:
    """With the type that it says."""
    await bench.order(8, body=body)
    reply = await bench.upload()
    assert reply.content.startswith(start)
    assert bool(reply.content) == bool(start)
    assert reply.headers["Content-Type"].startswith("text/html" if body == "html" else "application/json")


@pytest.mark.parametrize(
    ("number", "order", "headers"),
    [
        (4, {"reset": 5}, {ACCOUNT: "1800000006"}),
        (5, {"reset": 5}, {HEADER: "1800000006"}),
        (5, {"reset": 60, "account_reset": 5}, {HEADER: "1800000061", ACCOUNT: "1800000006"}),
        (6, {}, {}),
        (6, {"reset": "past"}, {HEADER: "1799996400"}),
        (6, {"reset": "far_future"}, {HEADER: "4955760000"}),
        (6, {"reset": "text"}, {HEADER: "soon"}),
        (6, {"reset": "negative"}, {HEADER: "-1"}),
        (6, {"reset": "float"}, {HEADER: "1800000001.750"}),
        (6, {"reset": "huge"}, {HEADER: "9" * 400}),
        (6, {"reset": "milliseconds"}, {HEADER: "1800000002250"}),
        (7, {}, {HEADER: "1800000003"}),
    ],
)
async def test_a_429_has_the_resets_that_were_ordered(
    bench: Any, number: int, order: dict[str, Any], headers: dict[str, str]
) -> None:
    """And no others; nothing is applied."""
    await bench.order(number, **order)
    reply = await bench.upload()
    assert (reply.status, reply.codes) == (429, ["TOO_MANY_REQUESTS"])
    assert {name: reply.headers[name] for name in (HEADER, ACCOUNT) if name in reply.headers} == headers
    assert await bench.log() == []


async def test_a_burst_is_ten(bench: Any) -> None:
    """Fault 7 strikes ten times, far under the rate."""
    await bench.order(7)
    statuses = [(await bench.upload()).status for _ in range(12)]
    assert statuses == [429] * 10 + [200] * 2


@pytest.mark.parametrize(
    ("given", "header"),
    [
        (3, "3"),
        (0.5, "0.5"),
        (-1e8, "-100000000"),
        ("nan", "nan"),
        ("missing", None),
        ({"date": 10}, "Fri, 15 Jan 2027 08:00:10 GMT"),
    ],
)
async def test_retry_after_comes_in_each_form(bench: Any, given: Any, header: str | None) -> None:
    """Seconds, a date, or not at all."""
    await bench.order(10, retry_after=given)
    assert (await bench.upload()).headers.get("retry-after") == header


async def test_a_token_is_revoked_from_then_on(bench: Any) -> None:
    """For every call; until the faults are cleared."""
    await bench.order(22, nth=3)
    statuses = [(await bench.upload()).status for _ in range(5)]
    assert statuses == [200, 200, 401, 401, 401]
    assert (await bench.caller.call("GET", bench.caller.audiences)).status == 401
    await bench.door("DELETE")
    assert (await bench.upload()).status == 200


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_leads_where_it_was_told(bench: Any, status: int) -> None:
    """Status and `Location`."""
    await bench.order(30, status=status, location="https://ads.example.com/elsewhere")
    reply = await bench.upload()
    assert (reply.status, reply.headers["Location"]) == (status, "https://ads.example.com/elsewhere")
    assert await bench.log() == []


async def test_rates_are_not_told_by_what_stands_between(bench: Any) -> None:
    """A 502 of a gateway has no rate headers; the fault took its part of the quota all the same."""
    await bench.order(8, status=502)
    assert "x-rate-limit-remaining" not in (await bench.upload()).headers
    assert (await bench.upload()).headers["x-rate-limit-remaining"] == "1498"


async def test_an_answer_names_the_audience_parameter(bench: Any) -> None:
    """404 as for an audience that is not there."""
    await bench.order(25)
    assert json.loads((await bench.upload()).content)["errors"][0]["parameter"] == "custom_audience_id"


async def test_a_refused_request_was_not_applied(bench: Any) -> None:
    """A fault after the apply does not strike a request that had none; the next good one it does."""
    await bench.order(9)
    assert (await bench.upload([])).status == 400
    assert await bench.fired() == []
    assert (await bench.upload()).status == 500
    assert await bench.fired() == [(9, "after_apply", 2, True)]
