"""Tweets, drafts and scheduled ones, previews, and media (specification parts 1, section 4.7, and 2, sections 4.7
and 4.9).
"""

from __future__ import annotations

from typing import Final

from audiencekit.api.catalogue.endpoint import NAMED, Section
from audiencekit.api.catalogue.parameters import (
    CARD_URI,
    COUNT,
    CURSOR,
    LISTING,
    SHORT_COUNT,
    WITH_DELETED,
    flag,
    ids,
    long,
    long_in_path,
    longs,
    one_of,
    some_of,
    text,
    texts,
    time,
    url,
)
from audiencekit.api.catalogue.rules import MediaTogether, RequiredUnless
from audiencekit.limits import MAX_LIST_IDS, MAX_TWEET_MEDIA, MAX_TWEET_TEXT
from audiencekit.service_words import CREATIVE_TYPES

_OWNER: Final = "the FULL promotable user of the account"

_TWEETS: Final = Section("tweets", part=2, section="4.9")

TWEETS: Final = (
    Section("tweet_previews", part=2, section="4.9").get(
        "list_tweet_previews",
        "/12/accounts/{account_id}/tweet_previews",
        longs("tweet_ids", max_items=MAX_LIST_IDS, required=True),
        one_of("tweet_type", "DRAFT", "PUBLISHED", "SCHEDULED", required=True, note="of all the ids"),
    ),
    _TWEETS.get(
        "list_tweets",
        "/12/accounts/{account_id}/tweets",
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
        long_in_path("tweet_id"),
        text("name", max_length=80),
        ambiguities=("name is not called required: it may be left out",),
    ),
)


_DRAFT_TWEETS: Final = Section("draft_tweets", part=2, section="4.9")
_SCHEDULED_TWEETS: Final = Section("scheduled_tweets", part=2, section="4.9")

DRAFT_TWEETS: Final = (
    _DRAFT_TWEETS.get(
        "list_draft_tweets",
        "/12/accounts/{account_id}/draft_tweets",
        SHORT_COUNT,
        CURSOR,
        long("user_id", default="the FULL promotable user of the account"),
    ),
    _DRAFT_TWEETS.get(
        "get_draft_tweet", "/12/accounts/{account_id}/draft_tweets/{draft_tweet_id}", long_in_path("draft_tweet_id")
    ),
    _DRAFT_TWEETS.post(
        "create_draft_tweet",
        "/12/accounts/{account_id}/draft_tweets",
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
        long_in_path("draft_tweet_id"),
        text("card_uri", pattern=CARD_URI, removable=True),
        texts("media_keys", max_items=MAX_TWEET_MEDIA, removable=True),
        flag("nullcast"),
        text("text", max_length=MAX_TWEET_TEXT),
        text("name", max_length=80),
        rules=(MediaTogether("media_keys"),),
    ),
    _DRAFT_TWEETS.delete(
        "delete_draft_tweet", "/12/accounts/{account_id}/draft_tweets/{draft_tweet_id}", long_in_path("draft_tweet_id")
    ),
    _DRAFT_TWEETS.post(
        "preview_draft_tweet",
        "/12/accounts/{account_id}/draft_tweets/preview/{draft_tweet_id}",
        long_in_path("draft_tweet_id"),
        ambiguities=("the word preview stands where other paths have the id: an id is a number, so none is confused",),
        notes=("the devices of the person who calls get a notification; no one else sees the preview",),
    ),
    _SCHEDULED_TWEETS.put(
        "update_scheduled_tweet",
        "/12/accounts/{account_id}/scheduled_tweets/{scheduled_tweet_id}",
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
        long_in_path("scheduled_tweet_id"),
    ),
    _SCHEDULED_TWEETS.get(
        "list_scheduled_tweets",
        "/12/accounts/{account_id}/scheduled_tweets",
        SHORT_COUNT,
        CURSOR,
        long("user_id"),
        shown=False,
        ambiguities=(NAMED,),
    ),
    _SCHEDULED_TWEETS.get(
        "get_scheduled_tweet",
        "/12/accounts/{account_id}/scheduled_tweets/{scheduled_tweet_id}",
        long_in_path("scheduled_tweet_id"),
        shown=False,
        ambiguities=(NAMED,),
    ),
    _SCHEDULED_TWEETS.post(
        "create_scheduled_tweet",
        "/12/accounts/{account_id}/scheduled_tweets",
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


_ACCOUNT_MEDIA: Final = Section("account_media", part=2, section="4.7")

ACCOUNT_MEDIA: Final = (
    _ACCOUNT_MEDIA.get(
        "list_account_media",
        "/12/accounts/{account_id}/account_media",
        ids("account_media_ids"),
        some_of("creative_types", *CREATIVE_TYPES),
        *LISTING,
    ),
    _ACCOUNT_MEDIA.get("get_account_media", "/12/accounts/{account_id}/account_media/{account_media_id}", WITH_DELETED),
    _ACCOUNT_MEDIA.delete("delete_account_media", "/12/accounts/{account_id}/account_media/{account_media_id}"),
)


_MEDIA_CREATIVES: Final = Section("media_creatives", part=1, section="4.7")

MEDIA_CREATIVES: Final = (
    _MEDIA_CREATIVES.get(
        "list_media_creatives",
        "/12/accounts/{account_id}/media_creatives",
        text("campaign_id"),
        ids("line_item_ids"),
        ids("media_creative_ids"),
        *LISTING,
    ),
    _MEDIA_CREATIVES.get(
        "get_media_creative", "/12/accounts/{account_id}/media_creatives/{media_creative_id}", WITH_DELETED
    ),
    _MEDIA_CREATIVES.post(
        "create_media_creative",
        "/12/accounts/{account_id}/media_creatives",
        text("account_media_id", required=True),
        text("line_item_id", required=True),
        url(
            "landing_url",
            required="conditional",
            note="of images only; required when the objective of the line item is WEBSITE_CLICKS",
        ),
        ambiguities=("the objective of the line item is not seen here: landing_url may be left out",),
    ),
    _MEDIA_CREATIVES.delete("delete_media_creative", "/12/accounts/{account_id}/media_creatives/{media_creative_id}"),
)
