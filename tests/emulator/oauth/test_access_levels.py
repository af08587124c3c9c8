"""The rights of an access token: those that were asked for when its authorization began."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from audiencekit.emulator.calls import Address
from audiencekit.emulator.routes import ROUTES
from audiencekit.emulator.routing import Credential
from tests.emulator.oauth.test_authorization import access_token

# Nothing of the user's is changed by these, although their method is POST: a token is ended, an estimate is made.
ENDS = {"/1.1/oauth/invalidate_token", "/1.1/oauth/invalidate_token.json", "/oauth2/invalidate_token"}
ESTIMATE = "/12/accounts/:account_id/audience_estimate"

Answer = tuple[int, str]


@pytest.mark.parametrize("name", ["platform_auth_access_type", "x_auth_access_type"])
@pytest.mark.parametrize("access", ["read", "write"])
async def test_a_token_may_do_what_was_asked_for(caller: Any, name: str, access: str) -> None:
    """One that may only read is refused what writes, and says so in its answers; it can be ended all the same."""
    keys = await access_token(caller, f"?{name}={access}")

    async def call(method: str, path: str, base: str = "") -> Any:
        base = base or caller.emulator.ads_url
        return await caller.send(method, path, base=base, headers=caller.sign(method, base + path, **keys))

    level = {"read": "read", "write": "read-write"}[access]
    listed = await call("GET", caller.audiences)
    assert (listed.status, listed.headers["x-access-level"]) == (200, level)
    one = f"{caller.audiences}/{caller.emulator.audience_id}"
    for method, path in (("POST", f"{caller.audiences}?name=x"), ("PUT", f"{one}?name=y"), ("DELETE", one)):
        reply = await call(method, path)
        if access == "write":
            assert reply.status in (200, 201)
            continue
        code = reply.body["errors"][0]["code"]
        assert (reply.status, code) == (403, "INSUFFICIENT_USER_AUTHORIZED_PERMISSION")
        assert reply.headers["x-access-level"] == "read"
    assert (await call("POST", "/1.1/oauth/invalidate_token", caller.emulator.base_url)).status == 200
    assert (await call("GET", caller.audiences)).status == 401


def _endpoints() -> Iterator[tuple[str, str, Address]]:
    """Method, path and address of all that take the token of a user; the ends of tokens are tried above."""
    rows = [(route, "/" + "/".join(route.pattern)) for route in ROUTES if route.credential is Credential.USER]
    assert {path for _, path in rows} >= {*ENDS, ESTIMATE}
    return ((route.method, path, min(route.addresses)) for route, path in rows if path not in ENDS)


async def _answers(caller: Any, keys: dict[str, str], *, writing: bool) -> dict[tuple[str, str], Answer]:
    """The status, and the level of access that is named, of every endpoint that writes, or of every other."""
    emulator = caller.emulator
    bases = {Address.ADS: emulator.ads_url, Address.SANDBOX: emulator.ads_sandbox_url, Address.BASE: emulator.base_url}
    answers = {}
    for method, pattern, address in _endpoints():
        if (method != "GET" and pattern != ESTIMATE) is not writing:
            continue
        known = pattern.replace(":account_id", emulator.account_id).replace(":custom_audience_id", emulator.audience_id)
        path = re.sub(r":\w+", "8", known)
        reply = await caller.send(
            method, path, base=bases[address], headers=caller.sign(method, bases[address] + path, **keys)
        )
        answers[method, pattern] = reply.status, reply.headers.get("x-access-level", "")
    return answers


async def test_a_token_that_reads_writes_nowhere(caller: Any) -> None:
    """Every endpoint that writes refuses it; every other answers it as it answers a token that may write."""
    keys = await access_token(caller, "?platform_auth_access_type=read")
    refused = await _answers(caller, keys, writing=True)
    assert len(refused) > 50
    assert {key: answer for key, answer in refused.items() if answer != (403, "read")} == {}
    reading, full = [await _answers(caller, each, writing=False) for each in (keys, {})]
    assert len(reading) > 50
    assert reading == {key: (status, "read") for key, (status, _) in full.items()}
    assert {level for _, level in full.values()} == {"read-write"}


async def test_it_stays_one_over_a_restart(open_emulator: Any, tmp_path: Path) -> None:
    """Of the emulator, with its state file."""
    async with open_emulator(state=tmp_path / "state") as caller:
        keys = await access_token(caller, "?platform_auth_access_type=read")
    async with open_emulator(state=tmp_path / "state") as caller:
        path = f"{caller.audiences}?name=x"
        headers = caller.sign("POST", caller.emulator.ads_url + path, **keys)
        assert (await caller.send("POST", path, headers=headers)).status == 403
