"""Line items, which all that is promoted or targeted hangs on (specification part 1, sections 4.2 and 4.6).

The specification names their endpoints and shows none; of the public service's parameters those are taken that a
promotion, a target or a draft campaign needs.
"""

from __future__ import annotations

from typing import Final

from audiencekit.api.catalogue.conventions import NAMED
from audiencekit.api.catalogue.endpoint import Endpoint
from audiencekit.api.catalogue.parameters import (
    ACCOUNT_ID,
    COUNT,
    CURSOR,
    IDENTIFIER,
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
    texts,
    time,
)
from audiencekit.api.catalogue.rules import CURSOR_OR_TOTAL, NotAbove, RequiredIn
from audiencekit.limits import MAX_CAMPAIGN_OPERATIONS

_PATH: Final = "/12/accounts/{account_id}/line_items"
_BUDGETS: Final = NotAbove("daily_budget_amount_local_micro", "total_budget_amount_local_micro")
# What both a new one and a change take.
_CHANGES: Final = (
    text("name", min_length=1, max_length=255),
    time("start_time"),
    time("end_time", note="later than start_time"),
    long("bid_amount_local_micro", note="in micro units"),
    one_of("bid_strategy", "AUTO", "MAX", "TARGET"),
    long("daily_budget_amount_local_micro", note="in micro units"),
    long("total_budget_amount_local_micro", note="in micro units"),
    flag("standard_delivery"),
    texts("categories", note="IAB categories of one or two advertiser business categories, for PREROLL_VIEWS alone"),
)

ENDPOINTS: Final = (
    Endpoint(
        name="list_line_items",
        group="line_items",
        method="GET",
        path=_PATH,
        part=1,
        section="4.6",
        shown=False,
        parameters=(
            ACCOUNT_ID,
            ids("line_item_ids"),
            ids("campaign_ids"),
            ids("funding_instrument_ids"),
            COUNT,
            CURSOR,
            Q,
            SORT_BY,
            WITH_DELETED,
            flag("with_draft", default=False),
            WITH_TOTAL_COUNT,
        ),
        rules=(CURSOR_OR_TOTAL,),
        ambiguities=(NAMED,),
    ),
    Endpoint(
        name="get_line_item",
        group="line_items",
        method="GET",
        path=_PATH + "/{line_item_id}",
        part=1,
        section="4.6",
        shown=False,
        parameters=(ACCOUNT_ID, in_path("line_item_id"), WITH_DELETED),
        ambiguities=(NAMED,),
    ),
    Endpoint(
        name="create_line_item",
        group="line_items",
        method="POST",
        path=_PATH,
        part=1,
        section="4.6",
        shown=False,
        parameters=(
            ACCOUNT_ID,
            text("campaign_id", required=True, pattern=IDENTIFIER),
            one_of(
                "objective",
                "APP_ENGAGEMENTS",
                "APP_INSTALLS",
                "ENGAGEMENTS",
                "FOLLOWERS",
                "REACH",
                "VIDEO_VIEWS",
                "WEBSITE_CLICKS",
                "PREROLL_VIEWS",
                required=True,
            ),
            one_of("product_type", "MEDIA", "PROMOTED_ACCOUNT", "PROMOTED_TWEETS", required=True),
            texts("placements", note="one of the combinations that `list_placements` shows; by default all"),
            one_of("entity_status", "ACTIVE", "DRAFT", "PAUSED", default="ACTIVE"),
            text("pay_by", min_length=1, known=("ENGAGEMENT", "IMPRESSION", "LINK_CLICK")),
            *_CHANGES,
        ),
        rules=(_BUDGETS,),
        ambiguities=(NAMED,),
    ),
    Endpoint(
        name="batch_line_items",
        group="line_items",
        method="POST",
        path="/12/batch/accounts/{account_id}/line_items",
        part=1,
        section="4.6",
        shown=False,
        parameters=(
            ACCOUNT_ID,
            one_of("operation_type", "Create", "Delete", "Update", place="body", required=True, at=("item",)),
            json_object("params", place="body", required=True, at=("item",), note="as for one line item"),
        ),
        body="json_array_of_operations",
        operations=MAX_CAMPAIGN_OPERATIONS,
        rules=(
            RequiredIn("Update", ("line_item_id",), at="params"),
            RequiredIn("Delete", ("line_item_id",), at="params"),
        ),
        params_of=(("Create", "create_line_item"), ("Update", "update_line_item")),
        ambiguities=(NAMED,),
    ),
    Endpoint(
        name="update_line_item",
        group="line_items",
        method="PUT",
        path=_PATH + "/{line_item_id}",
        part=1,
        section="4.6",
        shown=False,
        parameters=(ACCOUNT_ID, in_path("line_item_id"), one_of("entity_status", "ACTIVE", "PAUSED"), *_CHANGES),
        rules=(_BUDGETS,),
        ambiguities=(NAMED,),
        notes=("campaign, objective and product type stay as they are",),
    ),
    Endpoint(
        name="delete_line_item",
        group="line_items",
        method="DELETE",
        path=_PATH + "/{line_item_id}",
        part=1,
        section="4.6",
        shown=False,
        parameters=(ACCOUNT_ID, in_path("line_item_id")),
        ambiguities=(NAMED,),
    ),
)
