"""Permissions of users, promotable users, user settings (specification part 1, section 4.9)."""

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
    long_in_path,
    text,
    texts,
)
from audiencekit.api.catalogue.rules import CURSOR_OR_TOTAL

ENDPOINTS: Final = (
    Endpoint(
        name="get_authenticated_user_access",
        group="users_access",
        method="GET",
        path="/12/accounts/{account_id}/authenticated_user_access",
        part=1,
        section="4.9",
        parameters=(ACCOUNT_ID,),
    ),
    Endpoint(
        name="list_promotable_users",
        group="users_access",
        method="GET",
        path="/12/accounts/{account_id}/promotable_users",
        part=1,
        section="4.9",
        parameters=(
            ACCOUNT_ID,
            ids("promotable_user_ids"),
            COUNT,
            CURSOR,
            SORT_BY,
            WITH_DELETED,
            WITH_TOTAL_COUNT,
        ),
        rules=(CURSOR_OR_TOTAL,),
    ),
    Endpoint(
        name="get_promotable_user",
        group="users_access",
        method="GET",
        path="/12/accounts/{account_id}/promotable_users/{promotable_user_id}",
        part=1,
        section="4.9",
        parameters=(
            ACCOUNT_ID,
            in_path("promotable_user_id"),
            WITH_DELETED,
        ),
    ),
    Endpoint(
        name="get_user_settings",
        group="users_access",
        method="GET",
        path="/12/accounts/{account_id}/user_settings/{user_id}",
        part=1,
        section="4.9",
        parameters=(
            ACCOUNT_ID,
            long_in_path("user_id"),
        ),
    ),
    Endpoint(
        name="update_user_settings",
        group="users_access",
        method="PUT",
        path="/12/accounts/{account_id}/user_settings/{user_id}",
        part=1,
        section="4.9",
        parameters=(
            ACCOUNT_ID,
            long_in_path("user_id"),
            text("notification_email"),
            text("contact_phone"),
            text("contact_phone_extension"),
            texts("subscribe_email_types"),
        ),
        ambiguities=("the values of subscribe_email_types are not shown: any words are sent",),
        notes=("only the owner of the settings may call it, no admin for another user",),
    ),
)
