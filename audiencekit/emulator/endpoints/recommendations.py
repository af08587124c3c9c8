"""Recommendations: at most one for each funding instrument (specification part 1, section 4.10).

They are a closed beta. Their content follows from the present campaigns, and their ids stay the same.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any, Final

from audiencekit.emulator.answers import Answer, format_time, success
from audiencekit.emulator.authentication import base36
from audiencekit.emulator.calls import Call
from audiencekit.emulator.endpoints.accounts import RECOMMENDATIONS
from audiencekit.emulator.endpoints.campaigns import CAMPAIGNS, FUNDING_INSTRUMENTS, LINE_ITEMS
from audiencekit.emulator.parameters import Parameters
from audiencekit.emulator.resources import Record

# --- Recommendations: listed, and shown with their changes ---


def list_recommendations(call: Call) -> Answer:
    """Answer `GET …/recommendations`: the present ones, without their changes, and always how many."""
    call.require_feature(RECOMMENDATIONS)
    parameters = Parameters(call)
    parameters.finish()
    shown = [summary for summary, _ in _recommendations(call)]
    return success(parameters.echo, shown, next_cursor=None, total_count=len(shown))


def show_recommendation(call: Call) -> Answer:
    """Answer `GET …/recommendations/:recommendation_id`: one with the tree of its changes."""
    call.require_feature(RECOMMENDATIONS)
    parameters = Parameters(call)
    parameters.finish()
    wanted = call.ids["recommendation_id"]
    for summary, changes in _recommendations(call):
        if summary["id"] == wanted:
            return success(parameters.echo, {**summary, "changes": changes})
    message = f"Recommendation {wanted} was not found for Account {call.account.id}"
    raise call.refuse(404, "NOT_FOUND", message, "recommendation_id")


def _recommendations(call: Call) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    for instrument in FUNDING_INSTRUMENTS.all(call).values():
        campaigns = _below(call, instrument)
        branches = [change_campaign(campaign, items) for campaign, items in campaigns]
        changes = [branch for branch in branches if branch is not None]
        if changes:
            times = [record.updated_at for campaign, items in campaigns for record in (campaign, *items)]
            yield _summary(call, instrument, max(times)), changes


def _below(call: Call, instrument: Record) -> list[tuple[Record, list[Record]]]:
    """Return the campaigns of a funding instrument, each with its line items; none that was deleted."""
    items = [item for item in LINE_ITEMS.all(call).values() if not item.deleted]
    return [
        (campaign, [item for item in items if item.fields["campaign_id"] == campaign.id])
        for campaign in CAMPAIGNS.all(call).values()
        if campaign.fields["funding_instrument_id"] == instrument.id and not campaign.deleted
    ]


def _summary(call: Call, instrument: Record, updated_at: float) -> dict[str, Any]:
    chance = random.Random(f"{call.options.seed} {instrument.id} recommendation")
    return {
        "funding_instrument_id": instrument.id,
        "id": base36(chance.randrange(36**11, 36**12)),
        "account_id": call.account.id,
        "status": "PENDING",
        "message": "Changes that may bring more for the money",
        "created_at": format_time(instrument.created_at),
        "updated_at": format_time(updated_at),
    }


# --- Recommendations for a campaign and its line items: steps that the campaign endpoints can carry out ---
#
# The specification does not say how the service finds its recommendations. Here the daily budget of an active campaign
# should grow by a fifth, a campaign without line items should get one, and paused line items should be deleted.

_DAILY, _TOTAL = "daily_budget_amount_local_micro", "total_budget_amount_local_micro"
_FIRST_LINE_ITEM: Final = {"objective": "ENGAGEMENTS", "product_type": "PROMOTED_TWEETS"}


def change_campaign(campaign: Record, line_items: list[Record]) -> dict[str, Any] | None:
    """Return the recommended changes of a campaign, with its line items below it; None without any."""
    below = _change_line_items(campaign, line_items)
    daily = campaign.fields[_DAILY] if campaign.fields["entity_status"] == "ACTIVE" else None
    more = _raise(daily, campaign.fields[_TOTAL]) if daily else None
    if more == daily and not below:
        return None
    params = {"campaign_id": campaign.id, **({} if more == daily else {_DAILY: more})}
    return _step("campaigns", None if more == daily else "Update", params, below)


def _raise(daily: int, total: int | None) -> int:
    return daily + daily // 5 if total is None else min(daily + daily // 5, total)


def _change_line_items(campaign: Record, line_items: list[Record]) -> list[dict[str, Any]]:
    if not line_items:
        return [_step("line_items", "Create", {"campaign_id": campaign.id, **_FIRST_LINE_ITEM}, [])]
    paused = [item for item in line_items if item.fields["entity_status"] == "PAUSED"]
    return [_step("line_items", "Delete", {"line_item_id": item.id}, []) for item in paused]


def _step(
    entity_type: str, operation_type: str | None, params: dict[str, Any], below: list[dict[str, Any]]
) -> dict[str, Any]:
    return {
        "entity_type": entity_type,
        "operation_type": operation_type,
        "params": params,
        "dependent_entities": below,
    }
