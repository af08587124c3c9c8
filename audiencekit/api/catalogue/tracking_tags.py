"""Tracking tags (specification part 1)."""

from __future__ import annotations

from typing import Final

from audiencekit.api.catalogue.endpoint import Endpoint
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

ENDPOINTS: Final = (
    Endpoint(
        name="list_tracking_tags",
        group="tracking_tags",
        method="GET",
        path="/12/accounts/{account_id}/tracking_tags",
        part=1,
        section="4.11",
        parameters=(
            ACCOUNT_ID,
            ids("line_item_ids"),
            ids("tracking_tag_ids"),
            COUNT,
            CURSOR,
            SORT_BY,
            WITH_DELETED,
            WITH_TOTAL_COUNT,
        ),
        rules=(CURSOR_OR_TOTAL,),
    ),
    Endpoint(
        name="get_tracking_tag",
        group="tracking_tags",
        method="GET",
        path="/12/accounts/{account_id}/tracking_tags/{tracking_tag_id}",
        part=1,
        section="4.11",
        parameters=(
            ACCOUNT_ID,
            in_path("tracking_tag_id"),
            WITH_DELETED,
        ),
    ),
    Endpoint(
        name="create_tracking_tag",
        group="tracking_tags",
        method="POST",
        path="/12/accounts/{account_id}/tracking_tags",
        part=1,
        section="4.11",
        parameters=(
            ACCOUNT_ID,
            text("line_item_id", required=True),
            one_of("tracking_tag_type", "IMPRESSION_TAG", "CLICK_TRACKER", required=True),
            text("tracking_tag_url", required=True),
        ),
    ),
    Endpoint(
        name="update_tracking_tag",
        group="tracking_tags",
        method="PUT",
        path="/12/accounts/{account_id}/tracking_tags/{tracking_tag_id}",
        part=1,
        section="4.11",
        parameters=(
            ACCOUNT_ID,
            in_path("tracking_tag_id"),
            text("tracking_tag_url", required=True),
        ),
    ),
    Endpoint(
        name="delete_tracking_tag",
        group="tracking_tags",
        method="DELETE",
        path="/12/accounts/{account_id}/tracking_tags/{tracking_tag_id}",
        part=1,
        section="4.11",
        parameters=(
            ACCOUNT_ID,
            in_path("tracking_tag_id"),
        ),
    ),
)
