"""Custom audiences, flexible ones among them (specification part 2, section 4.3)."""

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
    Q,
    array,
    flag,
    ids,
    in_path,
    json_object,
    one_of,
    text,
    whole,
)
from audiencekit.api.catalogue.rules import CURSOR_OR_TOTAL, RequiredIf, RequiredIn
from audiencekit.limits import FLEXIBLE_BATCH_ITEMS, FLEXIBLE_LEAVES
from audiencekit.servicewords import FREQUENCY_COMPARATORS

ENDPOINTS: Final = (
    Endpoint(
        name="list_custom_audiences",
        group="custom_audiences",
        method="GET",
        path="/12/accounts/{account_id}/custom_audiences",
        part=2,
        section="4.3",
        parameters=(
            ACCOUNT_ID,
            COUNT,
            CURSOR,
            one_of("permission_scope", "OWNER", "SHARED", default="OWNER"),
            Q,
            SORT_BY,
            ids("custom_audience_ids"),
            WITH_DELETED,
            WITH_TOTAL_COUNT,
        ),
        rules=(CURSOR_OR_TOTAL,),
    ),
    Endpoint(
        name="get_custom_audience",
        group="custom_audiences",
        method="GET",
        path="/12/accounts/{account_id}/custom_audiences/{custom_audience_id}",
        part=2,
        section="4.3",
        parameters=(
            ACCOUNT_ID,
            in_path("custom_audience_id"),
            WITH_DELETED,
        ),
    ),
    Endpoint(
        name="create_custom_audience",
        group="custom_audiences",
        method="POST",
        path="/12/accounts/{account_id}/custom_audiences",
        part=2,
        section="4.3",
        parameters=(
            ACCOUNT_ID,
            text("name", required=True, note="new in the account"),
            text("description"),
        ),
        ambiguities=("status and code of a name in use are not stated: any refusal is passed on",),
    ),
    Endpoint(
        name="update_custom_audience",
        group="custom_audiences",
        method="PUT",
        path="/12/accounts/{account_id}/custom_audiences/{custom_audience_id}",
        part=2,
        section="4.3",
        parameters=(
            ACCOUNT_ID,
            in_path("custom_audience_id"),
            text("name", note="new in the account"),
            text("description"),
        ),
    ),
    Endpoint(
        name="delete_custom_audience",
        group="custom_audiences",
        method="DELETE",
        path="/12/accounts/{account_id}/custom_audiences/{custom_audience_id}",
        part=2,
        section="4.3",
        parameters=(
            ACCOUNT_ID,
            in_path("custom_audience_id"),
        ),
    ),
    Endpoint(
        name="batch_flexible_audiences",
        group="custom_audiences",
        method="POST",
        path="/12/batch/accounts/{account_id}/custom_audiences",
        part=2,
        section="4.3",
        parameters=(
            ACCOUNT_ID,
            one_of("operation_type", "Create", "Update", "Delete", place="body", required=True, at=("item",)),
            json_object("params", place="body", required=True, at=("item",)),
            one_of(
                "audience_type", "FLEXIBLE", "MOBILE_AUDIENCE", place="body", required="conditional", at=("params",)
            ),
            text("name", place="body", required="conditional", at=("params",), note="new in the account"),
            array("child_segments", "object", place="body", required="conditional", at=("params", "segment")),
            one_of("boolean_operator", "AND", "OR", place="body", required="conditional", at=("params", "segment")),
            json_object("segments", place="body", at=("params",), note="the uppermost segment"),
            text("custom_audience_id", place="body", at=("segment",), note="of a leaf"),
            whole("lookback_window", 1, 7, 14, 30, place="body", at=("segment",), note="in days"),
            whole("frequency", place="body", default=1, at=("segment",)),
            one_of(
                "frequency_comparator",
                *FREQUENCY_COMPARATORS,
                place="body",
                default="NUM_GTE",
                at=("segment",),
            ),
            flag("negate", place="body", default=True, at=("segment",)),
        ),
        rules=(
            RequiredIn("Create", ("audience_type",), at="params"),
            RequiredIn("Create", ("name",), at="params"),
            RequiredIn("Create", ("segments", "child_segments"), at="params"),
            RequiredIf("boolean_operator", "child_segments", at="params"),
            RequiredIf("boolean_operator", "child_segments", at="segment"),
        ),
        body="json_array_of_operations",
        operations=FLEXIBLE_BATCH_ITEMS,
        leaves=FLEXIBLE_LEAVES,
        ambiguities=(
            "the members of an item are listed flat: type and name stand in params, the tree in params or its segments",
            "every operation is said to need type, name and tree: here only Create does",
            "how Update and Delete name the audience is not stated: params are sent as they are given",
            "Update is allowed, while flexible audiences never change: it is sent, and the service decides",
            "the stated default of negate is true, and an example shows false: our own calls always write it out",
        ),
        notes=("a closed beta, for flexible audiences made of mobile ones",),
    ),
    Endpoint(
        name="list_custom_audience_targeted",
        group="custom_audiences",
        method="GET",
        path="/12/accounts/{account_id}/custom_audiences/{custom_audience_id}/targeted",
        part=2,
        section="4.3",
        parameters=(
            ACCOUNT_ID,
            in_path("custom_audience_id"),
            flag("with_active", default=True, note="false: also line items that cannot be served"),
            CURSOR,
        ),
    ),
)
