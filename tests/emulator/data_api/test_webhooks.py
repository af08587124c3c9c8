"""Webhooks over the wire."""

from __future__ import annotations

from typing import Any

import pytest

from tests.emulator.data_api.builder import ask, is_invalid


@pytest.mark.parametrize("webhook_id", ["1", "1234567890123456789"])
async def test_a_webhook_is_linked(caller: Any, webhook_id: str) -> None:
    """By its number of up to 19 digits, with fields and expansions; again, it is the same."""
    query = {"tweet.fields": "created_at", "expansions": "attachments.media_keys", "media.fields": "url"}
    for _ in range(2):
        reply = await ask(caller, "POST", f"/tweets/search/webhooks/{webhook_id}", query)
        assert (reply.status, reply.body) == (200, {"data": {"provisioned": True}})


@pytest.mark.parametrize("path", ["a", "12345678901234567890", "-1", "1?tweet.fields=source", "1?colour=red"])
async def test_an_invalid_link_is_a_problem(caller: Any, path: str) -> None:
    """A number that is none, and a field that was removed."""
    assert is_invalid(await ask(caller, "POST", f"/tweets/search/webhooks/{path}"))


async def test_a_webhook_is_asked_to_repeat(caller: Any) -> None:
    """Each time another job."""
    jobs = [(await ask(caller, "POST", "/webhooks/replay")).body["data"] for _ in range(2)]
    assert {job["created_at"] for job in jobs} == {"2027-01-15T08:00:00Z"}
    assert len({job["job_id"] for job in jobs}) == 2
