"""The endpoints of draft tweets, scheduled tweets, previews and tweets."""

from __future__ import annotations

from typing import Final

from audiencekit.emulator.rate_limits import READS, WRITES
from audiencekit.emulator.routing import Route
from audiencekit.emulator.tweets import drafts, scheduled
from audiencekit.emulator.tweets.tweets import create_tweet, list_previews, list_tweets, rename_tweet

_ACCOUNT: Final = "/accounts/:account_id"
_DRAFTS: Final = _ACCOUNT + "/draft_tweets"
_DRAFT: Final = _DRAFTS + "/:draft_tweet_id"
_SCHEDULED: Final = _ACCOUNT + "/scheduled_tweets"
_SCHEDULED_ONE: Final = _SCHEDULED + "/:scheduled_tweet_id"

ROUTES: Final = (
    Route("GET", _DRAFTS, drafts.list_drafts, READS),
    Route("POST", _DRAFTS, drafts.create_draft, WRITES),
    Route("GET", _DRAFT, drafts.show_one, READS),
    Route("PUT", _DRAFT, drafts.change_draft, WRITES),
    Route("DELETE", _DRAFT, drafts.delete_draft, WRITES),
    Route("POST", _DRAFTS + "/preview/:draft_tweet_id", drafts.preview_draft, WRITES),
    Route("GET", _SCHEDULED, scheduled.list_scheduled, READS),
    Route("POST", _SCHEDULED, scheduled.create_scheduled, WRITES),
    Route("GET", _SCHEDULED_ONE, scheduled.show_one, READS),
    Route("PUT", _SCHEDULED_ONE, scheduled.change_scheduled, WRITES),
    Route("DELETE", _SCHEDULED_ONE, scheduled.delete_scheduled, WRITES),
    Route("GET", _ACCOUNT + "/tweet_previews", list_previews, READS),
    Route("GET", _ACCOUNT + "/tweets", list_tweets, READS),
    Route("POST", _ACCOUNT + "/tweet", create_tweet, WRITES),
    Route("PUT", _ACCOUNT + "/tweets/:tweet_id/name", rename_tweet, WRITES),
)
