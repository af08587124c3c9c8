"""Curated categories, and those of line items (specification part 1, section 4.6)."""

from __future__ import annotations

from typing import Final

from .endpoint import Endpoint
from .parameters import ACCOUNT_ID, CURSOR, ids, in_path, text

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
            ids("country_codes", required=True, note="comma-separated two-letter ISO country codes"),
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
        params_in=None,
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
        params_in=None,
    ),
)
