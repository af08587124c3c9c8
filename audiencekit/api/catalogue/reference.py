"""Reference data: categories, publishers, bidding rules, placements (specification part 1, section 4.2)."""

from __future__ import annotations

from typing import Final

from audiencekit.api.catalogue.endpoint import Endpoint
from audiencekit.api.catalogue.parameters import currency, one_of
from audiencekit.servicewords import PRODUCT_TYPES

ENDPOINTS: Final = (
    Endpoint(
        name="list_advertiser_business_categories",
        group="reference",
        method="GET",
        path="/12/advertiser_business_categories",
        part=1,
        section="4.2",
    ),
    Endpoint(
        name="list_content_categories",
        group="reference",
        method="GET",
        path="/12/content_categories",
        part=1,
        section="4.2",
    ),
    Endpoint(
        name="list_publishers",
        group="reference",
        method="GET",
        path="/12/publishers",
        part=1,
        section="4.2",
    ),
    Endpoint(
        name="list_bidding_rules",
        group="reference",
        method="GET",
        path="/12/bidding_rules",
        part=1,
        section="4.2",
        parameters=(currency("currency", note="all of them when it is left out"),),
        notes=("the rules change rarely: ask again at least monthly",),
    ),
    Endpoint(
        name="list_line_item_placements",
        group="reference",
        method="GET",
        path="/12/line_items/placements",
        part=1,
        section="4.2",
        parameters=(one_of("product_type", *PRODUCT_TYPES),),
    ),
)
