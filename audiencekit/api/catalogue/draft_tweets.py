"""Draft tweets and scheduled tweets (specification part 2, section 4.9)."""

from __future__ import annotations

from typing import Final

from audiencekit.api.catalogue.conventions import NAMED
from audiencekit.api.catalogue.endpoint import Section
from audiencekit.api.catalogue.parameters import (
    ACCOUNT_ID,
    CARD_URI,
    CURSOR,
    SHORT_COUNT,
    flag,
    long,
    long_in_path,
    text,
    texts,
    time,
)
from audiencekit.api.catalogue.rules import MediaTogether, RequiredUnless
from audiencekit.limits import MAX_TWEET_MEDIA, MAX_TWEET_TEXT

_DRAFT_TWEETS: Final = Section("draft_tweets", part=2, section="4.9")
_SCHEDULED_TWEETS: Final = Section("scheduled_tweets", part=2, section="4.9")

ENDPOINTS: Final = (
    _DRAFT_TWEETS.get(
        "list_draft_tweets",
        "/12/accounts/{account_id}/draft_tweets",
        ACCOUNT_ID,
        SHORT_COUNT,
        CURSOR,
        long("user_id", default="the FULL promotable user of the account"),
    ),
    _DRAFT_TWEETS.get(
        "get_draft_tweet",
        "/12/accounts/{account_id}/draft_tweets/{draft_tweet_id}",
        ACCOUNT_ID,
        long_in_path("draft_tweet_id"),
    ),
    _DRAFT_TWEETS.post(
        "create_draft_tweet",
        "/12/accounts/{account_id}/draft_tweets",
        ACCOUNT_ID,
        long("as_user_id", required=True),
        text("text", required="conditional", max_length=MAX_TWEET_TEXT),
        text("card_uri", pattern=CARD_URI),
        texts(
            "media_keys",
            max_items=MAX_TWEET_MEDIA,
            note="from the media library: up to four images, or one animated GIF, or one video",
        ),
        flag("nullcast", default=True),
        text("name", max_length=80),
        rules=(RequiredUnless("text", "media_keys"), MediaTogether("media_keys")),
        ambiguities=(
            "whether a media key is an image, a GIF or a video is read from its first digits (public service)",
        ),
    ),
    _DRAFT_TWEETS.put(
        "update_draft_tweet",
        "/12/accounts/{account_id}/draft_tweets/{draft_tweet_id}",
        ACCOUNT_ID,
        long_in_path("draft_tweet_id"),
        text("card_uri", pattern=CARD_URI, removable=True),
        texts("media_keys", max_items=MAX_TWEET_MEDIA, removable=True),
        flag("nullcast"),
        text("text", max_length=MAX_TWEET_TEXT),
        text("name", max_length=80),
        rules=(MediaTogether("media_keys"),),
    ),
    _DRAFT_TWEETS.delete(
        "delete_draft_tweet",
        "/12/accounts/{account_id}/draft_tweets/{draft_tweet_id}",
        ACCOUNT_ID,
        long_in_path("draft_tweet_id"),
    ),
    _DRAFT_TWEETS.post(
        "preview_draft_tweet",
        "/12/accounts/{account_id}/draft_tweets/preview/{draft_tweet_id}",
        ACCOUNT_ID,
        long_in_path("draft_tweet_id"),
        ambiguities=("the word preview stands where other paths have the id: an id is a number, so none is confused",),
        notes=("the devices of the person who calls get a notification; no one else sees the preview",),
    ),
    _SCHEDULED_TWEETS.put(
        "update_scheduled_tweet",
        "/12/accounts/{account_id}/scheduled_tweets/{scheduled_tweet_id}",
        ACCOUNT_ID,
        long_in_path("scheduled_tweet_id"),
        flag("nullcast"),
        time("scheduled_at"),
        text("text", max_length=MAX_TWEET_TEXT),
        text("name", max_length=80),
        text("card_uri", pattern=CARD_URI, removable=True),
        texts("media_keys", max_items=MAX_TWEET_MEDIA, removable=True),
        rules=(MediaTogether("media_keys"),),
        ambiguities=("the list of parameters is cut off: those that a draft has besides are taken, too",),
    ),
    _SCHEDULED_TWEETS.delete(
        "delete_scheduled_tweet",
        "/12/accounts/{account_id}/scheduled_tweets/{scheduled_tweet_id}",
        ACCOUNT_ID,
        long_in_path("scheduled_tweet_id"),
    ),
    _SCHEDULED_TWEETS.get(
        "list_scheduled_tweets",
        "/12/accounts/{account_id}/scheduled_tweets",
        ACCOUNT_ID,
        SHORT_COUNT,
        CURSOR,
        long("user_id"),
        shown=False,
        ambiguities=(NAMED,),
    ),
    _SCHEDULED_TWEETS.get(
        "get_scheduled_tweet",
        "/12/accounts/{account_id}/scheduled_tweets/{scheduled_tweet_id}",
        ACCOUNT_ID,
        long_in_path("scheduled_tweet_id"),
        shown=False,
        ambiguities=(NAMED,),
    ),
    _SCHEDULED_TWEETS.post(
        "create_scheduled_tweet",
        "/12/accounts/{account_id}/scheduled_tweets",
        ACCOUNT_ID,
        time("scheduled_at", required=True, note="a minute, at most a year ahead"),
        long("as_user_id", required=True),
        text("text", required="conditional", max_length=MAX_TWEET_TEXT),
        text("card_uri", pattern=CARD_URI),
        texts("media_keys", max_items=MAX_TWEET_MEDIA, note="up to four images, or one GIF, or one video"),
        flag("nullcast", default=True),
        text("name", max_length=80),
        shown=False,
        rules=(RequiredUnless("text", "media_keys"), MediaTogether("media_keys")),
        ambiguities=(NAMED,),
    ),
)
