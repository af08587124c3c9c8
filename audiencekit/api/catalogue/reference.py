"""Reference data: categories, publishers, bidding rules, placements (specification part 1, section 4.2)."""

from __future__ import annotations

from typing import Final

from audiencekit.api.catalogue.endpoint import Section
from audiencekit.api.catalogue.parameters import currency, one_of
from audiencekit.servicewords import PRODUCT_TYPES

_REFERENCE: Final = Section("reference", part=1, section="4.2")

ENDPOINTS: Final = (
    _REFERENCE.get("list_advertiser_business_categories", "/12/advertiser_business_categories"),
    _REFERENCE.get("list_content_categories", "/12/content_categories"),
    _REFERENCE.get("list_publishers", "/12/publishers"),
    _REFERENCE.get(
        "list_bidding_rules",
        "/12/bidding_rules",
        currency("currency", note="all of them when it is left out"),
        notes=("the rules change rarely: ask again at least monthly",),
    ),
    _REFERENCE.get("list_line_item_placements", "/12/line_items/placements", one_of("product_type", *PRODUCT_TYPES)),
)
