"""Tracking tags (specification part 1)."""

from __future__ import annotations

from typing import Final

from audiencekit.api.catalogue.endpoint import Section
from audiencekit.api.catalogue.parameters import (
    ACCOUNT_ID,
    COUNT,
    CURSOR,
    SORT_BY,
    WITH_DELETED,
    WITH_TOTAL_COUNT,
    ids,
    in_path,
    one_of,
    text,
)
from audiencekit.api.catalogue.rules import CURSOR_OR_TOTAL

_TRACKING_TAGS: Final = Section("tracking_tags", part=1, section="4.11")

ENDPOINTS: Final = (
    _TRACKING_TAGS.get(
        "list_tracking_tags",
        "/12/accounts/{account_id}/tracking_tags",
        ACCOUNT_ID,
        ids("line_item_ids"),
        ids("tracking_tag_ids"),
        COUNT,
        CURSOR,
        SORT_BY,
        WITH_DELETED,
        WITH_TOTAL_COUNT,
        rules=(CURSOR_OR_TOTAL,),
    ),
    _TRACKING_TAGS.get(
        "get_tracking_tag",
        "/12/accounts/{account_id}/tracking_tags/{tracking_tag_id}",
        ACCOUNT_ID,
        in_path("tracking_tag_id"),
        WITH_DELETED,
    ),
    _TRACKING_TAGS.post(
        "create_tracking_tag",
        "/12/accounts/{account_id}/tracking_tags",
        ACCOUNT_ID,
        text("line_item_id", required=True),
        one_of("tracking_tag_type", "IMPRESSION_TAG", "CLICK_TRACKER", required=True),
        text("tracking_tag_url", required=True),
    ),
    _TRACKING_TAGS.put(
        "update_tracking_tag",
        "/12/accounts/{account_id}/tracking_tags/{tracking_tag_id}",
        ACCOUNT_ID,
        in_path("tracking_tag_id"),
        text("tracking_tag_url", required=True),
    ),
    _TRACKING_TAGS.delete(
        "delete_tracking_tag",
        "/12/accounts/{account_id}/tracking_tags/{tracking_tag_id}",
        ACCOUNT_ID,
        in_path("tracking_tag_id"),
    ),
)
