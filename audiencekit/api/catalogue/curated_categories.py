"""Curated categories, and those of line items (specification part 1, sections 4.2 and 4.6)."""

from __future__ import annotations

from typing import Final

from audiencekit.api.catalogue.endpoint import Endpoint
from audiencekit.api.catalogue.parameters import ACCOUNT_ID, CURSOR, in_path, text, texts
from audiencekit.limits import MAX_LIST_IDS

ENDPOINTS: Final = (
    Endpoint(
        name="list_curated_categories",
        group="curated_categories",
        method="GET",
        path="/12/accounts/{account_id}/curated_categories",
        part=1,
        section="4.2",
        parameters=(
            ACCOUNT_ID,
            texts("country_codes", required=True, max_items=MAX_LIST_IDS, pattern="[A-Z]{2}", note="ISO 3166-1"),
            CURSOR,
        ),
    ),
    Endpoint(
        name="get_curated_category",
        group="curated_categories",
        method="GET",
        path="/12/accounts/{account_id}/curated_categories/{curated_category_id}",
        part=1,
        section="4.2",
        parameters=(
            ACCOUNT_ID,
            in_path("curated_category_id"),
        ),
    ),
    Endpoint(
        name="create_line_item_curated_category",
        group="curated_categories",
        method="POST",
        path="/12/accounts/{account_id}/line_item_curated_categories",
        part=1,
        section="4.6",
        parameters=(
            ACCOUNT_ID,
            text("curated_category_id", required=True),
            text("line_item_id", required=True),
        ),
    ),
    Endpoint(
        name="update_line_item_curated_category",
        group="curated_categories",
        method="PUT",
        path="/12/accounts/{account_id}/line_item_curated_categories/{line_item_curated_category_id}",
        part=1,
        section="4.6",
        parameters=(
            ACCOUNT_ID,
            in_path("line_item_curated_category_id"),
            text("curated_category_id"),
            text("line_item_id"),
        ),
        ambiguities=("it is not clear whether one or both parameters are optional: both are",),
    ),
    Endpoint(
        name="delete_line_item_curated_category",
        group="curated_categories",
        method="DELETE",
        path="/12/accounts/{account_id}/line_item_curated_categories/{line_item_curated_category_id}",
        part=1,
        section="4.6",
        parameters=(
            ACCOUNT_ID,
            in_path("line_item_curated_category_id"),
        ),
    ),
)
