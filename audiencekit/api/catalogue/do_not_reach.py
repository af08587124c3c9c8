"""Do-not-reach lists and their people (specification part 2, section 4.6)."""

from __future__ import annotations

from typing import Final

from audiencekit.limits import MAX_BODY_BYTES, MAX_OPERATIONS

from .endpoint import USERS_WINDOW, Endpoint
from .parameters import ACCOUNT_ID, WITH_DELETED, array, in_path, json_object, one_of, text, time

ENDPOINTS: Final = (
    Endpoint(
        name="list_do_not_reach_lists",
        group="do_not_reach",
        method="GET",
        path="/12/accounts/{account_id}/do_not_reach_lists",
        part=2,
        section="4.6",
        parameters=(
            ACCOUNT_ID,
            WITH_DELETED,
        ),
    ),
    Endpoint(
        name="create_do_not_reach_list",
        group="do_not_reach",
        method="POST",
        path="/12/accounts/{account_id}/do_not_reach_lists",
        part=2,
        section="4.6",
        parameters=(
            ACCOUNT_ID,
            text("description"),
        ),
    ),
    Endpoint(
        name="delete_do_not_reach_list",
        group="do_not_reach",
        method="DELETE",
        path="/12/accounts/{account_id}/do_not_reach_lists/{do_not_reach_list_id}",
        part=2,
        section="4.6",
        parameters=(
            ACCOUNT_ID,
            in_path("do_not_reach_list_id"),
        ),
        params_in=None,
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
            one_of("operation_type", "Update", "Delete", place="body", required=True, at="item"),
            json_object("params", place="body", required=True, at="item"),
            array("users", place="body", required=True, at="item.params", note="array of user entries"),
            time(
                "expires_at",
                place="body",
                default="13 months",
                at="item.params",
                note="later than now and under 13 months from now",
            ),
            array(
                "email",
                place="body",
                at="item.params.users[]",
                note="array of strings; SHA-256 of the normalized value",
            ),
            array(
                "phone_number",
                place="body",
                at="item.params.users[]",
                note="array of strings; SHA-256 of the normalized value",
            ),
        ),
        params_in="body",
        body="json_array_of_operations",
        window=USERS_WINDOW,
        operations=MAX_OPERATIONS,
        body_bytes=MAX_BODY_BYTES,
    ),
)
