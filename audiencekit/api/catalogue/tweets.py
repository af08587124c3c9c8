"""Tweets (specification part 2, section 4.9)."""

from __future__ import annotations

from typing import Final

from .endpoint import Endpoint
from .parameters import ACCOUNT_ID, COUNT, CURSOR, RequiredUnless, flag, long, longs, one_of, text, texts

ENDPOINTS: Final = (
    Endpoint(
        name="list_tweets",
        group="tweets",
        method="GET",
        path="/12/accounts/{account_id}/tweets",
        part=2,
        section="4.9",
        parameters=(
            ACCOUNT_ID,
            one_of(
                "tweet_type",
                required=True,
                note="values are not stated here; tweet previews state DRAFT, PUBLISHED, SCHEDULED for the parameter of that name",
            ),
            COUNT,
            CURSOR,
            flag("include_mentions_and_replies", default=False),
            text("name", max_length=80, note="prefix match"),
            one_of("timeline_type", "ALL", "NULLCAST", "ORGANIC", default="NULLCAST"),
            flag("trim_user", default=False),
            longs("tweet_ids", max_items=200),
            long("user_id", default="the FULL promotable user of the account"),
        ),
    ),
    Endpoint(
        name="create_tweet",
        group="tweets",
        method="POST",
        path="/12/accounts/{account_id}/tweet",
        part=2,
        section="4.9",
        parameters=(
            ACCOUNT_ID,
            long("as_user_id", required=True),
            text("text", required="conditional", note="required when there are no media_keys"),
            text("card_uri", note="card://<card_id>; attaches a card"),
            one_of(
                "conversation_settings",
                "EVERYONE",
                "FOLLOWING",
                "MENTIONED_USERS",
                default="EVERYONE",
                note="API version 8 and above; returned on GET only",
            ),
            texts("media_keys", note="up to 4 images, or 1 GIF, or 1 video"),
            text("name", max_length=80),
            flag("nullcast", default=True, note="organic tweets only for the authenticated user"),
            flag("trim_user"),
            one_of("tweet_mode", "compat", "extended"),
            one_of("video_cta", "VISIT_SITE", "WATCH_NOW"),
            text("video_cta_value"),
            text("video_description", max_length=200),
            text("video_title", max_length=70),
        ),
        rules=(RequiredUnless("text", "media_keys"),),
        notes=("a caller who is not the FULL promotable user needs the TWEET_COMPOSER permission",),
    ),
    Endpoint(
        name="update_tweet_name",
        group="tweets",
        method="PUT",
        path="/12/accounts/{account_id}/tweets/{tweet_id}/name",
        part=2,
        section="4.9",
        parameters=(
            ACCOUNT_ID,
            long("tweet_id", place="path", required=True),
            text("name", max_length=80),
        ),
    ),
)
