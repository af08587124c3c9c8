"""The people of an audience (specification part 2, section 4.4)."""

from __future__ import annotations

from typing import Final

from audiencekit.limits import MAX_BODY_BYTES, MAX_OPERATIONS

from .endpoint import USERS_WINDOW, Endpoint
from .parameters import ACCOUNT_ID, LaterThan, array, in_path, json_object, one_of, time

ENDPOINTS: Final = (
    Endpoint(
        name="add_custom_audience_users",
        group="custom_audience_users",
        method="POST",
        path="/12/accounts/{account_id}/custom_audiences/{custom_audience_id}/users",
        part=2,
        section="4.4",
        parameters=(
            ACCOUNT_ID,
            in_path("custom_audience_id"),
            one_of("operation_type", "Update", "Delete", place="body", required=True, at="item"),
            json_object("params", place="body", required=True, at="item"),
            array("users", place="body", required=True, at="item.params", note="array of user entries"),
            time("effective_at", place="body", default="now", at="item.params"),
            time(
                "expires_at",
                place="body",
                default="13 months after the request",
                at="item.params",
                note="later than effective_at",
            ),
            array(
                "email",
                place="body",
                at="item.params.users[]",
                note="array of strings; SHA-256 of the normalized value",
            ),
            array(
                "device_id",
                place="body",
                at="item.params.users[]",
                note="array of strings; SHA-256 of the normalized value",
            ),
            array(
                "handle",
                place="body",
                at="item.params.users[]",
                note="array of strings; SHA-256 of the normalized value",
            ),
            array(
                "platform_id",
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
            array("partner_user_id", place="body", at="item.params.users[]", note="array of strings; not hashed"),
        ),
        rules=(LaterThan("expires_at", "effective_at"),),
        params_in="body",
        body="json_array_of_operations",
        window=USERS_WINDOW,
        operations=MAX_OPERATIONS,
        body_bytes=MAX_BODY_BYTES,
    ),
)
