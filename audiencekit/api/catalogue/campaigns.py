"""Campaigns and all that is below one: line items, funding, promotion, targeting, tracking (specification part 1,
sections 4.2 to 4.11).
"""

from __future__ import annotations

from typing import Final

from audiencekit.api.catalogue.endpoint import NAMED, Section
from audiencekit.api.catalogue.managed_records import Managed
from audiencekit.api.catalogue.parameters import (
    COUNT,
    CURSOR,
    IDENTIFIER,
    LISTING,
    SORT_BY,
    WITH_DELETED,
    WITH_TOTAL_COUNT,
    array,
    currency,
    flag,
    ids,
    json_object,
    long,
    longs,
    one_of,
    text,
    texts,
    time,
)
from audiencekit.api.catalogue.rules import DaysBetween, ItemsTogether, NotAbove, OnlyIf, RequiredIn
from audiencekit.limits import MAX_CRITERIA_OPERATIONS, MAX_LIST_IDS, MAX_PROMOTED_TWEETS
from audiencekit.service_words import FUNDING_TYPES, OBJECTIVES, PRODUCT_TYPES, TARGETING_OPERATORS

_CAMPAIGNS: Final = Managed(singular="campaign", plural="campaigns", section="4.4")
_BUDGETS: Final = ("CAMPAIGN", "LINE_ITEM")
_BUDGET_RULES: Final = (
    NotAbove("daily_budget_amount_local_micro", "total_budget_amount_local_micro"),
    OnlyIf("standard_delivery", "budget_optimization", "CAMPAIGN"),
)

CAMPAIGNS: Final = (
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


_LINE_ITEMS: Final = Managed(
    singular="line_item", plural="line_items", section="4.6", shown=False, ambiguities=(NAMED,)
)
_LINE_ITEM_BUDGETS: Final = NotAbove("daily_budget_amount_local_micro", "total_budget_amount_local_micro")
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

LINE_ITEMS: Final = (
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
        rules=(_LINE_ITEM_BUDGETS,),
    ),
    _LINE_ITEMS.batch(),
    _LINE_ITEMS.update(
        one_of("entity_status", "ACTIVE", "PAUSED"),
        *_CHANGES,
        rules=(_LINE_ITEM_BUDGETS,),
        notes=("campaign, objective and product type stay as they are",),
    ),
    _LINE_ITEMS.delete(),
)


_FUNDING_INSTRUMENTS: Final = Section("funding_instruments", part=1, section="4.5")

FUNDING_INSTRUMENTS: Final = (
    _FUNDING_INSTRUMENTS.get(
        "list_funding_instruments",
        "/12/accounts/{account_id}/funding_instruments",
        COUNT,
        CURSOR,
        ids("funding_instrument_ids"),
        SORT_BY,
        WITH_DELETED,
        WITH_TOTAL_COUNT,
    ),
    _FUNDING_INSTRUMENTS.get(
        "get_funding_instrument", "/12/accounts/{account_id}/funding_instruments/{funding_instrument_id}", WITH_DELETED
    ),
    _FUNDING_INSTRUMENTS.post(
        "create_funding_instrument",
        "/12/accounts/{account_id}/funding_instruments",
        currency("currency", required=True),
        time("start_time", required=True),
        one_of("type", *FUNDING_TYPES),
        base="ads_sandbox_url",
        ambiguities=(
            "stated in part only: of the others type alone is taken, with the values of the public service",
            "that it can be deleted is said, but no such call is stated: there is none here",
        ),
        notes=("costs nothing",),
    ),
)


_PROMOTED: Final = Section("promoted", part=1, section="4.8")

PROMOTED: Final = (
    _PROMOTED.get(
        "list_promoted_accounts",
        "/12/accounts/{account_id}/promoted_accounts",
        ids("line_item_ids"),
        ids("promoted_account_ids"),
        *LISTING,
    ),
    _PROMOTED.get(
        "get_promoted_account", "/12/accounts/{account_id}/promoted_accounts/{promoted_account_id}", WITH_DELETED
    ),
    _PROMOTED.post(
        "create_promoted_account",
        "/12/accounts/{account_id}/promoted_accounts",
        text("line_item_id", required=True),
        long("user_id", required=True),
        notes=("a person who is promoted already is left as is",),
    ),
    _PROMOTED.delete("delete_promoted_account", "/12/accounts/{account_id}/promoted_accounts/{promoted_account_id}"),
    _PROMOTED.get(
        "list_promoted_tweets",
        "/12/accounts/{account_id}/promoted_tweets",
        ids("line_item_ids"),
        ids("promoted_tweet_ids"),
        *LISTING,
    ),
    _PROMOTED.get("get_promoted_tweet", "/12/accounts/{account_id}/promoted_tweets/{promoted_tweet_id}", WITH_DELETED),
    _PROMOTED.post(
        "create_promoted_tweets",
        "/12/accounts/{account_id}/promoted_tweets",
        text("line_item_id", required=True),
        longs("tweet_ids", max_items=MAX_PROMOTED_TWEETS, required=True),
        notes=(
            "a tweet of another user is posted again for promotion only, so another tweet_id comes back",
            "with the product type PROMOTED_ACCOUNT, placements in timelines of phones are added",
        ),
    ),
    _PROMOTED.delete(
        "delete_promoted_tweet",
        "/12/accounts/{account_id}/promoted_tweets/{promoted_tweet_id}",
        notes=("the id is that of the promotion, not that of the tweet",),
    ),
    _PROMOTED.get(
        "list_scheduled_promoted_tweets",
        "/12/accounts/{account_id}/scheduled_promoted_tweets",
        ids("line_item_ids"),
        ids("scheduled_promoted_tweet_ids"),
        *LISTING,
    ),
    _PROMOTED.get(
        "get_scheduled_promoted_tweet",
        "/12/accounts/{account_id}/scheduled_promoted_tweets/{scheduled_promoted_tweet_id}",
        WITH_DELETED,
    ),
    _PROMOTED.post(
        "create_scheduled_promoted_tweet",
        "/12/accounts/{account_id}/scheduled_promoted_tweets",
        text("line_item_id", required=True),
        long("scheduled_tweet_id", required=True),
    ),
    _PROMOTED.delete(
        "delete_scheduled_promoted_tweet",
        "/12/accounts/{account_id}/scheduled_promoted_tweets/{scheduled_promoted_tweet_id}",
        ambiguities=("one place names the path scheduled_tweets: the one of the example is called",),
        notes=("the id is that of the promotion; works only before the scheduled time",),
    ),
)


_TARGETING: Final = Section("targeting", part=1, section="4.11")

TARGETING: Final = (
    Section("audience_estimate", part=1, section="4.3").post(
        "estimate_audience",
        "/12/accounts/{account_id}/audience_estimate",
        array("targeting_criteria", "object", place="body", required=True, at=("top",), note="one primary at least"),
        one_of(
            "operator_type",
            "EQ",
            "NE",
            place="body",
            default="EQ",
            at=("top", "criterion"),
            note="NE is for people that the criterion does not describe",
        ),
        body="json_object",
        ambiguities=(
            "the shape of criteria is not shown: each is sent as it is given; an empty list is refused",
            "the place of operator_type is not stated: it is checked at the top and in each criterion",
            "which criteria are primary is not stated: that one of them is, is left to the service",
        ),
    ),
    _TARGETING.get(
        "list_targeting_criteria",
        "/12/accounts/{account_id}/targeting_criteria",
        ids("line_item_ids", required=True),
        ids("targeting_criterion_ids"),
        *LISTING,
        ambiguities=(
            "the usual parameters of lists are not named: ids of its own, sort_by, with_deleted and with_total_count",
        ),
    ),
    _TARGETING.post(
        "create_targeting_criterion",
        "/12/accounts/{account_id}/targeting_criteria",
        text("line_item_id", required=True, pattern=IDENTIFIER),
        text("targeting_type", required=True, known=("CUSTOM_AUDIENCE", "IAB_CATEGORY", "LOCATION")),
        text("targeting_value", required=True, note="of an audience its id"),
        one_of("operator_type", *TARGETING_OPERATORS, required=True),
        shown=False,
        ambiguities=(NAMED,),
        notes=("an audience must be targetable",),
    ),
    _TARGETING.post(
        "batch_targeting_criteria",
        "/12/batch/accounts/{account_id}/targeting_criteria",
        one_of("operation_type", "Create", "Delete", place="body", required=True, at=("item",)),
        json_object("params", place="body", required=True, at=("item",), note="as for one criterion"),
        shown=False,
        body="json_array_of_operations",
        operations=MAX_CRITERIA_OPERATIONS,
        rules=(RequiredIn("Delete", ("targeting_criterion_id",), at="params"),),
        params_of=(("Create", "create_targeting_criterion"),),
        ambiguities=(NAMED,),
    ),
    _TARGETING.delete(
        "delete_targeting_criterion",
        "/12/accounts/{account_id}/targeting_criteria/{targeting_criterion_id}",
        shown=False,
        ambiguities=(NAMED,),
    ),
)


_CURATED_CATEGORIES_4_2: Final = Section("curated_categories", part=1, section="4.2")
_CURATED_CATEGORIES_4_6: Final = Section("curated_categories", part=1, section="4.6")

CURATED_CATEGORIES: Final = (
    _CURATED_CATEGORIES_4_2.get(
        "list_curated_categories",
        "/12/accounts/{account_id}/curated_categories",
        texts("country_codes", required=True, max_items=MAX_LIST_IDS, pattern="[A-Z]{2}", note="ISO 3166-1"),
        CURSOR,
    ),
    _CURATED_CATEGORIES_4_2.get(
        "get_curated_category", "/12/accounts/{account_id}/curated_categories/{curated_category_id}"
    ),
    _CURATED_CATEGORIES_4_6.post(
        "create_line_item_curated_category",
        "/12/accounts/{account_id}/line_item_curated_categories",
        text("curated_category_id", required=True),
        text("line_item_id", required=True),
    ),
    _CURATED_CATEGORIES_4_6.put(
        "update_line_item_curated_category",
        "/12/accounts/{account_id}/line_item_curated_categories/{line_item_curated_category_id}",
        text("curated_category_id"),
        text("line_item_id"),
        ambiguities=("it is not clear whether one or both parameters are optional: both are",),
    ),
    _CURATED_CATEGORIES_4_6.delete(
        "delete_line_item_curated_category",
        "/12/accounts/{account_id}/line_item_curated_categories/{line_item_curated_category_id}",
    ),
)


_TRACKING_TAGS: Final = Section("tracking_tags", part=1, section="4.11")

TRACKING_TAGS: Final = (
    _TRACKING_TAGS.get(
        "list_tracking_tags",
        "/12/accounts/{account_id}/tracking_tags",
        ids("line_item_ids"),
        ids("tracking_tag_ids"),
        *LISTING,
    ),
    _TRACKING_TAGS.get("get_tracking_tag", "/12/accounts/{account_id}/tracking_tags/{tracking_tag_id}", WITH_DELETED),
    _TRACKING_TAGS.post(
        "create_tracking_tag",
        "/12/accounts/{account_id}/tracking_tags",
        text("line_item_id", required=True),
        one_of("tracking_tag_type", "IMPRESSION_TAG", "CLICK_TRACKER", required=True),
        text("tracking_tag_url", required=True),
    ),
    _TRACKING_TAGS.put(
        "update_tracking_tag",
        "/12/accounts/{account_id}/tracking_tags/{tracking_tag_id}",
        text("tracking_tag_url", required=True),
    ),
    _TRACKING_TAGS.delete("delete_tracking_tag", "/12/accounts/{account_id}/tracking_tags/{tracking_tag_id}"),
)


KEYWORD_INSIGHTS: Final = (
    Section("keyword_insights", part=2, section="4.1").get(
        "search_keyword_insights",
        "/12/insights/keywords/search",
        one_of("granularity", "DAY", "HOUR", required=True, note="of the volumes that come back"),
        texts("keywords", required=True, note="any of them"),
        time("start_time", required=True),
        time("end_time", default="now"),
        text("location", note="the targeting value of a country"),
        texts("negative_keywords", note="none of them"),
        rules=(
            ItemsTogether(("keywords", "negative_keywords"), 10),
            DaysBetween("start_time", "end_time", 7),
        ),
        notes=("the answer is about one country",),
    ),
)
