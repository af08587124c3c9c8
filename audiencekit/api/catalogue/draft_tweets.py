"""Draft tweets (specification part 2, section 4.9)."""

from __future__ import annotations

from typing import Final

from .endpoint import Endpoint
from .parameters import ACCOUNT_ID, CURSOR, RequiredUnless, flag, long, text, texts, whole

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
            whole("count", default=100, minimum=1, maximum=200),
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
        parameters=(
            ACCOUNT_ID,
            long("draft_tweet_id", place="path", required=True),
        ),
        params_in=None,
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
            text("text", required="conditional", note="required when there are no media_keys"),
            text("card_uri", note="card://<card_id>; attaches a card"),
            texts(
                "media_keys",
                note="comma-separated media keys: up to 4 images, or 1 animated GIF, or 1 video; must be in the media library",
            ),
            flag("nullcast", default=True),
            text("name", max_length=80),
        ),
        rules=(RequiredUnless("text", "media_keys"),),
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
            long("draft_tweet_id", place="path", required=True),
            text("card_uri", note="sent empty, it is removed"),
            texts("media_keys", note="sent empty, they are removed"),
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
        parameters=(
            ACCOUNT_ID,
            long("draft_tweet_id", place="path", required=True),
        ),
        params_in=None,
    ),
    Endpoint(
        name="preview_draft_tweet",
        group="draft_tweets",
        method="POST",
        path="/12/accounts/{account_id}/draft_tweets/preview/{draft_tweet_id}",
        part=2,
        section="4.9",
        parameters=(
            ACCOUNT_ID,
            long("draft_tweet_id", place="path", required=True),
        ),
        params_in=None,
    ),
)
