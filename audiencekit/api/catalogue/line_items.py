"""Line items, which all that is promoted or targeted hangs on (specification part 1, sections 4.2 and 4.6).

The specification names their endpoints and shows none; of the public service's parameters those are taken that a
promotion, a target or a draft campaign needs.
"""

from __future__ import annotations

from typing import Final

from audiencekit.api.catalogue.conventions import NAMED
from audiencekit.api.catalogue.parameters import IDENTIFIER, flag, ids, long, one_of, text, texts, time
from audiencekit.api.catalogue.rules import NotAbove
from audiencekit.api.catalogue.sharedendpoints import Managed
from audiencekit.servicewords import OBJECTIVES, PRODUCT_TYPES

_LINE_ITEMS: Final = Managed(
    singular="line_item", plural="line_items", section="4.6", shown=False, ambiguities=(NAMED,)
)
_BUDGETS: Final = NotAbove("daily_budget_amount_local_micro", "total_budget_amount_local_micro")
# Parameters of both a new line item and a change.
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
    _LINE_ITEMS.list(ids("campaign_ids"), ids("funding_instrument_ids")),
    _LINE_ITEMS.get(),
    _LINE_ITEMS.create(
        text("campaign_id", required=True, pattern=IDENTIFIER),
        one_of(
            "objective",
            *OBJECTIVES,
            required=True,
        ),
        one_of("product_type", *PRODUCT_TYPES, required=True),
        texts("placements", note="one of the combinations that `list_placements` shows; by default all"),
        one_of("entity_status", "ACTIVE", "DRAFT", "PAUSED", default="ACTIVE"),
        text("pay_by", min_length=1, known=("ENGAGEMENT", "IMPRESSION", "LINK_CLICK")),
        *_CHANGES,
        rules=(_BUDGETS,),
    ),
    _LINE_ITEMS.batch(),
    _LINE_ITEMS.update(
        one_of("entity_status", "ACTIVE", "PAUSED"),
        *_CHANGES,
        rules=(_BUDGETS,),
        notes=("campaign, objective and product type stay as they are",),
    ),
    _LINE_ITEMS.delete(),
)
