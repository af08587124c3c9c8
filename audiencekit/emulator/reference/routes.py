"""The endpoints of reference data, which belongs to no account."""

from __future__ import annotations

from typing import Final

from audiencekit.emulator.rate_limits import REFERENCE_READS
from audiencekit.emulator.routing import Route

from .bidding import list_bidding_rules
from .categories import list_business_categories, list_content_categories
from .placements import list_placements
from .publishers import list_publishers

ROUTES: Final = (
    Route("GET", "/advertiser_business_categories", list_business_categories, REFERENCE_READS),
    Route("GET", "/content_categories", list_content_categories, REFERENCE_READS),
    Route("GET", "/publishers", list_publishers, REFERENCE_READS),
    Route("GET", "/bidding_rules", list_bidding_rules, REFERENCE_READS),
    Route("GET", "/line_items/placements", list_placements, REFERENCE_READS),
)
