"""Scheduled tweets, drafts and tweets (specification part 2, section 4.9).

Listing and creating scheduled tweets are endpoints of the public service, without which there would be none to change.
A tweet is published at its minute by the emulator's clock, at most a year ahead.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

import orjson

from audiencekit.emulator.answers import Answer, add_months, refuse_legacy, success
from audiencekit.emulator.authentication import long_id
from audiencekit.emulator.calls import Call
from audiencekit.emulator.endpoints.account_records import Account
from audiencekit.emulator.endpoints.all_card_types import choose_card
from audiencekit.emulator.endpoints.media import choose_media
from audiencekit.emulator.endpoints.media_records import GIF, IMAGE, VIDEO
from audiencekit.emulator.endpoints.people import refuse_missing_permission
from audiencekit.emulator.endpoints.tweet_records import (
    DRAFT,
    DRAFTS,
    MAX_NAME,
    PUBLISHED,
    SCHEDULED_TWEETS,
    TWEET_TYPES,
    TWEETS,
    publish,
    read_page,
    show_draft,
    show_listed,
    show_scheduled,
    show_status,
)
from audiencekit.emulator.endpoints.users import TWEET_COMPOSER
from audiencekit.emulator.parameters import Parameters
from audiencekit.emulator.records import Record
from audiencekit.emulator.routing import READS, WRITES, Route
from audiencekit.limits import MAX_TWEET_TEXT

# --- Scheduled tweets (specification part 2, section 4.9) ---
#
# Listing and creating them are the public service's endpoints, without which there would be none to change. A tweet
# goes out at its minute by the emulator's clock, at most a year ahead, and is a tweet from then on.

_MINUTE: Final = 60
_WAITING, _OUT = "SCHEDULED", "SUCCESS"
_CONTENT: Final = ("text", "card_uri", "media_keys", "nullcast", "name", "user_id")


def list_scheduled(call: Call) -> Answer:
    """Answer `GET …/scheduled_tweets`."""
    publish_due(call.account, call.now)
    parameters = Parameters(call)
    page = read_page(call, SCHEDULED_TWEETS, parameters)
    return success(
        parameters.echo_without_account(), [show_scheduled(record) for record in page.records], **page.members()
    )


def create_scheduled(call: Call) -> Answer:
    """Answer `POST …/scheduled_tweets`."""
    parameters = Parameters(call)
    scheduled_at = _read_moment(call, parameters, parameters.required_time("scheduled_at"))
    content = read_new(call, parameters)
    parameters.finish()
    check_author(call, content)
    check_command(content)
    waiting = {"scheduled_at": scheduled_at, "scheduled_status": _WAITING, "completed_at": None, "tweet_id": None}
    record = SCHEDULED_TWEETS.make(call, {**content, **waiting}, call.store.make_long_id(call.now))
    return success(parameters.echo_without_account(), show_scheduled(record))


def show_scheduled_tweet(call: Call) -> Answer:
    """Answer `GET …/scheduled_tweets/:scheduled_tweet_id`."""
    parameters = Parameters(call)
    record = _find(call, parameters)
    return success(parameters.echo_without_account(), show_scheduled(record))


def change_scheduled(call: Call) -> Answer:
    """Answer `PUT …/scheduled_tweets/:scheduled_tweet_id`, before it is published."""
    parameters = Parameters(call)
    changes = read_changes(call, parameters)
    scheduled_at = parameters.time("scheduled_at")
    if scheduled_at is not None:
        changes["scheduled_at"] = _read_moment(call, parameters, scheduled_at)
    record = _find_waiting(call, parameters)
    check_content(parameters, {**record.fields, **changes})
    check_author(call, {**record.fields, **changes})
    check_command({**record.fields, **changes})
    record.change(changes, call.now)
    return success(parameters.echo_without_account(), show_scheduled(record))


def delete_scheduled(call: Call) -> Answer:
    """Answer `DELETE …/scheduled_tweets/:scheduled_tweet_id`, before it is published."""
    parameters = Parameters(call)
    record = _find_waiting(call, parameters)
    record.delete(call.now)
    return success(parameters.echo_without_account(), show_scheduled(record))


def publish_due(account: Account, now: float) -> None:
    """Publish the tweets that are due by `now`. Call it before scheduled tweets or tweets are read."""
    for record in SCHEDULED_TWEETS.of(account).values():
        is_due = record.fields["scheduled_at"] <= now and record.fields["scheduled_status"] == _WAITING
        if is_due and not record.deleted:
            _publish(account, record)


def _publish(account: Account, record: Record) -> None:
    moment = record.fields["scheduled_at"]
    # Made of facts that are there already, so that the id is the same whenever a client first asks.
    tweet_id = long_id(moment, int(record.id))
    content = {name: record.fields[name] for name in _CONTENT}
    publish(account, tweet_id, moment, {**content, "conversation_settings": "EVERYONE"})
    record.change({"scheduled_status": _OUT, "completed_at": moment, "tweet_id": tweet_id}, moment)


def _find(call: Call, parameters: Parameters) -> Record:
    tweet_id = parameters.path_long("scheduled_tweet_id")
    parameters.finish()
    publish_due(call.account, call.now)
    return SCHEDULED_TWEETS.find(call, str(tweet_id))


def _find_waiting(call: Call, parameters: Parameters) -> Record:
    record = _find(call, parameters)
    if record.fields["scheduled_status"] != _WAITING:
        raise call.refuse(403, "ACTION_NOT_ALLOWED", "The tweet was published already", "scheduled_tweet_id")
    return record


def _read_moment(call: Call, parameters: Parameters, moment: int) -> int:
    minute = moment - moment % _MINUTE
    if not call.now < minute <= add_months(call.now, 12):
        raise parameters.fault("scheduled_at", "Expected a time in the coming year for scheduled_at")
    return minute


# --- The content of drafts, scheduled tweets and tweets (specification part 2, section 4.9) ---
#
# A text may be as long as that of a long post (part 0, section 8). The specification does not say which rules a changed
# draft or scheduled tweet must keep; here it keeps those of a new one.

# `d someone words`, also with dm and m: the earlier commands of the public service.
_MESSAGE: Final = re.compile(r"\s*(?:d|dm|m)\s+@?[A-Za-z0-9_]{1,15}\s+\S", re.IGNORECASE)
_MAX_OF_TYPE: Final = {IMAGE: 4, GIF: 1, VIDEO: 1}

Content = dict[str, Any]


def read_new(call: Call, parameters: Parameters) -> Content:
    """Return the content of a new tweet, and its user. Raises RefusalError for any other user."""
    user_id = str(parameters.required_long("as_user_id"))
    if user_id != call.store.origin.user_id:
        raise parameters.fault("as_user_id", "The user is no FULL promotable user of the account", "INVALID_USER_ID")
    unsaid: Content = {"text": "", "card_uri": None, "media_keys": [], "nullcast": True, "name": None}
    content = {**unsaid, **_read(call, parameters, empty=False), "user_id": user_id}
    check_content(parameters, content)
    return content


def check_command(content: Mapping[str, Any]) -> None:
    """Refuse (403) a text that is a command for a direct message and cannot be tweeted (part 0, section 7)."""
    if _MESSAGE.match(content["text"]):
        raise refuse_legacy(403, 151, "Direct messages cannot be sent through a status update.")


def check_author(call: Call, content: Mapping[str, Any]) -> None:
    """Refuse (403) a tweet for a user by another who may not compose it, or that is not promoted-only.

    Organic tweets are for the authenticated user.
    """
    if call.user_id == content["user_id"]:
        return
    if not content["nullcast"]:
        raise call.refuse(403, "ACTION_NOT_ALLOWED", "Organic tweets are for their own user", "nullcast")
    if TWEET_COMPOSER not in call.store.users.of(call.user_id).permissions:
        raise refuse_missing_permission(TWEET_COMPOSER, call.ids)


def read_changes(call: Call, parameters: Parameters) -> Content:
    """Return the changes to the content; an empty field removes the old one."""
    return _read(call, parameters, empty=True)


def check_content(parameters: Parameters, content: Mapping[str, Any]) -> None:
    """Refuse an empty tweet (400): without media there must be a text."""
    if content["media_keys"] or content["text"].strip():
        return
    if content["text"]:
        raise parameters.fault("text", "The text is blank", "TWEET_CANNOT_BE_BLANK")
    raise parameters.fault("text", '"text" is a required parameter', "MISSING_PARAMETER")


def read_name(parameters: Parameters, *, empty: bool) -> str | None:
    """Return a name of up to 80 characters."""
    return parameters.text("name", longest=MAX_NAME, empty=empty)


def _read(call: Call, parameters: Parameters, *, empty: bool) -> Content:
    content: Content = {}
    text, name = parameters.text("text", longest=MAX_TWEET_TEXT, empty=empty), read_name(parameters, empty=empty)
    card_uri, media_keys = parameters.text("card_uri", empty=empty), _read_media(call, parameters, empty=empty)
    if text is not None:
        content["text"] = text
    if name is not None:
        content["name"] = name or None
    if card_uri is not None:
        content["card_uri"] = choose_card(call, card_uri)["card_uri"] if card_uri else None
    if media_keys is not None:
        content["media_keys"] = media_keys
    if parameters.given("nullcast") is not None:
        content["nullcast"] = parameters.boolean("nullcast")
    return content


def _read_media(call: Call, parameters: Parameters, *, empty: bool) -> list[str] | None:
    if empty and parameters.given("media_keys") == "":
        parameters.text("media_keys", empty=True)
        return []
    media_keys = parameters.words("media_keys")
    if media_keys is None:
        return None
    chosen = [choose_media(call, key, "media_keys", tuple(_MAX_OF_TYPE)) for key in media_keys]
    counts = Counter(media.fields["media_type"] for media in chosen)
    if len(counts) > 1 or any(count > _MAX_OF_TYPE[media_type] for media_type, count in counts.items()):
        message = "Expected up to 4 images, or 1 GIF, or 1 video for media_keys"
        raise parameters.fault("media_keys", message, "INVALID_MEDIA")
    return media_keys


# --- Draft tweets (specification part 2, section 4.9). The echo leaves out the account (public documentation) ---


def list_drafts(call: Call) -> Answer:
    """Answer `GET …/draft_tweets`."""
    parameters = Parameters(call)
    page = read_page(call, DRAFTS, parameters)
    return success(parameters.echo_without_account(), [show_draft(record) for record in page.records], **page.members())


def create_draft(call: Call) -> Answer:
    """Answer `POST …/draft_tweets`."""
    parameters = Parameters(call)
    content = read_new(call, parameters)
    parameters.finish()
    draft = DRAFTS.make(call, content, call.store.make_long_id(call.now))
    return success(parameters.echo_without_account(), show_draft(draft))


def show_draft_tweet(call: Call) -> Answer:
    """Answer `GET …/draft_tweets/:draft_tweet_id`."""
    parameters = Parameters(call)
    draft = _find_draft(call, parameters)
    return success(parameters.echo_without_account(), show_draft(draft))


def change_draft(call: Call) -> Answer:
    """Answer `PUT …/draft_tweets/:draft_tweet_id`."""
    parameters = Parameters(call)
    changes = read_changes(call, parameters)
    draft = _find_draft(call, parameters)
    check_content(parameters, {**draft.fields, **changes})
    draft.change(changes, call.now)
    return success(parameters.echo_without_account(), show_draft(draft))


def delete_draft(call: Call) -> Answer:
    """Answer `DELETE …/draft_tweets/:draft_tweet_id`."""
    parameters = Parameters(call)
    draft = _find_draft(call, parameters)
    draft.delete(call.now)
    return success(parameters.echo_without_account(), show_draft(draft))


def preview_draft(call: Call) -> Answer:
    """Answer `POST …/draft_tweets/preview/:draft_tweet_id`: where the user would see it. No device is notified here."""
    parameters = Parameters(call)
    _find_draft(call, parameters)
    message = (
        f"See @{call.store.users.of(call.user_id).screen_name}'s notifications in the X app to preview your Tweet."
    )
    return Answer(200, orjson.dumps({"request": {"params": parameters.echo_without_account()}, "message": message}))


def _find_draft(call: Call, parameters: Parameters) -> Record:
    draft_id = parameters.path_long("draft_tweet_id")
    parameters.finish()
    return DRAFTS.find(call, str(draft_id))


# --- Tweets: listed, made, named, and shown in frames (specification part 2, section 4.9) ---
#
# The values of `tweet_type` in the list are those that previews name. Video fields are shown with a video.

_SETTINGS: Final = ("EVERYONE", "FOLLOWING", "MENTIONED_USERS")
_MAX_TITLE, _MAX_DESCRIPTION = 70, 200  # characters; specification part 2, section 8
_KINDS: Final = {DRAFT: DRAFTS, PUBLISHED: TWEETS, "SCHEDULED": SCHEDULED_TWEETS}


def list_tweets(call: Call) -> Answer:
    """Answer `GET …/tweets`: of one type; promoted-only ones unless `timeline_type` says otherwise."""
    publish_due(call.account, call.now)
    parameters = Parameters(call)
    tweet_type = parameters.required_choice("tweet_type", TWEET_TYPES)
    timeline = parameters.choice("timeline_type", ("ALL", "NULLCAST", "ORGANIC"), "NULLCAST")
    prefix = (parameters.text("name", longest=MAX_NAME) or "").casefold()
    with_replies = parameters.boolean("include_mentions_and_replies")
    trim_user = parameters.boolean("trim_user")
    tweet_ids = parameters.longs("tweet_ids")

    def wanted(record: Record) -> bool:
        fields = record.fields
        return (
            (timeline == "ALL" or fields["nullcast"] is (timeline == "NULLCAST"))
            and (not prefix or (fields["name"] or "").casefold().startswith(prefix))
            and (with_replies or not fields["text"].startswith("@"))
            and (tweet_ids is None or int(record.id) in tweet_ids)
            and fields.get("scheduled_status", "SCHEDULED") == "SCHEDULED"
        )

    page = read_page(call, _KINDS[tweet_type], parameters, wanted)
    shown = [show_listed(call, record, tweet_type, trim_user=trim_user) for record in page.records]
    return success(parameters.echo, shown, **page.members())


def create_tweet(call: Call) -> Answer:
    """Answer `POST …/tweet`."""
    parameters = Parameters(call)
    content = read_new(call, parameters)
    content["conversation_settings"] = parameters.choice("conversation_settings", _SETTINGS, "EVERYONE")
    content.update(_read_video(parameters))
    trim_user = parameters.boolean("trim_user")
    extended = parameters.choice("tweet_mode", ("compat", "extended"), "compat") == "extended"
    parameters.finish()
    check_author(call, content)
    check_command(content)
    tweet = publish(call.account, call.store.make_long_id(call.now), call.now, content)
    return success(parameters.echo, show_status(call, tweet, trim_user=trim_user, extended=extended))


def rename_tweet(call: Call) -> Answer:
    """Answer `PUT …/tweets/:tweet_id/name`: an empty name is removed."""
    publish_due(call.account, call.now)
    parameters = Parameters(call)
    tweet_id, name = parameters.path_long("tweet_id"), read_name(parameters, empty=True)
    parameters.finish()
    tweet = TWEETS.find(call, str(tweet_id))
    if name is not None:
        tweet.change({"name": name or None}, call.now)
    return success(parameters.echo, {"tweet_id": tweet.id, "name": tweet.fields["name"]})


def list_previews(call: Call) -> Answer:
    """Answer `GET …/tweet_previews`: a frame for each tweet, in the requested order.

    Raises RefusalError (404) for a tweet that is missing, or of another type.
    """
    publish_due(call.account, call.now)
    parameters = Parameters(call)
    tweet_ids = parameters.required_longs("tweet_ids")
    kind = _KINDS[parameters.required_choice("tweet_type", TWEET_TYPES)]
    parameters.finish()
    shown = []
    for tweet_id in map(str, tweet_ids):
        record = kind.all(call).get(tweet_id)
        if record is None or record.deleted:
            message = f"{kind.noun} {tweet_id} was not found for Account {call.account.id}"
            raise call.refuse(404, "NOT_FOUND", message, "tweet_ids")
        shown.append({"tweet_id": tweet_id, "preview": _frame(record.fields["text"])})
    return success(parameters.echo, shown)


def _read_video(parameters: Parameters) -> dict[str, Any]:
    return {
        "video_cta": parameters.choice("video_cta", ("VISIT_SITE", "WATCH_NOW"), "") or None,
        "video_cta_value": parameters.text("video_cta_value"),
        "video_description": parameters.text("video_description", longest=_MAX_DESCRIPTION),
        "video_title": parameters.text("video_title", longest=_MAX_TITLE),
    }


def _frame(text: str) -> str:
    page = html.escape(f"<!doctype html><p>{html.escape(text)}</p>", quote=True)
    return f"<iframe class='tweet-preview' sandbox srcdoc='{page}'></iframe>"


# --- The endpoints of draft tweets, scheduled tweets, previews and tweets ---

_ACCOUNT: Final = "/accounts/:account_id"
_DRAFTS: Final = _ACCOUNT + "/draft_tweets"
_DRAFT: Final = _DRAFTS + "/:draft_tweet_id"
_SCHEDULED: Final = _ACCOUNT + "/scheduled_tweets"
_SCHEDULED_ONE: Final = _SCHEDULED + "/:scheduled_tweet_id"

ROUTES: Final = (
    Route("GET", _DRAFTS, list_drafts, READS),
    Route("POST", _DRAFTS, create_draft, WRITES),
    Route("GET", _DRAFT, show_draft_tweet, READS),
    Route("PUT", _DRAFT, change_draft, WRITES),
    Route("DELETE", _DRAFT, delete_draft, WRITES),
    Route("POST", _DRAFTS + "/preview/:draft_tweet_id", preview_draft, WRITES),
    Route("GET", _SCHEDULED, list_scheduled, READS),
    Route("POST", _SCHEDULED, create_scheduled, WRITES),
    Route("GET", _SCHEDULED_ONE, show_scheduled_tweet, READS),
    Route("PUT", _SCHEDULED_ONE, change_scheduled, WRITES),
    Route("DELETE", _SCHEDULED_ONE, delete_scheduled, WRITES),
    Route("GET", _ACCOUNT + "/tweet_previews", list_previews, READS),
    Route("GET", _ACCOUNT + "/tweets", list_tweets, READS),
    Route("POST", _ACCOUNT + "/tweet", create_tweet, WRITES),
    Route("PUT", _ACCOUNT + "/tweets/:tweet_id/name", rename_tweet, WRITES),
)
