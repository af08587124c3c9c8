"""Do-not-reach lists and their people (specification part 2, section 4.6)."""

from __future__ import annotations

from typing import Final

from audiencekit.api.catalogue.endpoint import USERS_WINDOW, Section
from audiencekit.api.catalogue.parameters import (
    ACCOUNT_ID,
    WITH_DELETED,
    array,
    hashes,
    in_path,
    json_object,
    one_of,
    text,
    time,
)
from audiencekit.api.catalogue.rules import UnderMonthsAhead
from audiencekit.limits import EXPIRY_MONTHS, MAX_BODY_BYTES, MAX_OPERATIONS

_DO_NOT_REACH: Final = Section("do_not_reach", part=2, section="4.6")

ENDPOINTS: Final = (
    _DO_NOT_REACH.get(
        "list_do_not_reach_lists",
        "/12/accounts/{account_id}/do_not_reach_lists",
        ACCOUNT_ID,
        WITH_DELETED,
        notes=("an account has one list at most",),
    ),
    _DO_NOT_REACH.post(
        "create_do_not_reach_list",
        "/12/accounts/{account_id}/do_not_reach_lists",
        ACCOUNT_ID,
        text("description"),
        ambiguities=("what a second list of the account is answered with is not stated: any refusal is passed on",),
    ),
    _DO_NOT_REACH.delete(
        "delete_do_not_reach_list",
        "/12/accounts/{account_id}/do_not_reach_lists/{do_not_reach_list_id}",
        ACCOUNT_ID,
        in_path("do_not_reach_list_id"),
    ),
    _DO_NOT_REACH.post(
        "batch_do_not_reach_users",
        "/12/batch/accounts/{account_id}/do_not_reach_lists/{do_not_reach_list_id}/users",
        ACCOUNT_ID,
        in_path("do_not_reach_list_id"),
        one_of("operation_type", "Update", "Delete", place="body", required=True, at=("item",)),
        json_object("params", place="body", required=True, at=("item",)),
        array("users", "object", place="body", required=True, at=("params",)),
        time("expires_at", place="body", default="13 months", at=("params",)),
        hashes("email"),
        hashes("phone_number"),
        rules=(UnderMonthsAhead("expires_at", EXPIRY_MONTHS, at="params"),),
        body="json_array_of_operations",
        window=USERS_WINDOW,
        operations=MAX_OPERATIONS,
        body_bytes=MAX_BODY_BYTES,
        ambiguities=(
            "13 months are the default of expires_at, and already too long: 13 months to the second are refused",
            "which members of an operation are required is not said here: those of add_custom_audience_users",
            "whether there are counts for each operation or one for all is not shown: they are summed",
        ),
        notes=("takes effect at once", "keeps people from being targeted; it takes no one out of an audience"),
    ),
)
