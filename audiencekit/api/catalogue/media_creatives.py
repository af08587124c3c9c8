"""Media creatives of line items (specification part 1, section 4.7)."""

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
    text,
    url,
)
from audiencekit.api.catalogue.rules import CURSOR_OR_TOTAL

_MEDIA_CREATIVES: Final = Section("media_creatives", part=1, section="4.7")

ENDPOINTS: Final = (
    _MEDIA_CREATIVES.get(
        "list_media_creatives",
        "/12/accounts/{account_id}/media_creatives",
        ACCOUNT_ID,
        text("campaign_id"),
        ids("line_item_ids"),
        ids("media_creative_ids"),
        COUNT,
        CURSOR,
        SORT_BY,
        WITH_DELETED,
        WITH_TOTAL_COUNT,
        rules=(CURSOR_OR_TOTAL,),
    ),
    _MEDIA_CREATIVES.get(
        "get_media_creative",
        "/12/accounts/{account_id}/media_creatives/{media_creative_id}",
        ACCOUNT_ID,
        in_path("media_creative_id"),
        WITH_DELETED,
    ),
    _MEDIA_CREATIVES.post(
        "create_media_creative",
        "/12/accounts/{account_id}/media_creatives",
        ACCOUNT_ID,
        text("account_media_id", required=True),
        text("line_item_id", required=True),
        url(
            "landing_url",
            required="conditional",
            note="of images only; required when the objective of the line item is WEBSITE_CLICKS",
        ),
        ambiguities=("the objective of the line item is not seen here: landing_url may be left out",),
    ),
    _MEDIA_CREATIVES.delete(
        "delete_media_creative",
        "/12/accounts/{account_id}/media_creatives/{media_creative_id}",
        ACCOUNT_ID,
        in_path("media_creative_id"),
    ),
)
