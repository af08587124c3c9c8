"""Curated categories, and those of line items (specification part 1, sections 4.2 and 4.6)."""

from __future__ import annotations

from typing import Final

from audiencekit.api.catalogue.endpoint import Section
from audiencekit.api.catalogue.parameters import ACCOUNT_ID, CURSOR, in_path, text, texts
from audiencekit.limits import MAX_LIST_IDS

_CURATED_CATEGORIES_4_2: Final = Section("curated_categories", part=1, section="4.2")
_CURATED_CATEGORIES_4_6: Final = Section("curated_categories", part=1, section="4.6")

ENDPOINTS: Final = (
    _CURATED_CATEGORIES_4_2.get(
        "list_curated_categories",
        "/12/accounts/{account_id}/curated_categories",
        ACCOUNT_ID,
        texts("country_codes", required=True, max_items=MAX_LIST_IDS, pattern="[A-Z]{2}", note="ISO 3166-1"),
        CURSOR,
    ),
    _CURATED_CATEGORIES_4_2.get(
        "get_curated_category",
        "/12/accounts/{account_id}/curated_categories/{curated_category_id}",
        ACCOUNT_ID,
        in_path("curated_category_id"),
    ),
    _CURATED_CATEGORIES_4_6.post(
        "create_line_item_curated_category",
        "/12/accounts/{account_id}/line_item_curated_categories",
        ACCOUNT_ID,
        text("curated_category_id", required=True),
        text("line_item_id", required=True),
    ),
    _CURATED_CATEGORIES_4_6.put(
        "update_line_item_curated_category",
        "/12/accounts/{account_id}/line_item_curated_categories/{line_item_curated_category_id}",
        ACCOUNT_ID,
        in_path("line_item_curated_category_id"),
        text("curated_category_id"),
        text("line_item_id"),
        ambiguities=("it is not clear whether one or both parameters are optional: both are",),
    ),
    _CURATED_CATEGORIES_4_6.delete(
        "delete_line_item_curated_category",
        "/12/accounts/{account_id}/line_item_curated_categories/{line_item_curated_category_id}",
        ACCOUNT_ID,
        in_path("line_item_curated_category_id"),
    ),
)
