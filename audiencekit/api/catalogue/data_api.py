"""The v2 data API (specification part 0)."""

from __future__ import annotations

from typing import Final

from audiencekit.api.catalogue.conventions import NAMED
from audiencekit.api.catalogue.endpoint import Section
from audiencekit.api.catalogue.parameters import (
    EVENT_TYPE,
    MINUTE,
    WEBHOOK_ID,
    array,
    flag,
    json_object,
    long,
    longs,
    text,
    texts,
    whole,
)
from audiencekit.api.catalogue.rules import ExactlyOneOf
from audiencekit.limits import MAX_BACKFILL_MINUTES
from audiencekit.servicewords import MEDIA_FIELDS, TWEET_FIELDS, USER_FIELDS

# Members of lists that the specification does not give in full: sections 2.3 to 2.6 and 4.8.
_FIELDS: Final = (
    texts(
        "tweet.fields",
        known=TWEET_FIELDS,
    ),
    texts("expansions", known=("attachments.media_keys",)),
    texts(
        "media.fields",
        known=MEDIA_FIELDS,
    ),
    texts("poll.fields"),
    texts(
        "user.fields",
        known=USER_FIELDS,
    ),
    texts("place.fields"),
)
_BEARER: Final = text(
    "Authorization", place="header", required=True, secret=True, note="the bearer token, which the client fetches"
)
_NAMED_ONLY: Final = ("only method and path are stated: it is called with the bearer token",)
# Specification part 0, section 6.
EVENT_TYPES: Final = (
    "profile.update.bio",
    "profile.update.verified",
    "profile.update.affiliate",
    "profile.update.screenname",
    "dm.received",
    "dm.sent",
    "dm.read",
    "dm.indicate_typing",
    "spaces.start",
    "spaces.end",
)

_DATA_API: Final = Section("data_api", part=0, section="6")

ENDPOINTS: Final = (
    Section("data_api", part=0, section="4.8").get(
        "get_posts",
        "/2/tweets",
        longs("ids", required=True),
        *_FIELDS,
        _BEARER,
        base="base_url",
        auth="bearer",
        answer="v2",
        ambiguities=("ids is not called required, and has no stated bound: it is required, and any number is sent",),
        notes=("without fields and expansions only id and text come back",),
    ),
    Section("data_api", part=0, section="4.9").post(
        "link_webhook_to_filtered_stream",
        "/2/tweets/search/webhooks/{webhook_id}",
        text("webhook_id", place="path", required=True, pattern=WEBHOOK_ID),
        *_FIELDS,
        _BEARER,
        base="base_url",
        auth="bearer",
        answer="v2",
    ),
    _DATA_API.post(
        "create_activity_subscription",
        "/2/activity/subscriptions",
        text("direction", known=("sent", "received", "both"), min_length=1, note="of messages and chats"),
        text("event_type", known=EVENT_TYPES, pattern=EVENT_TYPE, note="by default every type"),
        long("user_id", note="by default the user of the application"),
        text("keyword", min_length=1, note="only events with it"),
        base="base_url",
        auth="bearer",
        answer="v2",
        ambiguities=(
            *_NAMED_ONLY,
            "names of the filters, but for direction, and their place are not stated: as the public service has them",
            "how both directions are written is not stated: any text",
            "the list of event types is not complete: any name in lower case with dots is sent",
        ),
    ),
    _DATA_API.get(
        "open_activity_stream",
        "/2/activity/stream",
        whole("backfill_minutes", minimum=1, maximum=MAX_BACKFILL_MINUTES, note="events of so long before"),
        base="base_url",
        auth="bearer",
        answer="stream",
        ambiguities=(*_NAMED_ONLY, "the form of events is not shown: they are read as one JSON object a line"),
        notes=(
            "one call reads until the service ends the stream, or the patience for one answer does",
            "`audiencekit activity follow` and `AdsClient.follow_activity` stay with it",
        ),
    ),
    Section("data_api", part=0, section="9").post(
        "replay_webhook",
        "/2/webhooks/replay",
        text("webhook_id", pattern=WEBHOOK_ID, note="by default every linked one"),
        text("from_date", pattern=MINUTE, note="a minute of UTC, YYYYMMDDHHMM; by default a day ago"),
        text("to_date", pattern=MINUTE, note="a minute of UTC, YYYYMMDDHHMM; by default now"),
        base="base_url",
        auth="bearer",
        answer="v2",
        ambiguities=(*_NAMED_ONLY, "its parameters are not stated: those of the public service, in the query"),
    ),
    _DATA_API.get(
        "list_stream_rules",
        "/2/tweets/search/stream/rules",
        texts("ids", note="numbers of rules"),
        shown=False,
        base="base_url",
        auth="bearer",
        answer="v2",
        ambiguities=(NAMED,),
    ),
    _DATA_API.post(
        "change_stream_rules",
        "/2/tweets/search/stream/rules",
        array("add", "object", place="body", at=("top",), note="each with value, the rule, and a tag if need be"),
        json_object("delete", place="body", at=("top",), note="ids or values of rules"),
        flag("dry_run", note="only tried"),
        shown=False,
        rules=(ExactlyOneOf(("add", "delete")),),
        base="base_url",
        body="json_object",
        auth="bearer",
        answer="v2",
        ambiguities=(NAMED,),
        notes=("25 rules of 512 characters on the standard track, 1000 of 1024 on the academic one",),
    ),
)
