"""The endpoints of curated categories, and of the line items that have one."""

from __future__ import annotations

from typing import Final

from audiencekit.emulator.curated.categories import list_categories, show_category
from audiencekit.emulator.curated.line_items import LINE_ITEM_CURATED_CATEGORIES, change, create
from audiencekit.emulator.rate_limits import READS, WRITES
from audiencekit.emulator.routing import Route

_CATEGORIES: Final = "/accounts/:account_id/curated_categories"
_LINE_ITEMS: Final = "/accounts/:account_id/line_item_curated_categories"
_ONE: Final = _LINE_ITEMS + "/:line_item_curated_category_id"

ROUTES: Final = (
    Route("GET", _CATEGORIES, list_categories, READS),
    Route("GET", _CATEGORIES + "/:curated_category_id", show_category, READS),
    Route("POST", _LINE_ITEMS, create, WRITES),
    Route("PUT", _ONE, change, WRITES),
    Route("DELETE", _ONE, LINE_ITEM_CURATED_CATEGORIES.delete_record, WRITES),
)
