"""Campaigns (specification part 1, section 4.4)."""

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
    flag,
    ids,
    in_path,
    json_object,
    long,
    one_of,
    text,
)
from audiencekit.api.catalogue.rules import CURSOR_OR_TOTAL, NotAbove, OnlyIf, RequiredIn
from audiencekit.limits import MAX_CAMPAIGN_OPERATIONS

_BUDGETS: Final = ("CAMPAIGN", "LINE_ITEM")
_BUDGET_RULES: Final = (
    NotAbove("daily_budget_amount_local_micro", "total_budget_amount_local_micro"),
    OnlyIf("standard_delivery", "budget_optimization", "CAMPAIGN"),
)

ENDPOINTS: Final = (
    Endpoint(
        name="list_campaigns",
        group="campaigns",
        method="GET",
        path="/12/accounts/{account_id}/campaigns",
        part=1,
        section="4.4",
        parameters=(
            ACCOUNT_ID,
            ids("campaign_ids"),
            COUNT,
            CURSOR,
            ids("funding_instrument_ids"),
            Q,
            SORT_BY,
            WITH_DELETED,
            flag("with_draft", default=False),
            WITH_TOTAL_COUNT,
        ),
        rules=(CURSOR_OR_TOTAL,),
    ),
    Endpoint(
        name="get_campaign",
        group="campaigns",
        method="GET",
        path="/12/accounts/{account_id}/campaigns/{campaign_id}",
        part=1,
        section="4.4",
        parameters=(
            ACCOUNT_ID,
            in_path("campaign_id"),
            WITH_DELETED,
        ),
    ),
    Endpoint(
        name="create_campaign",
        group="campaigns",
        method="POST",
        path="/12/accounts/{account_id}/campaigns",
        part=1,
        section="4.4",
        parameters=(
            ACCOUNT_ID,
            text("funding_instrument_id", required=True),
            text("name", required=True, max_length=255),
            one_of("budget_optimization", *_BUDGETS, default="CAMPAIGN"),
            long(
                "daily_budget_amount_local_micro",
                required="conditional",
                note="in micro units; most kinds of funding need it",
            ),
            one_of("entity_status", "ACTIVE", "DRAFT", "PAUSED", default="ACTIVE"),
            text("purchase_order_number", max_length=50),
            flag("standard_delivery", default=True),
            long("total_budget_amount_local_micro", note="in micro units"),
        ),
        rules=_BUDGET_RULES,
        ambiguities=("which kinds of funding need a daily budget is not stated: it may be left out",),
    ),
    Endpoint(
        name="batch_campaigns",
        group="campaigns",
        method="POST",
        path="/12/batch/accounts/{account_id}/campaigns",
        part=1,
        section="4.4",
        parameters=(
            ACCOUNT_ID,
            one_of("operation_type", "Create", "Delete", "Update", place="body", required=True, at=("item",)),
            json_object("params", place="body", required=True, at=("item",), note="as for one campaign"),
        ),
        body="json_array_of_operations",
        operations=MAX_CAMPAIGN_OPERATIONS,
        rules=(
            RequiredIn("Update", ("campaign_id",), at="params"),
            RequiredIn("Delete", ("campaign_id",), at="params"),
        ),
        params_of=(("Create", "create_campaign"), ("Update", "update_campaign")),
        ambiguities=(
            "how Update and Delete name their campaign is not stated: by campaign_id in params, which is required",
        ),
    ),
    Endpoint(
        name="update_campaign",
        group="campaigns",
        method="PUT",
        path="/12/accounts/{account_id}/campaigns/{campaign_id}",
        part=1,
        section="4.4",
        parameters=(
            ACCOUNT_ID,
            in_path("campaign_id"),
            text("name", max_length=255),
            one_of("budget_optimization", *_BUDGETS),
            long(
                "daily_budget_amount_local_micro",
                note="in micro units; without it the spending is even over the time of the campaign",
            ),
            one_of("entity_status", "ACTIVE", "PAUSED"),
            text("purchase_order_number", max_length=50),
            flag("standard_delivery"),
            long("total_budget_amount_local_micro", note="in micro units"),
        ),
        rules=_BUDGET_RULES,
        ambiguities=(
            "whether a deleted or a draft campaign can be changed is not stated: the call is sent",
            "what budget_optimization counts when it is left out of a change is not stated: nothing is refused then",
        ),
    ),
    Endpoint(
        name="delete_campaign",
        group="campaigns",
        method="DELETE",
        path="/12/accounts/{account_id}/campaigns/{campaign_id}",
        part=1,
        section="4.4",
        parameters=(
            ACCOUNT_ID,
            in_path("campaign_id"),
        ),
    ),
)
