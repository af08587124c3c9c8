"""Draft tweets and scheduled tweets (specification part 2, section 4.9)."""

from __future__ import annotations

from typing import Final

from audiencekit.api.catalogue.endpoint import Endpoint
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
from audiencekit.api.catalogue.rules import RequiredUnless
from audiencekit.limits import MAX_TWEET_MEDIA

ENDPOINTS: Final = (
    Endpoint(
        name="list_draft_tweets",
        group="draft_tweets",
        method="GET",
        path="/12/accounts/{account_id}/draft_tweets",
        part=2,
        section="4.9",
        parameters=(
            ACCOUNT_ID,
            SHORT_COUNT,
            CURSOR,
            long("user_id", default="the FULL promotable user of the account"),
        ),
    ),
    Endpoint(
        name="get_draft_tweet",
        group="draft_tweets",
        method="GET",
        path="/12/accounts/{account_id}/draft_tweets/{draft_tweet_id}",
        part=2,
        section="4.9",
        parameters=(ACCOUNT_ID, long_in_path("draft_tweet_id")),
    ),
    Endpoint(
        name="create_draft_tweet",
        group="draft_tweets",
        method="POST",
        path="/12/accounts/{account_id}/draft_tweets",
        part=2,
        section="4.9",
        parameters=(
            ACCOUNT_ID,
            long("as_user_id", required=True),
            text("text", required="conditional"),
            text("card_uri", pattern=CARD_URI),
            texts(
                "media_keys",
                max_items=MAX_TWEET_MEDIA,
                note="from the media library: up to four images, or one animated GIF, or one video",
            ),
            flag("nullcast", default=True),
            text("name", max_length=80),
        ),
        rules=(RequiredUnless("text", "media_keys"),),
        ambiguities=(
            "what a media key is, an image, a GIF or a video, is not seen here: only their number is checked",
        ),
    ),
    Endpoint(
        name="update_draft_tweet",
        group="draft_tweets",
        method="PUT",
        path="/12/accounts/{account_id}/draft_tweets/{draft_tweet_id}",
        part=2,
        section="4.9",
        parameters=(
            ACCOUNT_ID,
            long_in_path("draft_tweet_id"),
            text("card_uri", pattern=CARD_URI, removable=True),
            texts("media_keys", max_items=MAX_TWEET_MEDIA, removable=True),
            flag("nullcast"),
            text("text"),
            text("name", max_length=80),
        ),
    ),
    Endpoint(
        name="delete_draft_tweet",
        group="draft_tweets",
        method="DELETE",
        path="/12/accounts/{account_id}/draft_tweets/{draft_tweet_id}",
        part=2,
        section="4.9",
        parameters=(ACCOUNT_ID, long_in_path("draft_tweet_id")),
    ),
    Endpoint(
        name="preview_draft_tweet",
        group="draft_tweets",
        method="POST",
        path="/12/accounts/{account_id}/draft_tweets/preview/{draft_tweet_id}",
        part=2,
        section="4.9",
        parameters=(ACCOUNT_ID, long_in_path("draft_tweet_id")),
        ambiguities=("the word preview stands where other paths have the id: an id is a number, so none is confused",),
        notes=("the devices of the person who calls get a notification; no one else sees the preview",),
    ),
    Endpoint(
        name="update_scheduled_tweet",
        group="scheduled_tweets",
        method="PUT",
        path="/12/accounts/{account_id}/scheduled_tweets/{scheduled_tweet_id}",
        part=2,
        section="4.9",
        parameters=(
            ACCOUNT_ID,
            long_in_path("scheduled_tweet_id"),
            flag("nullcast"),
            time("scheduled_at"),
            text("text"),
            text("name", max_length=80),
            text("card_uri", pattern=CARD_URI, removable=True),
            texts("media_keys", max_items=MAX_TWEET_MEDIA, removable=True),
        ),
        ambiguities=("the list of parameters is cut off: those that a draft has besides are taken, too",),
    ),
    Endpoint(
        name="delete_scheduled_tweet",
        group="scheduled_tweets",
        method="DELETE",
        path="/12/accounts/{account_id}/scheduled_tweets/{scheduled_tweet_id}",
        part=2,
        section="4.9",
        parameters=(ACCOUNT_ID, long_in_path("scheduled_tweet_id")),
    ),
)
