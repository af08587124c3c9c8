"""Previews of tweets and cards (specification part 2, section 4.9)."""

from __future__ import annotations

from typing import Final

from .endpoint import Endpoint
from .parameters import ACCOUNT_ID, longs, one_of

ENDPOINTS: Final = (
    Endpoint(
        name="list_tweet_previews",
        group="tweet_previews",
        method="GET",
        path="/12/accounts/{account_id}/tweet_previews",
        part=2,
        section="4.9",
        parameters=(
            ACCOUNT_ID,
            longs("tweet_ids", max_items=200, required=True),
            one_of("tweet_type", "DRAFT", "PUBLISHED", "SCHEDULED", required=True, note="the ids must match the type"),
        ),
    ),
)
