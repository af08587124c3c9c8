"""The endpoints of what line items promote."""

from __future__ import annotations

from typing import Final

from audiencekit.emulator.promotions.accounts import create_promoted_account, list_promoted_accounts
from audiencekit.emulator.promotions.kinds import PROMOTED_ACCOUNTS, PROMOTED_TWEETS
from audiencekit.emulator.promotions.scheduled import create_scheduled, delete_scheduled, list_scheduled, show_scheduled
from audiencekit.emulator.promotions.tweets import create_promoted_tweets, list_promoted_tweets
from audiencekit.emulator.rate_limits import CORE_READS, READS, WRITES
from audiencekit.emulator.routing import Route

_ACCOUNTS: Final = "/accounts/:account_id/promoted_accounts"
_ONE_ACCOUNT: Final = _ACCOUNTS + "/:promoted_account_id"
_TWEETS: Final = "/accounts/:account_id/promoted_tweets"
_ONE_TWEET: Final = _TWEETS + "/:promoted_tweet_id"
_SCHEDULED: Final = "/accounts/:account_id/scheduled_promoted_tweets"
_ONE_SCHEDULED: Final = _SCHEDULED + "/:scheduled_promoted_tweet_id"

ROUTES: Final = (
    Route("GET", _ACCOUNTS, list_promoted_accounts, READS),
    Route("POST", _ACCOUNTS, create_promoted_account, WRITES),
    Route("GET", _ONE_ACCOUNT, PROMOTED_ACCOUNTS.show_record, READS),
    Route("DELETE", _ONE_ACCOUNT, PROMOTED_ACCOUNTS.delete_record, WRITES),
    Route("GET", _TWEETS, list_promoted_tweets, CORE_READS),
    Route("POST", _TWEETS, create_promoted_tweets, WRITES),
    Route("GET", _ONE_TWEET, PROMOTED_TWEETS.show_record, CORE_READS),
    Route("DELETE", _ONE_TWEET, PROMOTED_TWEETS.delete_record, WRITES),
    Route("GET", _SCHEDULED, list_scheduled, READS),
    Route("POST", _SCHEDULED, create_scheduled, WRITES),
    Route("GET", _ONE_SCHEDULED, show_scheduled, READS),
    Route("DELETE", _ONE_SCHEDULED, delete_scheduled, WRITES),
)
