"""Promoted accounts, tweets and scheduled tweets (specification part 1, section 4.8)."""

from __future__ import annotations

from typing import Final

from audiencekit.api.catalogue.endpoint import Section
from audiencekit.api.catalogue.parameters import (
    ACCOUNT_ID,
    COUNT,
    CURSOR,
    SORT_BY,
    WITH_DELETED,
    WITH_TOTAL_COUNT,
    ids,
    in_path,
    long,
    longs,
    text,
)
from audiencekit.api.catalogue.rules import CURSOR_OR_TOTAL
from audiencekit.limits import MAX_PROMOTED_TWEETS

_PROMOTED: Final = Section("promoted", part=1, section="4.8")

ENDPOINTS: Final = (
    _PROMOTED.get(
        "list_promoted_accounts",
        "/12/accounts/{account_id}/promoted_accounts",
        ACCOUNT_ID,
        ids("line_item_ids"),
        ids("promoted_account_ids"),
        COUNT,
        CURSOR,
        SORT_BY,
        WITH_DELETED,
        WITH_TOTAL_COUNT,
        rules=(CURSOR_OR_TOTAL,),
    ),
    _PROMOTED.get(
        "get_promoted_account",
        "/12/accounts/{account_id}/promoted_accounts/{promoted_account_id}",
        ACCOUNT_ID,
        in_path("promoted_account_id"),
        WITH_DELETED,
    ),
    _PROMOTED.post(
        "create_promoted_account",
        "/12/accounts/{account_id}/promoted_accounts",
        ACCOUNT_ID,
        text("line_item_id", required=True),
        long("user_id", required=True),
        notes=("a person who is promoted already is left as is",),
    ),
    _PROMOTED.delete(
        "delete_promoted_account",
        "/12/accounts/{account_id}/promoted_accounts/{promoted_account_id}",
        ACCOUNT_ID,
        in_path("promoted_account_id"),
    ),
    _PROMOTED.get(
        "list_promoted_tweets",
        "/12/accounts/{account_id}/promoted_tweets",
        ACCOUNT_ID,
        ids("line_item_ids"),
        ids("promoted_tweet_ids"),
        COUNT,
        CURSOR,
        SORT_BY,
        WITH_DELETED,
        WITH_TOTAL_COUNT,
        rules=(CURSOR_OR_TOTAL,),
    ),
    _PROMOTED.get(
        "get_promoted_tweet",
        "/12/accounts/{account_id}/promoted_tweets/{promoted_tweet_id}",
        ACCOUNT_ID,
        in_path("promoted_tweet_id"),
        WITH_DELETED,
    ),
    _PROMOTED.post(
        "create_promoted_tweets",
        "/12/accounts/{account_id}/promoted_tweets",
        ACCOUNT_ID,
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
        ACCOUNT_ID,
        in_path("promoted_tweet_id"),
        notes=("the id is that of the promotion, not that of the tweet",),
    ),
    _PROMOTED.get(
        "list_scheduled_promoted_tweets",
        "/12/accounts/{account_id}/scheduled_promoted_tweets",
        ACCOUNT_ID,
        ids("line_item_ids"),
        ids("scheduled_promoted_tweet_ids"),
        COUNT,
        CURSOR,
        SORT_BY,
        WITH_DELETED,
        WITH_TOTAL_COUNT,
        rules=(CURSOR_OR_TOTAL,),
    ),
    _PROMOTED.get(
        "get_scheduled_promoted_tweet",
        "/12/accounts/{account_id}/scheduled_promoted_tweets/{scheduled_promoted_tweet_id}",
        ACCOUNT_ID,
        in_path("scheduled_promoted_tweet_id"),
        WITH_DELETED,
    ),
    _PROMOTED.post(
        "create_scheduled_promoted_tweet",
        "/12/accounts/{account_id}/scheduled_promoted_tweets",
        ACCOUNT_ID,
        text("line_item_id", required=True),
        long("scheduled_tweet_id", required=True),
    ),
    _PROMOTED.delete(
        "delete_scheduled_promoted_tweet",
        "/12/accounts/{account_id}/scheduled_promoted_tweets/{scheduled_promoted_tweet_id}",
        ACCOUNT_ID,
        in_path("scheduled_promoted_tweet_id"),
        ambiguities=("one place names the path scheduled_tweets: the one of the example is called",),
        notes=("the id is that of the promotion; works only before the scheduled time",),
    ),
)
