"""Drafts, scheduled tweets and tweets, made over the wire for the tests that need some."""

from __future__ import annotations

from typing import Any

PATHS = {"draft": "/draft_tweets", "scheduled": "/scheduled_tweets", "tweet": "/tweet"}
TOMORROW = "2027-01-16T08:00:00Z"


async def write(caller: Any, kind: str, **more: Any) -> Any:
    """A draft, a scheduled tweet or a tweet, with another parameter or more; an empty one is left out."""
    query = {"as_user_id": caller.emulator.store.origin.user_id, "text": "Spring is here"}
    if kind == "scheduled":
        query["scheduled_at"] = TOMORROW
    query = {name: value for name, value in {**query, **more}.items() if value != ""}
    return await caller.call("POST", caller.account + PATHS[kind], query=query)


async def read(caller: Any, path: str, **query: Any) -> Any:
    """The data of an answer."""
    return (await caller.call("GET", caller.account + path, query=query)).body["data"]


def problem(reply: Any) -> tuple[Any, ...]:
    """Status, code and parameter of a refusal."""
    error = reply.body["errors"][0]
    return reply.status, error["code"], error.get("parameter")
