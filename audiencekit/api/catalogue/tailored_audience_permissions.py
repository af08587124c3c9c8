"""Permissions on tailored audiences (specification part 2, section 4.2)."""

from __future__ import annotations

from typing import Final

from audiencekit.api.catalogue.custom_audience_permissions import PERMISSION_LEVELS, SHARING
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

_PERMISSIONS: Final = "/5/accounts/{account_id}/tailored_audiences/{tailored_audience_id}/permissions"
_OLD_VERSION: Final = ("version 5 stands in the path, which the public service has ended: it is called as written",)

ENDPOINTS: Final = (
    Endpoint(
        name="list_tailored_audience_permissions",
        group="tailored_audience_permissions",
        method="GET",
        path=_PERMISSIONS,
        part=2,
        section="4.2",
        ambiguities=_OLD_VERSION,
        parameters=(
            ACCOUNT_ID,
            in_path("tailored_audience_id"),
            COUNT,
            CURSOR,
            ids("granted_account_ids"),
            SORT_BY,
            ids("tailored_audience_permission_ids"),
            WITH_TOTAL_COUNT,
        ),
        rules=(CURSOR_OR_TOTAL,),
    ),
    Endpoint(
        name="create_tailored_audience_permission",
        group="tailored_audience_permissions",
        method="POST",
        path=_PERMISSIONS,
        part=2,
        section="4.2",
        ambiguities=_OLD_VERSION,
        parameters=(
            ACCOUNT_ID,
            in_path("tailored_audience_id"),
            text("granted_account_id", required=True),
            one_of("permission_level", *PERMISSION_LEVELS, required=True),
        ),
        notes=SHARING,
    ),
    Endpoint(
        name="delete_tailored_audience_permission",
        group="tailored_audience_permissions",
        method="DELETE",
        path=_PERMISSIONS + "/{tailored_audience_permission_id}",
        part=2,
        section="4.2",
        ambiguities=_OLD_VERSION,
        parameters=(
            ACCOUNT_ID,
            in_path("tailored_audience_id"),
            in_path("tailored_audience_permission_id"),
        ),
        notes=SHARING,
    ),
)
