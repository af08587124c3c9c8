"""The v2 data API (specification part 0)."""

from __future__ import annotations

from typing import Final

from audiencekit.api.catalogue.endpoint import Endpoint
from audiencekit.api.catalogue.parameters import longs, text, texts

# What the specification names of lists that it does not give in full: sections 2.3 to 2.6 and 4.8.
_FIELDS: Final = (
    texts(
        "tweet.fields",
        known=(
            "attachments",
            "author_id",
            "created_at",
            "conversation_id",
            "possibly_sensitive",
            "in_reply_to_user_id",
            "referenced_tweets",
            "public_metrics",
            "entities",
            "context_annotations",
            "lang",
            "reply_settings",
        ),
    ),
    texts("expansions", known=("attachments.media_keys",)),
    texts(
        "media.fields",
        known=("duration_ms", "height", "width", "preview_image_url", "public_metrics", "alt_text", "variants"),
    ),
    texts("poll.fields"),
    texts(
        "user.fields",
        known=(
            "id",
            "name",
            "username",
            "created_at",
            "description",
            "location",
            "pinned_tweet_id",
            "profile_image_url",
            "protected",
            "url",
            "verified",
            "verified_type",
            "entities",
            "public_metrics",
        ),
    ),
    texts("place.fields"),
)
_BEARER: Final = text(
    "Authorization", place="header", required=True, secret=True, note="the bearer token, which the client fetches"
)
_NAMED_ONLY: Final = (
    "only method and path are stated: no other parameters are taken, and it is called with the bearer token",
)

ENDPOINTS: Final = (
    Endpoint(
        name="get_posts",
        group="data_api",
        method="GET",
        path="/2/tweets",
        part=0,
        section="4.8",
        parameters=(longs("ids", required=True), *_FIELDS, _BEARER),
        base="base_url",
        auth="bearer",
        answer="v2",
        ambiguities=("ids is not called required, and has no stated bound: it is required, and any number is sent",),
        notes=("without fields and expansions only id and text come back",),
    ),
    Endpoint(
        name="link_webhook_to_filtered_stream",
        group="data_api",
        method="POST",
        path="/2/tweets/search/webhooks/{webhook_id}",
        part=0,
        section="4.9",
        parameters=(
            text("webhook_id", place="path", required=True, pattern="[0-9]{1,19}"),
            *_FIELDS,
            _BEARER,
        ),
        base="base_url",
        auth="bearer",
        answer="v2",
    ),
    Endpoint(
        name="create_activity_subscription",
        group="data_api",
        method="POST",
        path="/2/activity/subscriptions",
        part=0,
        section="6",
        parameters=(text("direction", known=("sent", "received"), note="of messages and chats"),),
        base="base_url",
        auth="bearer",
        answer="v2",
        ambiguities=(
            *_NAMED_ONLY,
            "the place of direction, and how both directions are written, are not stated: any text, in the query",
            "the names of the filters by person and by keyword are not stated: they cannot be given",
        ),
    ),
    Endpoint(
        name="open_activity_stream",
        group="data_api",
        method="GET",
        path="/2/activity/stream",
        part=0,
        section="6",
        base="base_url",
        auth="bearer",
        answer="stream",
        ambiguities=(*_NAMED_ONLY, "the form of events is not shown: they are read as one JSON object a line"),
        notes=("read until the service ends it; a stream that outlasts the patience for one answer is a failure",),
    ),
    Endpoint(
        name="replay_webhook",
        group="data_api",
        method="POST",
        path="/2/webhooks/replay",
        part=0,
        section="9",
        base="base_url",
        auth="bearer",
        answer="v2",
        ambiguities=_NAMED_ONLY,
    ),
)
