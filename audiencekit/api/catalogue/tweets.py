"""Tweets and their previews (specification part 2, section 4.9)."""

from __future__ import annotations

from typing import Final

from audiencekit.api.catalogue.endpoint import Section
from audiencekit.api.catalogue.parameters import (
    ACCOUNT_ID,
    CARD_URI,
    COUNT,
    CURSOR,
    flag,
    long,
    long_in_path,
    longs,
    one_of,
    text,
    texts,
)
from audiencekit.api.catalogue.rules import MediaTogether, RequiredUnless
from audiencekit.limits import MAX_LIST_IDS, MAX_TWEET_MEDIA, MAX_TWEET_TEXT

_OWNER: Final = "the FULL promotable user of the account"

_TWEETS: Final = Section("tweets", part=2, section="4.9")

ENDPOINTS: Final = (
    Section("tweet_previews", part=2, section="4.9").get(
        "list_tweet_previews",
        "/12/accounts/{account_id}/tweet_previews",
        ACCOUNT_ID,
        longs("tweet_ids", max_items=MAX_LIST_IDS, required=True),
        one_of("tweet_type", "DRAFT", "PUBLISHED", "SCHEDULED", required=True, note="of all the ids"),
    ),
    _TWEETS.get(
        "list_tweets",
        "/12/accounts/{account_id}/tweets",
        ACCOUNT_ID,
        one_of("tweet_type", required=True),
        COUNT,
        CURSOR,
        flag("include_mentions_and_replies", default=False),
        text("name", max_length=80, note="what the name begins with"),
        one_of("timeline_type", "ALL", "NULLCAST", "ORGANIC", default="NULLCAST"),
        flag("trim_user", default=False),
        longs("tweet_ids", max_items=MAX_LIST_IDS),
        long("user_id", default=_OWNER),
        ambiguities=("the values of tweet_type are not stated: any word is sent",),
    ),
    _TWEETS.post(
        "create_tweet",
        "/12/accounts/{account_id}/tweet",
        ACCOUNT_ID,
        long("as_user_id", required=True),
        text("text", required="conditional", max_length=MAX_TWEET_TEXT),
        text("card_uri", pattern=CARD_URI),
        one_of(
            "conversation_settings",
            "EVERYONE",
            "FOLLOWING",
            "MENTIONED_USERS",
            default="EVERYONE",
            note="from version 8 of the API on",
        ),
        texts("media_keys", max_items=MAX_TWEET_MEDIA, note="up to four images, or one GIF, or one video"),
        text("name", max_length=80),
        flag("nullcast", default=True, note="false, for an organic tweet, only as the person who calls"),
        flag("trim_user"),
        one_of("tweet_mode", "compat", "extended"),
        one_of("video_cta", "VISIT_SITE", "WATCH_NOW"),
        text("video_cta_value"),
        text("video_description", max_length=200),
        text("video_title", max_length=70),
        rules=(RequiredUnless("text", "media_keys"), MediaTogether("media_keys")),
        ambiguities=(
            "conversation_settings comes back on GET only, and no GET of one tweet is stated: it is sent as given",
            "whether a media key is an image, a GIF or a video is read from its first digits (public service)",
        ),
        notes=(
            "who is not the FULL promotable user needs the permission TWEET_COMPOSER",
            "media from the upload address must name as_user_id among their additional_owners",
        ),
    ),
    _TWEETS.put(
        "update_tweet_name",
        "/12/accounts/{account_id}/tweets/{tweet_id}/name",
        ACCOUNT_ID,
        long_in_path("tweet_id"),
        text("name", max_length=80),
        ambiguities=("name is not called required: it may be left out",),
    ),
)
