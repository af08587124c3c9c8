"""The endpoints of reference data, which belongs to no account."""

from __future__ import annotations

from typing import Final

from audiencekit.emulator.rate_limits import REFERENCE_READS
from audiencekit.emulator.reference.bidding import list_bidding_rules
from audiencekit.emulator.reference.categories import list_business_categories, list_content_categories
from audiencekit.emulator.reference.placements import list_placements
from audiencekit.emulator.reference.publishers import list_publishers
from audiencekit.emulator.routing import Route

ROUTES: Final = (
    Route("GET", "/advertiser_business_categories", list_business_categories, REFERENCE_READS),
    Route("GET", "/content_categories", list_content_categories, REFERENCE_READS),
    Route("GET", "/publishers", list_publishers, REFERENCE_READS),
    Route("GET", "/bidding_rules", list_bidding_rules, REFERENCE_READS),
    Route("GET", "/line_items/placements", list_placements, REFERENCE_READS),
)
