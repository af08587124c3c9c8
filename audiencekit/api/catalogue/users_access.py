"""Permissions of users, promotable users, user settings (specification part 1, section 4.9)."""

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
    long_in_path,
    text,
    texts,
)
from audiencekit.api.catalogue.rules import CURSOR_OR_TOTAL

_USERS_ACCESS: Final = Section("users_access", part=1, section="4.9")

ENDPOINTS: Final = (
    _USERS_ACCESS.get(
        "get_authenticated_user_access", "/12/accounts/{account_id}/authenticated_user_access", ACCOUNT_ID
    ),
    _USERS_ACCESS.get(
        "list_promotable_users",
        "/12/accounts/{account_id}/promotable_users",
        ACCOUNT_ID,
        ids("promotable_user_ids"),
        COUNT,
        CURSOR,
        SORT_BY,
        WITH_DELETED,
        WITH_TOTAL_COUNT,
        rules=(CURSOR_OR_TOTAL,),
    ),
    _USERS_ACCESS.get(
        "get_promotable_user",
        "/12/accounts/{account_id}/promotable_users/{promotable_user_id}",
        ACCOUNT_ID,
        in_path("promotable_user_id"),
        WITH_DELETED,
    ),
    _USERS_ACCESS.get(
        "get_user_settings", "/12/accounts/{account_id}/user_settings/{user_id}", ACCOUNT_ID, long_in_path("user_id")
    ),
    _USERS_ACCESS.put(
        "update_user_settings",
        "/12/accounts/{account_id}/user_settings/{user_id}",
        ACCOUNT_ID,
        long_in_path("user_id"),
        text("notification_email"),
        text("contact_phone"),
        text("contact_phone_extension"),
        texts("subscribe_email_types"),
        ambiguities=("the values of subscribe_email_types are not shown: any words are sent",),
        notes=("only the owner of the settings may call it, no admin for another user",),
    ),
)
