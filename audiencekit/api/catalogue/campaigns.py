"""Campaigns (specification part 1, section 4.4)."""

from __future__ import annotations

from typing import Final

from audiencekit.api.catalogue.parameters import flag, ids, long, one_of, text
from audiencekit.api.catalogue.rules import NotAbove, OnlyIf
from audiencekit.api.catalogue.sharedendpoints import Managed

_CAMPAIGNS: Final = Managed(singular="campaign", plural="campaigns", section="4.4")
_BUDGETS: Final = ("CAMPAIGN", "LINE_ITEM")
_BUDGET_RULES: Final = (
    NotAbove("daily_budget_amount_local_micro", "total_budget_amount_local_micro"),
    OnlyIf("standard_delivery", "budget_optimization", "CAMPAIGN"),
)

ENDPOINTS: Final = (
    _CAMPAIGNS.list(ids("funding_instrument_ids")),
    _CAMPAIGNS.get(),
    _CAMPAIGNS.create(
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
        rules=_BUDGET_RULES,
        ambiguities=("which kinds of funding need a daily budget is not stated: it may be left out",),
    ),
    _CAMPAIGNS.batch(
        ambiguities=(
            "how Update and Delete name their campaign is not stated: by campaign_id in params, which is required",
        )
    ),
    _CAMPAIGNS.update(
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
        rules=_BUDGET_RULES,
        ambiguities=(
            "whether a deleted or a draft campaign can be changed is not stated: the call is sent",
            "what budget_optimization counts when it is left out of a change is not stated: nothing is refused then",
        ),
    ),
    _CAMPAIGNS.delete(),
)
