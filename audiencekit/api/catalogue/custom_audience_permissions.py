"""Permissions on custom audiences (specification part 2, section 4.5)."""

from __future__ import annotations

from typing import Final

from audiencekit.api.catalogue.endpoint import Endpoint
from audiencekit.api.catalogue.parameters import (
    ACCOUNT_ID,
    COUNT,
    CURSOR,
    SORT_BY,
    WITH_TOTAL_COUNT,
    ids,
    in_path,
    one_of,
    text,
)
from audiencekit.api.catalogue.rules import CURSOR_OR_TOTAL

# Of tailored audiences too: section 4.2.
PERMISSION_LEVELS: Final = ("READ_ONLY", "READ_WRITE")
SHARING: Final = (
    "for the account that owns the audience",
    "the other account is of the same business, or the owner has the feature SHARE_AUDIENCE_OUTSIDE_BUSINESS",
)
_PERMISSIONS: Final = "/12/accounts/{account_id}/custom_audiences/{custom_audience_id}/permissions"

ENDPOINTS: Final = (
    Endpoint(
        name="list_custom_audience_permissions",
        group="custom_audience_permissions",
        method="GET",
        path=_PERMISSIONS,
        part=2,
        section="4.5",
        parameters=(
            ACCOUNT_ID,
            in_path("custom_audience_id"),
            COUNT,
            CURSOR,
            ids("granted_account_ids"),
            SORT_BY,
            ids("custom_audience_permission_ids"),
            WITH_TOTAL_COUNT,
        ),
        rules=(CURSOR_OR_TOTAL,),
    ),
    Endpoint(
        name="create_custom_audience_permission",
        group="custom_audience_permissions",
        method="POST",
        path=_PERMISSIONS,
        part=2,
        section="4.5",
        parameters=(
            ACCOUNT_ID,
            in_path("custom_audience_id"),
            text("granted_account_id", required=True),
            one_of("permission_level", *PERMISSION_LEVELS, required=True),
        ),
        notes=SHARING,
    ),
    Endpoint(
        name="delete_custom_audience_permission",
        group="custom_audience_permissions",
        method="DELETE",
        path=_PERMISSIONS + "/{custom_audience_permission_id}",
        part=2,
        section="4.5",
        parameters=(
            ACCOUNT_ID,
            in_path("custom_audience_id"),
            in_path("custom_audience_permission_id"),
        ),
        notes=SHARING,
    ),
)
