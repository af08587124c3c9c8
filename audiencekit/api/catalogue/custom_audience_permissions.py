"""Permissions on custom audiences (specification part 2, section 4.5)."""

from __future__ import annotations

from typing import Final

from .endpoint import Endpoint
from .parameters import ACCOUNT_ID, COUNT, CURSOR, CURSOR_OR_TOTAL, WITH_TOTAL_COUNT, ids, in_path, one_of, text

ENDPOINTS: Final = (
    Endpoint(
        name="list_custom_audience_permissions",
        group="custom_audience_permissions",
        method="GET",
        path="/12/accounts/{account_id}/custom_audiences/{custom_audience_id}/permissions",
        part=2,
        section="4.5",
        parameters=(
            ACCOUNT_ID,
            in_path("custom_audience_id"),
            COUNT,
            CURSOR,
            ids("granted_account_ids"),
            text("sort_by"),
            ids("custom_audience_permission_ids"),
            WITH_TOTAL_COUNT,
        ),
        rules=(CURSOR_OR_TOTAL,),
    ),
    Endpoint(
        name="create_custom_audience_permission",
        group="custom_audience_permissions",
        method="POST",
        path="/12/accounts/{account_id}/custom_audiences/{custom_audience_id}/permissions",
        part=2,
        section="4.5",
        parameters=(
            ACCOUNT_ID,
            in_path("custom_audience_id"),
            text("granted_account_id", required=True),
            one_of("permission_level", "READ_ONLY", "READ_WRITE", required=True),
        ),
        notes=(
            "only the owning account may create or change permissions",
            "sharing works between accounts of the same business, or when the owning account has the SHARE_AUDIENCE_OUTSIDE_BUSINESS feature",
        ),
    ),
    Endpoint(
        name="delete_custom_audience_permission",
        group="custom_audience_permissions",
        method="DELETE",
        path="/12/accounts/{account_id}/custom_audiences/{custom_audience_id}/permissions/{custom_audience_permission_id}",
        part=2,
        section="4.5",
        parameters=(
            ACCOUNT_ID,
            in_path("custom_audience_id"),
            in_path("custom_audience_permission_id"),
        ),
        params_in=None,
        notes=(
            "only the owning account may create or change permissions",
            "sharing works between accounts of the same business, or when the owning account has the SHARE_AUDIENCE_OUTSIDE_BUSINESS feature",
        ),
    ),
)
