"""Recommendations for a campaign and its line items: steps that the campaign endpoints can carry out.

The specification does not say how the service finds its recommendations. Here the daily budget of an active campaign
should grow by a fifth, a campaign without line items should get one, and paused line items should be deleted.
"""

from __future__ import annotations

from typing import Any, Final

from audiencekit.emulator.resources.records import Record

_DAILY, _TOTAL = "daily_budget_amount_local_micro", "total_budget_amount_local_micro"
_FIRST_LINE_ITEM: Final = {"objective": "ENGAGEMENTS", "product_type": "PROMOTED_TWEETS"}


def change_campaign(campaign: Record, line_items: list[Record]) -> dict[str, Any] | None:
    """Return the branch of a campaign, with those of its line items below it; None when nothing is to be done."""
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
