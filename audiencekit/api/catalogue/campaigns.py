"""Campaigns (specification part 1, section 4.4)."""

from __future__ import annotations

from typing import Final

from .endpoint import Endpoint
from .parameters import (
    ACCOUNT_ID,
    COUNT,
    CURSOR,
    CURSOR_OR_TOTAL,
    WITH_DELETED,
    WITH_TOTAL_COUNT,
    NotAbove,
    OnlyIf,
    Q,
    flag,
    ids,
    in_path,
    json_object,
    long,
    one_of,
    text,
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
            text("sort_by"),
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
            one_of("budget_optimization", "CAMPAIGN", "LINE_ITEM", default="CAMPAIGN"),
            long(
                "daily_budget_amount_local_micro",
                required="conditional",
                note="micro units; less than or equal to total_budget_amount_local_micro; required for most funding instrument types (which ones is not stated)",
            ),
            one_of("entity_status", "ACTIVE", "DRAFT", "PAUSED", default="ACTIVE"),
            text("purchase_order_number", max_length=50),
            flag("standard_delivery", default=True, note="only when budget_optimization is CAMPAIGN"),
            long("total_budget_amount_local_micro", note="micro units"),
        ),
        rules=(
            NotAbove("daily_budget_amount_local_micro", "total_budget_amount_local_micro"),
            OnlyIf("standard_delivery", "budget_optimization", "CAMPAIGN"),
        ),
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
            one_of("operation_type", "Create", "Delete", "Update", place="body", required=True, at="item"),
            json_object("params", place="body", required=True, at="item", note="campaign parameters"),
        ),
        params_in="body",
        body="json_array_of_operations",
        operations=40,
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
            one_of("budget_optimization", "CAMPAIGN", "LINE_ITEM"),
            long(
                "daily_budget_amount_local_micro",
                note="micro units; not above total_budget_amount_local_micro; without it the campaign spends evenly over its flight time",
            ),
            one_of("entity_status", "ACTIVE", "PAUSED"),
            text("purchase_order_number", max_length=50),
            flag("standard_delivery", note="only when budget_optimization is CAMPAIGN"),
            long("total_budget_amount_local_micro", note="micro units"),
        ),
        rules=(
            NotAbove("daily_budget_amount_local_micro", "total_budget_amount_local_micro"),
            OnlyIf("standard_delivery", "budget_optimization", "CAMPAIGN"),
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
        params_in=None,
    ),
)
