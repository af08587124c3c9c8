"""The v2 data API (specification part 0)."""

from __future__ import annotations

from typing import Final

from .endpoint import Endpoint
from .parameters import in_path, text, texts

ENDPOINTS: Final = (
    Endpoint(
        name="get_posts",
        group="data_api",
        method="GET",
        path="/2/tweets",
        part=0,
        section="4.8",
        parameters=(
            texts("ids", required=True, note="comma-separated post identifiers"),
            texts("tweet.fields"),
            texts("expansions"),
            texts("media.fields"),
            texts("poll.fields"),
            texts("user.fields"),
            texts("place.fields"),
            text("Authorization", place="header", required=True),
        ),
        base="base_url",
        auth="bearer",
    ),
    Endpoint(
        name="link_webhook_to_filtered_stream",
        group="data_api",
        method="POST",
        path="/2/tweets/search/webhooks/{webhook_id}",
        part=0,
        section="4.9",
        parameters=(
            in_path("webhook_id"),
            texts("tweet.fields"),
            texts("expansions"),
            texts("media.fields"),
            texts("poll.fields"),
            texts("user.fields"),
            texts("place.fields"),
            text("Authorization", place="header", required=True),
        ),
        base="base_url",
        auth="bearer",
    ),
    Endpoint(
        name="create_activity_subscription",
        group="data_api",
        method="POST",
        path="/2/activity/subscriptions",
        part=0,
        section="6",
        parameters=(
            text(
                "direction",
                place="unstated",
                note="filter: sent, received, or both; scopes direct-message and chat events; how both is written is not stated",
            ),
        ),
        base="base_url",
        params_in="unstated",
        auth="not_shown",
        notes=("only its method and path are stated",),
    ),
    Endpoint(
        name="open_activity_stream",
        group="data_api",
        method="GET",
        path="/2/activity/stream",
        part=0,
        section="6",
        base="base_url",
        params_in="unstated",
        auth="not_shown",
        notes=("only its method and path are stated",),
    ),
    Endpoint(
        name="replay_webhook",
        group="data_api",
        method="POST",
        path="/2/webhooks/replay",
        part=0,
        section="9",
        base="base_url",
        params_in="unstated",
        auth="not_shown",
        notes=("only its method and path are stated",),
    ),
)
