"""The parts that creatives need in a fresh account, and the calls that are refused."""

from __future__ import annotations

import json
from typing import Any


async def media_keys(caller: Any, media_type: str) -> list[str]:
    """The keys of one type in the library: of images the fifth is the last of 1.91:1, then one of 5:2, one too narrow;
    the third video is square."""
    reply = await caller.call("GET", caller.account + "/media_library", query={"media_type": media_type})
    return [entry["media_key"] for entry in reply.body["data"]]


async def account_media(caller: Any, creative_type: str) -> str:
    """An asset of a creative type."""
    reply = await caller.call("GET", caller.account + "/account_media", query={"creative_types": creative_type})
    return str(reply.body["data"][0]["id"])


async def refused(caller: Any, method: str, path: str, query: Any = None, body: Any = None) -> tuple[Any, ...]:
    """Status, code and parameter of a refusal; `body` goes as JSON."""
    if body is None:
        reply = await caller.call(method, path, query=query)
    else:
        headers = {"Content-Type": "application/json"}
        reply = await caller.call(method, path, data=json.dumps(body).encode(), headers=headers)
    error = reply.body["errors"][0]
    return reply.status, error["code"], error.get("parameter")
