"""Authorization and the data API (specification part 0)."""

from __future__ import annotations

from typing import Final

from audiencekit.api.catalogue.endpoint import NAMED, Section
from audiencekit.api.catalogue.parameters import (
    EVENT_TYPE,
    MINUTE,
    WEBHOOK_ID,
    array,
    flag,
    json_object,
    long,
    longs,
    one_of,
    text,
    texts,
    whole,
)
from audiencekit.api.catalogue.rules import ExactlyOneOf
from audiencekit.limits import MAX_BACKFILL_MINUTES
from audiencekit.service_words import MEDIA_FIELDS, TWEET_FIELDS, USER_FIELDS

_IN_THE_HEADER: Final = "stands in the Authorization header, which the client makes"


def _oauth(section: str) -> Section:
    return Section("oauth", part=0, section=section, columns={"base": "base_url"})


OAUTH: Final = (
    _oauth("4.1").post(
        "oauth_request_token",
        "/oauth/request_token",
        text(
            "oauth_callback",
            place="oauth",
            required=True,
            note="an address that the application is registered with, or oob for a PIN",
        ),
        one_of("platform_auth_access_type", "read", "write", note="asks for less than the application may do"),
        auth="app",
        answer="pairs",
        ambiguities=(
            "said to need no authentication and shown signed: it is signed with the keys of the application",
            "the callback may stand in the query or the header: it is sent in the header, where the signature is",
            "platform_auth_access_type stands for x_auth_access_type, the name of the public service",
        ),
    ),
    _oauth("4.2").get(
        "oauth_authorize",
        "/oauth/authorize",
        text("oauth_token", required=True, note="the request token"),
        flag("force_login", note="the person types name and password even when logged in"),
        text("screen_name", note="stands in the form of the login already"),
        auth="app",
        answer="page",
        ambiguities=("said to need authentication, which a browser does by its login: nothing is signed",),
        notes=("the one for programs on a desktop", "never takes the callback, which belongs to oauth_request_token"),
    ),
    _oauth("4.3").get(
        "oauth_authenticate",
        "/oauth/authenticate",
        text("oauth_token", required=True, note="the request token"),
        flag("force_login", note="true: a user who is logged in is asked all the same"),
        text("screen_name", note="stands in the form of the login already"),
        auth="app",
        answer="page",
        ambiguities=("said to need authentication, which a browser does by its login: nothing is signed",),
    ),
    _oauth("4.4").post(
        "oauth_access_token",
        "/oauth/access_token",
        text("oauth_token", place="header", required=True, secret=True, note=_IN_THE_HEADER),
        text(
            "oauth_verifier",
            place="form",
            required=True,
            min_length=1,
            secret=True,
            note="from the address of the callback, or the PIN",
        ),
        answer="pairs",
        ambiguities=(
            "the places of both parameters are not stated: the token goes in the header, the verifier in a form",
        ),
        notes=("signed with the request token as the token of the person",),
    ),
    _oauth("4.5").post(
        "oauth_invalidate_token",
        "/1.1/oauth/invalidate_token",
        answer="credential",
        ambiguities=("a second form of the path ends in .json: the one without it is called",),
        notes=("revokes the token that signs the call",),
        ends_token=True,
    ),
    _oauth("4.6").post(
        "oauth2_token",
        "/oauth2/token",
        one_of("Content-Type", "application/x-www-form-urlencoded", place="header", required=True),
        one_of("grant_type", "client_credentials", place="form", required=True),
        auth="basic",
        answer="credential",
        notes=("gives the same token until it is revoked; asked too often, it refuses with code 99",),
    ),
    _oauth("4.7").post(
        "oauth2_invalidate_token",
        "/oauth2/invalidate_token",
        text("access_token", required=True, secret=True, note="the bearer token to revoke"),
        answer="credential",
        ambiguities=("whether a form is taken too is not stated: the token goes in the query, as in the example",),
        notes=("signed with the token of the owner of the application",),
        ends_token=True,
    ),
)


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


def _data_api(section: str) -> Section:
    columns = {"base": "base_url", "auth": "bearer", "answer": "v2"}
    return Section("data_api", part=0, section=section, columns=columns)


DATA_API: Final = (
    _data_api("4.8").get(
        "get_posts",
        "/2/tweets",
        longs("ids", required=True),
        *_FIELDS,
        _BEARER,
        ambiguities=("ids is not called required, and has no stated bound: it is required, and any number is sent",),
        notes=("without fields and expansions only id and text come back",),
    ),
    _data_api("4.9").post(
        "link_webhook_to_filtered_stream",
        "/2/tweets/search/webhooks/{webhook_id}",
        text("webhook_id", place="path", required=True, pattern=WEBHOOK_ID),
        *_FIELDS,
        _BEARER,
    ),
    _data_api("6").post(
        "create_activity_subscription",
        "/2/activity/subscriptions",
        text("direction", known=("sent", "received", "both"), min_length=1, note="of messages and chats"),
        text("event_type", known=EVENT_TYPES, pattern=EVENT_TYPE, note="by default every type"),
        long("user_id", note="by default the user of the application"),
        text("keyword", min_length=1, note="only events with it"),
        ambiguities=(
            *_NAMED_ONLY,
            "names of the filters, but for direction, and their place are not stated: as the public service has them",
            "how both directions are written is not stated: any text",
            "the list of event types is not complete: any name in lower case with dots is sent",
        ),
    ),
    _data_api("6").get(
        "open_activity_stream",
        "/2/activity/stream",
        whole("backfill_minutes", minimum=1, maximum=MAX_BACKFILL_MINUTES, note="events of so long before"),
        answer="stream",
        ambiguities=(*_NAMED_ONLY, "the form of events is not shown: they are read as one JSON object a line"),
        notes=(
            "one call reads until the service ends the stream, or the patience for one answer does",
            "`audiencekit activity follow` and `AdsClient.follow_activity` stay with it",
        ),
    ),
    _data_api("9").post(
        "replay_webhook",
        "/2/webhooks/replay",
        text("webhook_id", pattern=WEBHOOK_ID, note="by default every linked one"),
        text("from_date", pattern=MINUTE, note="a minute of UTC, YYYYMMDDHHMM; by default a day ago"),
        text("to_date", pattern=MINUTE, note="a minute of UTC, YYYYMMDDHHMM; by default now"),
        ambiguities=(*_NAMED_ONLY, "its parameters are not stated: those of the public service, in the query"),
    ),
    _data_api("6").get(
        "list_stream_rules",
        "/2/tweets/search/stream/rules",
        texts("ids", note="numbers of rules"),
        shown=False,
        ambiguities=(NAMED,),
    ),
    _data_api("6").post(
        "change_stream_rules",
        "/2/tweets/search/stream/rules",
        array("add", "object", place="body", at=("top",), note="each with value, the rule, and a tag if need be"),
        json_object("delete", place="body", at=("top",), note="ids or values of rules"),
        flag("dry_run", note="only tried"),
        shown=False,
        rules=(ExactlyOneOf(("add", "delete")),),
        body="json_object",
        ambiguities=(NAMED,),
        notes=("25 rules of 512 characters on the standard track, 1000 of 1024 on the academic one",),
    ),
)
