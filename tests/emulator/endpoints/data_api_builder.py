"""Calls to the data API, with the application's token."""

from __future__ import annotations

import base64
from typing import Any
from urllib.parse import urlencode


async def get_token(caller: Any) -> str:
    """The bearer token."""
    env = caller.emulator.env
    pair = f"{env['AUDIENCEKIT_CONSUMER_KEY']}:{env['AUDIENCEKIT_CONSUMER_SECRET']}"
    headers = {
        "Authorization": "Basic " + base64.b64encode(pair.encode()).decode(),
        "Content-Type": "application/x-www-form-urlencoded",
    }
    url, form = caller.emulator.base_url, b"grant_type=client_credentials"
    return str((await caller.send("POST", "/oauth2/token", base=url, data=form, headers=headers)).body["access_token"])


async def ask(caller: Any, method: str, path: str, query: Any = None, *, data: bytes | None = None) -> Any:
    """The answer to a call; `path` is below the version."""
    headers = {"Authorization": f"Bearer {await get_token(caller)}"}
    if data is not None:
        headers["Content-Type"] = "application/json"
    path = f"/2{path}?{urlencode(query)}" if query else f"/2{path}"
    return await caller.send(method, path, base=caller.emulator.base_url, data=data, headers=headers)


def is_invalid(reply: Any) -> bool:
    """Whether an answer says that the request could not be read, in the form of a problem."""
    (problem,) = reply.body["errors"]
    kind = "https://api.x.com/2/problems/invalid-request"
    wanted = {"title": "Invalid Request", "type": kind, "status": 400, "detail": problem["detail"]}
    return bool(reply.status == 400 and problem == wanted and problem["detail"])
