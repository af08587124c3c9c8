"""Tweets as they are stored, published and listed."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from audiencekit.emulator.answers import format_time
from audiencekit.emulator.calls import Call
from audiencekit.emulator.endpoints.account_records import SCREEN_NAME as PARTNER, Account
from audiencekit.emulator.endpoints.media import MEDIA
from audiencekit.emulator.endpoints.media_records import VIDEO
from audiencekit.emulator.endpoints.tweet_entities import Entity, find_entities, show_address
from audiencekit.emulator.endpoints.users import FIRST_NAME
from audiencekit.emulator.paging import Listing, Page, read_list_query
from audiencekit.emulator.parameters import Parameters
from audiencekit.emulator.records import Record
from audiencekit.emulator.resources import Resource

# --- Draft tweets, scheduled tweets and tweets: the kinds, and how the first two are shown ---

MAX_NAME: Final = 80  # characters; specification part 2, section 8
DRAFT, PUBLISHED, SCHEDULED = "DRAFT", "PUBLISHED", "SCHEDULED"
ORIGINAL: Final = "original_tweet_id"  # the field of a tweet that was posted again
TWEET_TYPES: Final = (DRAFT, PUBLISHED, SCHEDULED)


def show_draft(record: Record) -> dict[str, Any]:
    """Return a draft tweet. A deleted one is shown only by its deletion (public documentation)."""
    shown = record.document()
    deleted = {"status": "DELETED"} if shown.pop("deleted") else {}
    return {**shown, **deleted}


def show_scheduled(record: Record) -> dict[str, Any]:
    """Return a scheduled tweet, with its state."""
    shown = record.document()
    deleted = {"scheduled_status": "DELETED"} if shown.pop("deleted") else {}
    times = {name: _show_time(record.fields[name]) for name in ("scheduled_at", "completed_at")}
    return {**shown, **times, **deleted}


def _show_time(epoch: float | None) -> str | None:
    return None if epoch is None else format_time(epoch)


_PAGES: Final = Listing(takes_sort_by=False, takes_with_deleted=False, takes_with_total_count=False)
_SHORT_PAGES: Final = replace(_PAGES, default_count=100, max_count=200)

DRAFTS: Final = Resource(
    kind="draft_tweets", noun="Draft Tweet", id_name="draft_tweet_id", listing=_SHORT_PAGES, show=show_draft
)
SCHEDULED_TWEETS: Final = Resource(
    kind="scheduled_tweets",
    noun="Scheduled Tweet",
    id_name="scheduled_tweet_id",
    listing=_SHORT_PAGES,
    show=show_scheduled,
)
TWEETS: Final = Resource(kind="tweets", noun="Tweet", id_name="tweet_id", listing=_PAGES)


# --- Pages of drafts, scheduled tweets and tweets: of one user, oldest first ---


def read_page(
    call: Call, kind: Resource, parameters: Parameters, wanted: Callable[[Record], bool] = lambda record: True
) -> Page[Record]:
    """Return the wanted records of the named user, by default of the account's own user."""
    query = read_list_query(parameters, kind.listing)
    named = parameters.long("user_id")
    parameters.finish()
    user_id = call.store.origin.user_id if named is None else str(named)
    records = sorted(kind.all(call).values(), key=lambda record: record.created_at)
    return query.page(parameters, records, lambda record: record.fields["user_id"] == user_id and wanted(record))


# --- Publication of a tweet ---


def publish(account: Account, tweet_id: str, moment: float, content: dict[str, Any]) -> Record:
    """Return a new tweet, and mark its media as tweeted."""
    tweet = TWEETS.of(account)[tweet_id] = Record(tweet_id, moment, moment, content)
    for key in content["media_keys"]:
        MEDIA.of(account)[key].change({"tweeted": True}, moment)
    return tweet


# --- Tweets in the form of version 1.1, as the ads API shows them (public documentation) ---

MEDIA_TYPES: Final = {"IMAGE": "photo", "GIF": "animated_gif", "VIDEO": "video"}


def show_status(call: Call, record: Record, *, trim_user: bool, extended: bool = False) -> dict[str, Any]:
    """Return a tweet. `trim_user` leaves only the id of its author; `extended` gives the text under another name."""
    fields = record.fields
    media = [_show_media(call, key, fields) for key in fields["media_keys"]]
    return {
        "created_at": time.strftime("%a %b %d %H:%M:%S +0000 %Y", time.gmtime(record.created_at)),
        "id": int(record.id),
        "id_str": record.id,
        "full_text" if extended else "text": fields["text"],
        "truncated": False,
        "entities": _show_entities(fields["text"]),
        **({"extended_entities": {"media": media}} if media else {}),
        "user": _show_user(call, fields["user_id"], trim=trim_user),
        "card_uri": fields["card_uri"],
        "retweet_count": 0,
        "favorite_count": 0,
        "lang": "und",
        "name": fields["name"],
    }


def show_listed(call: Call, record: Record, tweet_type: str, *, trim_user: bool) -> dict[str, Any]:
    """Return a tweet, a draft or a scheduled tweet in a list, with additional fields."""
    scheduled_at = record.fields.get("scheduled_at")
    return {
        **show_status(call, record, trim_user=trim_user),
        "tweet_id": record.id,
        "tweet_type": tweet_type,
        "nullcast": record.fields["nullcast"],
        "scheduled_at": None if scheduled_at is None else format_time(scheduled_at),
        "conversation_settings": record.fields.get("conversation_settings", "EVERYONE"),
    }


def name_author(own_user_id: str, user_id: str) -> tuple[str, str]:
    """Return name and handle of the author: the one user, or the partner whose tweets may be promoted."""
    return ("Local user", FIRST_NAME) if user_id == own_user_id else ("Partner", PARTNER)


def _show_user(call: Call, user_id: str, *, trim: bool) -> dict[str, Any]:
    name, screen_name = name_author(call.store.origin.user_id, user_id)
    ids = {"id": int(user_id), "id_str": user_id}
    return ids if trim else {**ids, "name": name, "screen_name": screen_name}


def _show_media(call: Call, key: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    media = MEDIA.all(call)[key]
    shown = {
        "media_key": key,
        "type": MEDIA_TYPES[media.fields["media_type"]],
        "media_url_https": media.fields["media_url"],
    }
    more = _show_video(fields) if media.fields["media_type"] == VIDEO else {}
    return {**shown, **({"additional_media_info": more} if more else {})}


def _show_video(fields: Mapping[str, Any]) -> dict[str, Any]:
    texts = {name: fields.get(f"video_{name}") for name in ("title", "description")}
    action, address = fields.get("video_cta"), fields.get("video_cta_value")
    actions = {} if action is None else {"call_to_actions": {action.lower(): {"url": address}}}
    return {**{name: text for name, text in texts.items() if text is not None}, **actions}


def _show_entities(text: str) -> dict[str, list[dict[str, Any]]]:
    shown: dict[str, list[dict[str, Any]]] = {"hashtags": [], "urls": [], "user_mentions": []}
    for entity in find_entities(text):
        name, members = _show_entity(entity)
        shown[name].append({**members, "indices": [entity.start, entity.end]})
    return shown


def _show_entity(entity: Entity) -> tuple[str, dict[str, Any]]:
    if entity.kind == "hashtag":
        return "hashtags", {"text": entity.word}
    if entity.kind == "mention":
        return "user_mentions", {"screen_name": entity.word}
    return "urls", show_address(entity)
