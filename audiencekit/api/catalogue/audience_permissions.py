"""Permissions on custom and on tailored audiences (specification part 2, sections 4.5 and 4.2): the same endpoints."""

from __future__ import annotations

from functools import partial
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

_LEVELS: Final = ("READ_ONLY", "READ_WRITE")
_SHARING: Final = (
    "for the account that owns the audience",
    "the other account is of the same business, or the owner has the feature SHARE_AUDIENCE_OUTSIDE_BUSINESS",
)
_OLD_VERSION: Final = ("version 5 stands in the path, which the public service has ended: it is called as written",)


def _endpoints(kind: str, version: int, section: str, ambiguities: tuple[str, ...] = ()) -> tuple[Endpoint, ...]:
    """Return the endpoints of the permissions on one kind of audience."""
    path = f"/{version}/accounts/{{account_id}}/{kind}_audiences/{{{kind}_audience_id}}/permissions"
    group, permission_id = f"{kind}_audience_permissions", f"{kind}_audience_permission_id"
    endpoint = partial(Endpoint, group=group, part=2, section=section, ambiguities=ambiguities)
    audience = (ACCOUNT_ID, in_path(f"{kind}_audience_id"))
    return (
        endpoint(
            name=f"list_{group}",
            method="GET",
            path=path,
            parameters=(
                *audience,
                COUNT,
                CURSOR,
                ids("granted_account_ids"),
                SORT_BY,
                ids(f"{permission_id}s"),
                WITH_TOTAL_COUNT,
            ),
            rules=(CURSOR_OR_TOTAL,),
        ),
        endpoint(
            name=f"create_{kind}_audience_permission",
            method="POST",
            path=path,
            parameters=(
                *audience,
                text("granted_account_id", required=True),
                one_of("permission_level", *_LEVELS, required=True),
            ),
            notes=_SHARING,
        ),
        endpoint(
            name=f"delete_{kind}_audience_permission",
            method="DELETE",
            path=f"{path}/{{{permission_id}}}",
            parameters=(*audience, in_path(permission_id)),
            notes=_SHARING,
        ),
    )


CUSTOM: Final = _endpoints("custom", 12, "4.5")
TAILORED: Final = _endpoints("tailored", 5, "4.2", _OLD_VERSION)
