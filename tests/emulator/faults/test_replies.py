"""Faults that are an answer, over the wire."""

from __future__ import annotations

import json
from typing import Any

import pytest

from audiencekit.emulator.faults.replies import ANOTHER_ID, FORGED, HOSTILE, HOSTILE_IDS

# --- Faults that are an answer, over the wire ---

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


# --- Faults that look like a success, over the wire ---

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


# --- Requests that are refused because of their records, over the wire ---

A, B, C = "a1" * 32, "b2" * 32, "c3" * 32


def _body(*operations: list[str]) -> list[Any]:
    return [
        {"operation_type": "Update", "params": {"users": [{"email": [text]} for text in texts]}} for texts in operations
    ]


def _named(body: Any) -> list[int]:
    return [index for index, problems in enumerate(body["operation_errors"]) if problems]


@pytest.mark.parametrize(
    ("bad", "named"),
    [
        (1, [1]),
        ([2, 0], [0, 2]),
        ("all", [0, 1, 2]),
        ({"prefix": "b2"}, [1]),
        ({"prefix": "c"}, [2]),
        ({"share": 1}, [0, 1, 2]),
    ],
)
async def test_bad_operations_are_named(bench: Any, bad: Any, named: list[int]) -> None:
    """A list of lists, empty for the good ones; the echo has one entry an operation; nothing is applied."""
    await bench.order(20, bad=bad)
    reply = await bench.upload(_body([A], [A, B], [C]))
    assert reply.status == 400
    assert len(reply.body["operation_errors"]) == len(reply.body["request"]) == 3
    assert _named(reply.body) == named
    assert await bench.log() == []


async def test_a_client_that_isolates_gets_through(bench: Any) -> None:
    """The rest without the bad record is taken; the record alone is refused for ever."""
    await bench.order(20, bad={"prefix": "b2"})
    assert (await bench.upload(_body([A, C]))).status == 200
    assert (await bench.upload(_body([B]))).status == 400
    assert (await bench.upload(_body([B]))).status == 400
    assert len(await bench.log()) == 1


async def test_a_share_of_records_is_bad_whatever_request_they_are_in(bench: Any) -> None:
    """The seed says which; each is bad by itself as in company."""
    hashes = [f"{number:064x}" for number in range(200)]
    await bench.order(20, bad={"share": 0.1}, seed=3)
    reply = await bench.upload(_body(*([text] for text in hashes)))
    named = _named(reply.body)
    assert 5 < len(named) < 40
    good = [text for index, text in enumerate(hashes) if index not in named]
    assert (await bench.upload(_body(*([text] for text in reversed(good))))).status == 200
    assert (await bench.upload(_body([hashes[named[0]]]))).status == 400


@pytest.mark.parametrize(
    ("bad", "shape", "expected"),
    [
        (1, "flat", [1]),
        ([0, 1], "flat", [0, 1]),
        ("out_of_range", "flat", [9]),
    ],
)
async def test_the_flat_shape_has_an_index_each(bench: Any, bad: Any, shape: str, expected: list[int]) -> None:
    """Also one that is out of range."""
    await bench.order(20, bad=bad, shape=shape)
    reply = await bench.upload(_body([A], [B]))
    assert [entry["index"] for entry in reply.body["operation_errors"]] == expected
    assert {entry["code"] for entry in reply.body["operation_errors"]} == {"INVALID_PARAMETER"}


async def test_a_nested_list_may_be_too_long(bench: Any) -> None:
    """Out of range in the nested shape: an entry for an operation that was not there."""
    await bench.order(20, bad="out_of_range")
    assert _named((await bench.upload(_body([A], [B]))).body) == [9]


async def test_errors_of_the_wrong_type_or_without_an_index(bench: Any) -> None:
    """An object in place of the list; or `errors` only."""
    await bench.order(20, bad="wrong_type", times=1)
    await bench.order(20, bad=0, shape="errors")
    assert isinstance((await bench.upload()).body["operation_errors"], dict)
    reply = await bench.upload()
    assert "operation_errors" not in reply.body
    assert reply.codes == ["INVALID_PARAMETER"]


async def test_a_duplicate_in_a_request_is_refused(bench: Any) -> None:
    """The second one is named; the same user in two requests is none."""
    await bench.order(21)
    assert (await bench.upload(_body([A, B]))).status == 200
    assert (await bench.upload(_body([A], [C]))).status == 200
    reply = await bench.upload(_body([A], [C], [B, A]))
    assert (reply.status, _named(reply.body)) == (400, [2])
    assert len(await bench.log()) == 3


async def test_a_limit_of_people(bench: Any) -> None:
    """However many operations they are spread over."""
    await bench.order(19, most_records=2)
    assert (await bench.upload(_body([A, B], [C]))).status == 400
    assert (await bench.upload(_body([A], [B]))).status == 200
    assert len(await bench.log()) == 2


@pytest.mark.parametrize("status", [400, 413])
async def test_a_body_over_a_limit_is_refused_whole(bench: Any, status: int) -> None:
    """`errors` only; half of it passes."""
    await bench.order(19, status=status, most_operations=2)
    reply = await bench.upload(_body([A], [B], [C]))
    assert (reply.status, reply.codes) == (status, ["REQUEST_TOO_COMPLEX"])
    assert (await bench.upload(_body([A], [B]))).status == 200
    assert len(await bench.log()) == 2


async def test_a_limit_of_bytes_or_none_at_all(bench: Any) -> None:
    """Over so many bytes; without a limit every request."""
    await bench.order(19, most_bytes=200)
    assert (await bench.upload(_body([A]))).status == 200
    assert (await bench.upload(_body([A, B, C]))).status == 400
    await bench.order(19)
    assert (await bench.upload(_body([A]))).status == 400


# --- Texts that act, over the wire ---

NO_TOKEN = {"resource_owner_key": None, "resource_owner_secret": None}


async def test_every_shown_text_of_a_list_acts(bench: Any) -> None:
    """Ids stay, since a client needs them for its next call; reasons are there where there were none."""
    await bench.order(37)
    page = (await bench.caller.call("GET", bench.caller.audiences)).body
    (audience,) = page["data"]
    assert audience["id"] == bench.emulator.audience_id
    assert audience["name"].endswith(HOSTILE.replace("\x7f", "\x7f\ud83d"))
    assert FORGED in audience["reasons_not_targetable"][-1]


async def test_with_all_texts_also_ids_act(bench: Any) -> None:
    """Of refusals, too; numbers stay what they are."""
    await bench.order(37, kind="all")
    page = (await bench.caller.call("GET", bench.caller.audiences)).body
    assert FORGED in page["data"][0]["id"]
    refused = await bench.caller.call("GET", f"{bench.caller.audiences}/none")
    assert refused.status == 404
    assert all(FORGED in text for text in refused.body["errors"][0].values())
    assert (await bench.upload()).body["data"] == {"success_count": 3, "total_count": 3}


@pytest.mark.parametrize(("kind", "acts"), [("shown", False), ("all", True)])
async def test_answers_of_pairs_act_likewise(bench: Any, kind: str, acts: bool) -> None:
    """The token of a person who logs in."""
    await bench.order(37, kind=kind)
    base, path = bench.emulator.base_url, "/oauth/request_token"
    signed = bench.caller.sign("POST", base + path, callback_uri="oob", **NO_TOKEN)
    reply = await bench.caller.send("POST", path, base=base, headers=signed)
    assert (FORGED.replace(" ", "+").replace(":", "%3A") in reply.content.decode()) is acts


async def test_a_refusal_quotes_all_that_was_sent(bench: Any) -> None:
    """The header with the signature, and the body; what was sent is applied."""
    await bench.order(37, kind="echo")
    reply = await bench.upload()
    assert reply.status == 400
    for text in reply.body["errors"][0].values():
        assert "oauth_signature=" in text
        assert "a1" * 32 in text
    assert len(await bench.log()) == 2
