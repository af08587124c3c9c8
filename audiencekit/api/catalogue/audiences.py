"""Custom audiences: the records, their users, permissions, and the do-not-reach list (specification part 2,
sections 4.2 to 4.6).
"""

from __future__ import annotations

from typing import Final

from audiencekit.api.catalogue.endpoint import USERS_WINDOW, Endpoint, Section
from audiencekit.api.catalogue.parameters import (
    COUNT,
    CURSOR,
    SORT_BY,
    WITH_DELETED,
    WITH_TOTAL_COUNT,
    Parameter,
    Q,
    array,
    flag,
    hashes,
    ids,
    json_object,
    one_of,
    text,
    time,
    whole,
)
from audiencekit.api.catalogue.rules import (
    ExactlyOneOf,
    LaterThan,
    NotIn,
    NotTogether,
    OnlyIf,
    Present,
    RequiredIf,
    RequiredIn,
    UnderMonthsAhead,
)
from audiencekit.identifiers.kinds import Kind
from audiencekit.limits import EXPIRY_MONTHS, FLEXIBLE_BATCH_ITEMS, FLEXIBLE_LEAVES, MAX_BODY_BYTES, MAX_OPERATIONS
from audiencekit.service_words import FREQUENCY_COMPARATORS

_CUSTOM_AUDIENCES: Final = Section("custom_audiences", part=2, section="4.3")

CUSTOM_AUDIENCES: Final = (
    _CUSTOM_AUDIENCES.get(
        "list_custom_audiences",
        "/12/accounts/{account_id}/custom_audiences",
        COUNT,
        CURSOR,
        one_of("permission_scope", "OWNER", "SHARED", default="OWNER"),
        Q,
        SORT_BY,
        ids("custom_audience_ids"),
        WITH_DELETED,
        WITH_TOTAL_COUNT,
    ),
    _CUSTOM_AUDIENCES.get(
        "get_custom_audience", "/12/accounts/{account_id}/custom_audiences/{custom_audience_id}", WITH_DELETED
    ),
    _CUSTOM_AUDIENCES.post(
        "create_custom_audience",
        "/12/accounts/{account_id}/custom_audiences",
        text("name", required=True, note="new in the account"),
        text("description"),
        ambiguities=("status and code of a name in use are not stated: any refusal is passed on",),
    ),
    _CUSTOM_AUDIENCES.put(
        "update_custom_audience",
        "/12/accounts/{account_id}/custom_audiences/{custom_audience_id}",
        text("name", note="new in the account"),
        text("description"),
    ),
    _CUSTOM_AUDIENCES.delete(
        "delete_custom_audience", "/12/accounts/{account_id}/custom_audiences/{custom_audience_id}"
    ),
    _CUSTOM_AUDIENCES.post(
        "batch_flexible_audiences",
        "/12/batch/accounts/{account_id}/custom_audiences",
        one_of("operation_type", "Create", "Update", "Delete", place="body", required=True, at=("item",)),
        json_object("params", place="body", required=True, at=("item",)),
        one_of("audience_type", "FLEXIBLE", "MOBILE_AUDIENCE", place="body", required=True, at=("params",)),
        text("name", place="body", required="conditional", at=("params",), note="new in the account"),
        array("child_segments", "object", place="body", required="conditional", at=("params", "segment")),
        one_of("boolean_operator", "AND", "OR", place="body", required="conditional", at=("params", "segment")),
        json_object("segments", place="body", at=("params",), note="the uppermost segment"),
        text(
            "custom_audience_id",
            place="body",
            required="conditional",
            at=("params", "segment"),
            note="of a leaf; in params of the audience that is changed or deleted",
        ),
        whole("lookback_window", 1, 7, 14, 30, place="body", at=("segment",), note="in days"),
        whole("frequency", place="body", default=1, minimum=1, at=("segment",)),
        one_of(
            "frequency_comparator",
            *FREQUENCY_COMPARATORS,
            place="body",
            default="NUM_GTE",
            at=("segment",),
        ),
        flag("negate", place="body", default=True, at=("segment",)),
        rules=(
            RequiredIn("Create", ("name",), at="params"),
            RequiredIn("Create", ("segments", "child_segments"), at="params"),
            RequiredIn("Update", ("name",), at="params"),
            RequiredIn("Update", ("custom_audience_id",), at="params"),
            RequiredIn("Delete", ("custom_audience_id",), at="params"),
            NotIn("Create", "custom_audience_id", at="params"),
            NotIn("Update", "audience_type", "FLEXIBLE", at="params"),
            OnlyIf("segments", "audience_type", "FLEXIBLE", at="params"),
            OnlyIf("boolean_operator", "audience_type", "FLEXIBLE", at="params"),
            NotTogether(("segments", "child_segments"), at="params"),
            NotTogether(("segments", "boolean_operator"), at="params"),
            RequiredIf("boolean_operator", "child_segments", at="params"),
            RequiredIf("boolean_operator", "child_segments", at="segment"),
            Present("child_segments", at="segment"),
            ExactlyOneOf(("custom_audience_id", "child_segments"), at="segment"),
        ),
        body="json_array_of_operations",
        operations=FLEXIBLE_BATCH_ITEMS,
        leaves=FLEXIBLE_LEAVES,
        ambiguities=(
            "the members of an item are listed flat: type and name stand in params, the tree in params or its segments",
            "every operation is said to need type, name and tree: each needs the type, all but Delete the name",
            "Create alone needs the tree; that of a mobile audience is an empty child_segments",
            "how Update and Delete name the audience is not stated: by custom_audience_id in params, which is required",
            "Update is allowed, while flexible audiences never change: it is for mobile audiences",
            "whether a flexible audience can be a leaf is not stated: it is sent; its own leaves are not seen here",
            "the stated default of negate is true, and an example shows false: our own calls always write it out",
        ),
        notes=("a closed beta, for flexible audiences made of mobile ones",),
    ),
    _CUSTOM_AUDIENCES.get(
        "list_custom_audience_targeted",
        "/12/accounts/{account_id}/custom_audiences/{custom_audience_id}/targeted",
        flag("with_active", default=True, note="false: also line items that cannot be served"),
        CURSOR,
    ),
)


def _field(kind: Kind) -> Parameter:
    """The field of a user entry."""
    if kind.is_hashed:
        return hashes(kind.value)
    return array(kind.value, "text", place="body", at=("user",), min_items=1, note="as it is, not hashed")


CUSTOM_AUDIENCE_USERS: Final = (
    Section("custom_audience_users", part=2, section="4.4").post(
        "add_custom_audience_users",
        "/12/accounts/{account_id}/custom_audiences/{custom_audience_id}/users",
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
    rows = Section(group, part=2, section=section, columns={"ambiguities": ambiguities})
    return (
        rows.get(
            f"list_{group}",
            path,
            COUNT,
            CURSOR,
            ids("granted_account_ids"),
            SORT_BY,
            ids(f"{permission_id}s"),
            WITH_TOTAL_COUNT,
        ),
        rows.post(
            f"create_{kind}_audience_permission",
            path,
            text("granted_account_id", required=True),
            one_of("permission_level", *_LEVELS, required=True),
            notes=_SHARING,
        ),
        rows.delete(f"delete_{kind}_audience_permission", f"{path}/{{{permission_id}}}", notes=_SHARING),
    )


CUSTOM: Final = _endpoints("custom", 12, "4.5")
TAILORED: Final = _endpoints("tailored", 5, "4.2", _OLD_VERSION)


_DO_NOT_REACH: Final = Section("do_not_reach", part=2, section="4.6")

DO_NOT_REACH: Final = (
    _DO_NOT_REACH.get(
        "list_do_not_reach_lists",
        "/12/accounts/{account_id}/do_not_reach_lists",
        WITH_DELETED,
        notes=("an account has one list at most",),
    ),
    _DO_NOT_REACH.post(
        "create_do_not_reach_list",
        "/12/accounts/{account_id}/do_not_reach_lists",
        text("description"),
        ambiguities=("what a second list of the account is answered with is not stated: any refusal is passed on",),
    ),
    _DO_NOT_REACH.delete(
        "delete_do_not_reach_list", "/12/accounts/{account_id}/do_not_reach_lists/{do_not_reach_list_id}"
    ),
    _DO_NOT_REACH.post(
        "batch_do_not_reach_users",
        "/12/batch/accounts/{account_id}/do_not_reach_lists/{do_not_reach_list_id}/users",
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
