"""The people of an audience (specification part 2, section 4.4)."""

from __future__ import annotations

from typing import Final

from audiencekit.api.catalogue.endpoint import USERS_WINDOW, Section
from audiencekit.api.catalogue.parameters import (
    ACCOUNT_ID,
    Parameter,
    array,
    hashes,
    in_path,
    json_object,
    one_of,
    time,
)
from audiencekit.api.catalogue.rules import LaterThan
from audiencekit.identifiers.kinds import Kind
from audiencekit.limits import MAX_BODY_BYTES, MAX_OPERATIONS


def _field(kind: Kind) -> Parameter:
    """The field of a user entry."""
    if kind.is_hashed:
        return hashes(kind.value)
    return array(kind.value, "text", place="body", at=("user",), min_items=1, note="as it is, not hashed")


ENDPOINTS: Final = (
    Section("custom_audience_users", part=2, section="4.4").post(
        "add_custom_audience_users",
        "/12/accounts/{account_id}/custom_audiences/{custom_audience_id}/users",
        ACCOUNT_ID,
        in_path("custom_audience_id"),
        one_of("operation_type", "Update", "Delete", place="body", required=True, at=("item",)),
        json_object("params", place="body", required=True, at=("item",)),
        array("users", "object", place="body", required=True, at=("params",)),
        time("effective_at", place="body", default="now", at=("params",)),
        time("expires_at", place="body", default="13 months after the request", at=("params",)),
        *map(_field, Kind),
        rules=(LaterThan("expires_at", "effective_at", at="params"),),
        body="json_array_of_operations",
        window=USERS_WINDOW,
        operations=MAX_OPERATIONS,
        body_bytes=MAX_BODY_BYTES,
        ambiguities=(
            "where the two counts stand is not shown: in data, an object or a list of objects to be summed",
            "how a hash is written is not stated: 64 hex digits in lower case",
            "a batch goes as a whole, yet counts may differ from what was sent: then nothing counts as confirmed",
            "the unit and the scope of 1,500 a minute are not stated: requests, of one account and token",
        ),
    ),
)
