"""Do-not-reach lists and their people (specification part 2, section 4.6)."""

from __future__ import annotations

from typing import Final

from audiencekit.api.catalogue.endpoint import USERS_WINDOW, Endpoint
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

ENDPOINTS: Final = (
    Endpoint(
        name="list_do_not_reach_lists",
        group="do_not_reach",
        method="GET",
        path="/12/accounts/{account_id}/do_not_reach_lists",
        part=2,
        section="4.6",
        parameters=(ACCOUNT_ID, WITH_DELETED),
        notes=("an account has one list at most",),
    ),
    Endpoint(
        name="create_do_not_reach_list",
        group="do_not_reach",
        method="POST",
        path="/12/accounts/{account_id}/do_not_reach_lists",
        part=2,
        section="4.6",
        parameters=(ACCOUNT_ID, text("description")),
        ambiguities=("what a second list of the account is answered with is not stated: any refusal is passed on",),
    ),
    Endpoint(
        name="delete_do_not_reach_list",
        group="do_not_reach",
        method="DELETE",
        path="/12/accounts/{account_id}/do_not_reach_lists/{do_not_reach_list_id}",
        part=2,
        section="4.6",
        parameters=(ACCOUNT_ID, in_path("do_not_reach_list_id")),
    ),
    Endpoint(
        name="batch_do_not_reach_users",
        group="do_not_reach",
        method="POST",
        path="/12/batch/accounts/{account_id}/do_not_reach_lists/{do_not_reach_list_id}/users",
        part=2,
        section="4.6",
        parameters=(
            ACCOUNT_ID,
            in_path("do_not_reach_list_id"),
            one_of("operation_type", "Update", "Delete", place="body", required=True, at=("item",)),
            json_object("params", place="body", required=True, at=("item",)),
            array("users", "object", place="body", required=True, at=("params",)),
            time("expires_at", place="body", default="13 months", at=("params",)),
            hashes("email"),
            hashes("phone_number"),
        ),
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
