"""Objects that line items promote: accounts, tweets and scheduled tweets."""

from __future__ import annotations

from typing import Final

from audiencekit.emulator.resources.resource import Resource

PROMOTED_ACCOUNTS: Final = Resource(
    kind="promoted_accounts",
    noun="Promoted Account",
    id_name="promoted_account_id",
    filters=("line_item_ids",),
)
PROMOTED_TWEETS: Final = Resource(
    kind="promoted_tweets",
    noun="Promoted Tweet",
    id_name="promoted_tweet_id",
    filters=("line_item_ids",),
)
SCHEDULED_PROMOTED_TWEETS: Final = Resource(
    kind="scheduled_promoted_tweets",
    noun="Scheduled Promoted Tweet",
    id_name="scheduled_promoted_tweet_id",
    filters=("line_item_ids",),
)
