"""The endpoints of campaigns and of what stands above and below them."""

from __future__ import annotations

from typing import Final

from audiencekit.emulator.calls import Address
from audiencekit.emulator.campaigns.batch import batch_campaigns, batch_criteria, batch_line_items
from audiencekit.emulator.campaigns.campaigns import change_campaign, create_campaign, list_campaigns
from audiencekit.emulator.campaigns.funding import create_funding_instrument
from audiencekit.emulator.campaigns.kinds import CAMPAIGNS, FUNDING_INSTRUMENTS, LINE_ITEMS, TARGETING_CRITERIA
from audiencekit.emulator.campaigns.line_items import change_line_item, create_line_item, list_line_items
from audiencekit.emulator.campaigns.targeting import create_criterion, list_criteria, list_targeted
from audiencekit.emulator.rate_limits import CORE_READS, READS, WRITES
from audiencekit.emulator.routing import Route

_ACCOUNT: Final = "/accounts/:account_id"
_FUNDING: Final = _ACCOUNT + "/funding_instruments"
_CAMPAIGNS: Final = _ACCOUNT + "/campaigns"
_LINE_ITEMS: Final = _ACCOUNT + "/line_items"
_CRITERIA: Final = _ACCOUNT + "/targeting_criteria"

ROUTES: Final = (
    Route("GET", _FUNDING, FUNDING_INSTRUMENTS.list_records, READS),
    Route("POST", _FUNDING, create_funding_instrument, WRITES, frozenset({Address.SANDBOX})),
    Route("GET", _FUNDING + "/:funding_instrument_id", FUNDING_INSTRUMENTS.show_record, READS),
    Route("GET", _CAMPAIGNS, list_campaigns, CORE_READS),
    Route("POST", _CAMPAIGNS, create_campaign, WRITES),
    Route("POST", "/batch" + _CAMPAIGNS, batch_campaigns, WRITES),
    Route("GET", _CAMPAIGNS + "/:campaign_id", CAMPAIGNS.show_record, CORE_READS),
    Route("PUT", _CAMPAIGNS + "/:campaign_id", change_campaign, WRITES),
    Route("DELETE", _CAMPAIGNS + "/:campaign_id", CAMPAIGNS.delete_record, WRITES),
    Route("GET", _LINE_ITEMS, list_line_items, CORE_READS),
    Route("POST", _LINE_ITEMS, create_line_item, WRITES),
    Route("POST", "/batch" + _LINE_ITEMS, batch_line_items, WRITES),
    Route("GET", _LINE_ITEMS + "/:line_item_id", LINE_ITEMS.show_record, CORE_READS),
    Route("PUT", _LINE_ITEMS + "/:line_item_id", change_line_item, WRITES),
    Route("DELETE", _LINE_ITEMS + "/:line_item_id", LINE_ITEMS.delete_record, WRITES),
    Route("GET", _CRITERIA, list_criteria, CORE_READS),
    Route("POST", _CRITERIA, create_criterion, WRITES),
    Route("POST", "/batch" + _CRITERIA, batch_criteria, WRITES),
    Route("DELETE", _CRITERIA + "/:targeting_criterion_id", TARGETING_CRITERIA.delete_record, WRITES),
    Route("GET", _ACCOUNT + "/custom_audiences/:custom_audience_id/targeted", list_targeted, READS),
)
