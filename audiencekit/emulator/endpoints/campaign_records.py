"""The kinds funding instrument, campaign, line item and targeting criterion, and how each is shown."""

from __future__ import annotations

from typing import Any, Final

from audiencekit.emulator.paging import Listing
from audiencekit.emulator.records import Record
from audiencekit.emulator.resources import Resource

_NAMED: Final = Listing(sortable=("name", "created_at", "updated_at", "deleted"))


def show_campaign(record: Record) -> dict[str, Any]:
    """Return a campaign, with the fields that follow from its state."""
    is_active = record.fields["entity_status"] == "ACTIVE"
    return {
        **record.document(),
        "servable": None if record.deleted else is_active,
        "effective_status": "RUNNING" if is_active or record.deleted else "UNKNOWN",
        "reasons_not_servable": [] if is_active or record.deleted else ["PAUSED_BY_ADVERTISER"],
    }


def show_funding_instrument(record: Record) -> dict[str, Any]:
    """Return a funding instrument, with the fields that follow from its state."""
    reasons = ["DELETED"] if record.deleted else []
    return {**record.document(), "able_to_fund": not record.deleted, "reasons_not_able_to_fund": reasons}


FUNDING_INSTRUMENTS: Final = Resource(
    kind="funding_instruments",
    noun="Funding Instrument",
    id_name="funding_instrument_id",
    show=show_funding_instrument,
)
CAMPAIGNS: Final = Resource(
    kind="campaigns",
    noun="Campaign",
    id_name="campaign_id",
    filters=("funding_instrument_ids",),
    listing=_NAMED,
    has_q=True,
    show=show_campaign,
)
LINE_ITEMS: Final = Resource(
    kind="line_items",
    noun="Line Item",
    id_name="line_item_id",
    filters=("campaign_ids", "funding_instrument_ids"),
    listing=_NAMED,
    has_q=True,
)
TARGETING_CRITERIA: Final = Resource(
    kind="targeting_criteria",
    noun="Targeting Criterion",
    id_name="targeting_criterion_id",
    filters=("line_item_ids",),
)
