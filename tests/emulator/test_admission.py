"""Whether a request is let in, over the wire: signature, rate, account and body."""

from __future__ import annotations

import json
from typing import Any

import pytest

H1 = "a1" * 32
LIMIT = 5_000_000


def _body(size: int = 0) -> bytes:
    operation = {"operation_type": "Update", "params": {"users": [{"email": [H1]}]}}
    text = json.dumps([operation]).encode()
    return text + b" " * (size - len(text))


async def test_too_many_requests_are_refused_until_the_reset(open_emulator: Any) -> None:
    """429 with the headers, nothing applied; after the reset the window is a new one."""
    async with open_emulator(rate=(3, 10.0)) as caller:
        statuses = [(await caller.upload(_body())).status for _ in range(4)]
        assert statuses == [200, 200, 200, 429]
        refused = await caller.upload(_body())
        assert refused.codes == ["TOO_MANY_REQUESTS"]
        assert refused.headers["x-rate-limit-remaining"] == "0"
        assert len(await caller.log()) == 3
        await caller.move_clock(advance=9.5)
        assert (await caller.upload(_body())).status == 429
        await caller.move_clock(set=float(refused.headers["x-rate-limit-reset"]))
        assert (await caller.upload(_body())).status == 200


async def test_windows_are_as_published(caller: Any) -> None:
    """Writes together, reads by endpoint, lists with a total apart, users by themselves."""
    one = f"{caller.audiences}/{caller.emulator.audience_id}"
    calls = [
        ("POST", caller.audiences, {"name": "a"}),
        ("PUT", one, {"name": "b"}),
        ("GET", caller.audiences, {"count": 1}),
        ("GET", one, None),
        ("GET", caller.audiences, {"with_total_count": "true"}),
        ("GET", caller.audiences, {"with_total_count": "false"}),
    ]
    replies = [await caller.call(method, path, query=query) for method, path, query in calls]
    names = ("x-rate-limit-limit", "x-rate-limit-remaining")
    assert [tuple(int(reply.headers[name]) for name in names) for reply in replies] == [
        (450, 449),
        (450, 448),
        (2_000, 1_999),
        (2_000, 1_999),
        (200, 199),
        (2_000, 1_998),
    ]


@pytest.mark.parametrize("chunked", [False, True])
async def test_the_limit_of_a_body_is_exact(caller: Any, chunked: bool) -> None:
    """5,000,000 bytes pass, 5,000,001 do not, whether the length is told beforehand or not."""

    async def parts(body: bytes) -> Any:
        for start in range(0, len(body), 1_000_000):
            yield body[start : start + 1_000_000]

    for size, status in ((LIMIT, 200), (LIMIT + 1, 413)):
        body = _body(size)
        reply = await caller.call(
            "POST",
            caller.users,
            data=parts(body) if chunked else body,
            headers={"Content-Type": "application/json"},
        )
        assert reply.status == status
    assert reply.codes == ["REQUEST_TOO_COMPLEX"]
    assert [entry["bytes"] for entry in (await caller.send("GET", "/__requests")).body] == [LIMIT, LIMIT + 1]
    assert len(await caller.log()) == 1


@pytest.mark.parametrize(("encoding", "status"), [("identity", 200), ("gzip", 415), ("deflate", 415)])
async def test_only_plain_bodies_are_taken(caller: Any, encoding: str, status: int) -> None:
    """A packed body is refused, not unpacked."""
    headers = {"Content-Type": "application/json", "Content-Encoding": encoding}
    assert (await caller.call("POST", caller.users, data=_body(), headers=headers)).status == status


async def test_a_form_is_covered_by_the_signature(caller: Any) -> None:
    """A form body that was not signed is not let in; a signed one is no JSON."""
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    assert (await caller.call("POST", caller.users, data=b"a=b", headers=headers)).codes == [32]
    assert (await caller.call("POST", caller.users, data=b"", headers=headers)).status == 415


async def test_an_unknown_account_is_refused(caller: Any) -> None:
    """403 with the captured body; the rate counts."""
    reply = await caller.call("GET", "/12/accounts/unknown/custom_audiences")
    assert reply.status == 403
    assert reply.body == {
        "errors": [{"code": "NOT_FOUND", "message": "Account unknown was not found"}],
        "request": {"params": {}},
    }
    assert reply.headers["x-rate-limit-remaining"] == "1999"


async def test_a_call_that_was_let_in_is_not_let_in_again(caller: Any) -> None:
    """A replay of the very same bytes is refused, and applies nothing."""
    headers = {
        **caller.sign("POST", caller.emulator.ads_url + caller.users),
        "Content-Type": "application/json",
    }
    first = await caller.send("POST", caller.users, data=_body(), headers=headers)
    second = await caller.send("POST", caller.users, data=_body(), headers=headers)
    assert (first.status, second.status, second.codes) == (200, 401, [32])
    assert len(await caller.log()) == 1


async def test_the_signature_goes_by_the_moved_clock(caller: Any) -> None:
    """A client with another clock learns the right time from `Date`."""
    old = caller.sign("GET", caller.emulator.ads_url + caller.audiences)
    await caller.move_clock(advance=301)
    refused = await caller.send("GET", caller.audiences, headers=old)
    assert (refused.status, refused.codes) == (401, [135])
    assert refused.headers["Date"] == "Fri, 15 Jan 2027 08:05:01 GMT"
    assert (await caller.call("GET", caller.audiences)).status == 200


async def test_a_token_that_may_only_read_changes_nothing(caller: Any) -> None:
    """403 for calls that change something, which count for the rate."""
    caller.emulator.store.tokens.readers.add(caller.emulator.env["AUDIENCEKIT_ACCESS_TOKEN"])
    assert (await caller.call("GET", caller.audiences)).status == 200
    refused = await caller.upload(_body())
    assert (refused.status, refused.codes) == (403, ["INSUFFICIENT_USER_AUTHORIZED_PERMISSION"])
    assert refused.headers["x-rate-limit-remaining"] == "1499"
    assert await caller.log() == []
