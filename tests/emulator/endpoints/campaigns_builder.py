"""Campaigns and line items, made over the wire for the tests that need some."""

from __future__ import annotations

from typing import Any

CAMPAIGN = {"name": "Spring", "daily_budget_amount_local_micro": 5_000_000}


async def make_instrument(caller: Any, **more: str) -> str:
    """A funding instrument of the sandbox."""
    query = {"currency": "EUR", "start_time": "2027-01-01T00:00:00Z", **more}
    path = caller.account + "/funding_instruments"
    reply = await caller.call("POST", path, query=query, base=caller.emulator.ads_sandbox_url)
    return str(reply.body["data"]["id"])


async def make_campaign(caller: Any, **more: Any) -> Any:
    """A campaign with a funding instrument of its own, unless one is given."""
    query = {**CAMPAIGN, "funding_instrument_id": more.pop("instrument", None) or await make_instrument(caller), **more}
    return await caller.call("POST", caller.account + "/campaigns", query=query)


async def make_line_item(caller: Any, campaign_id: str, **more: str) -> str:
    """A line item."""
    query = {"campaign_id": campaign_id, "objective": "REACH", "product_type": "PROMOTED_TWEETS", **more}
    reply = await caller.call("POST", caller.account + "/line_items", query=query)
    return str(reply.body["data"]["id"])
