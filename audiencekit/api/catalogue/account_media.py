"""Media of accounts (specification part 2, section 4.7)."""

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
    some_of,
)
from audiencekit.api.catalogue.rules import CURSOR_OR_TOTAL
from audiencekit.servicewords import CREATIVE_TYPES

_ACCOUNT_MEDIA: Final = Section("account_media", part=2, section="4.7")

ENDPOINTS: Final = (
    _ACCOUNT_MEDIA.get(
        "list_account_media",
        "/12/accounts/{account_id}/account_media",
        ACCOUNT_ID,
        ids("account_media_ids"),
        some_of("creative_types", *CREATIVE_TYPES),
        COUNT,
        CURSOR,
        SORT_BY,
        WITH_DELETED,
        WITH_TOTAL_COUNT,
        rules=(CURSOR_OR_TOTAL,),
    ),
    _ACCOUNT_MEDIA.get(
        "get_account_media",
        "/12/accounts/{account_id}/account_media/{account_media_id}",
        ACCOUNT_ID,
        in_path("account_media_id"),
        WITH_DELETED,
    ),
    _ACCOUNT_MEDIA.delete(
        "delete_account_media",
        "/12/accounts/{account_id}/account_media/{account_media_id}",
        ACCOUNT_ID,
        in_path("account_media_id"),
    ),
)
