"""Scheduled tweets (specification part 2, section 4.9)."""

from __future__ import annotations

from typing import Final

from .endpoint import Endpoint
from .parameters import ACCOUNT_ID, flag, long, text, time

ENDPOINTS: Final = (
    Endpoint(
        name="update_scheduled_tweet",
        group="scheduled_tweets",
        method="PUT",
        path="/12/accounts/{account_id}/scheduled_tweets/{scheduled_tweet_id}",
        part=2,
        section="4.9",
        parameters=(
            ACCOUNT_ID,
            long("scheduled_tweet_id", place="path", required=True),
            flag("nullcast"),
            time("scheduled_at"),
            text("text"),
            text("name", max_length=80),
        ),
        notes=("stated in part only",),
    ),
    Endpoint(
        name="delete_scheduled_tweet",
        group="scheduled_tweets",
        method="DELETE",
        path="/12/accounts/{account_id}/scheduled_tweets/{scheduled_tweet_id}",
        part=2,
        section="4.9",
        parameters=(
            ACCOUNT_ID,
            long("scheduled_tweet_id", place="path", required=True),
        ),
        params_in=None,
    ),
)
