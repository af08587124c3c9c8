"""Posts, media and users in the form of the data API (specification part 0, sections 2.3 to 2.6). None is left out."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final

from audiencekit.emulator.media.records import VIDEO
from audiencekit.emulator.resources.records import Record
from audiencekit.emulator.tweets.entities import Entity, find_entities, show_address
from audiencekit.emulator.tweets.kinds import ORIGINAL
from audiencekit.emulator.tweets.statuses import MEDIA_TYPES

_REPLY_SETTINGS: Final = {"EVERYONE": "everyone", "FOLLOWING": "following", "MENTIONED_USERS": "mentionedUsers"}


def show_post(tweet: Record) -> dict[str, Any]:
    """A post with all of its fields. It has no answers and no likes here; a promoted post may be posted again."""
    media_keys, original = tweet.fields["media_keys"], tweet.fields.get(ORIGINAL)
    counts = ("retweet_count", "reply_count", "like_count", "quote_count", "impression_count")
    return {
        "id": tweet.id,
        "text": tweet.fields["text"],
        "attachments": {"media_keys": media_keys} if media_keys else None,
        "author_id": tweet.fields["user_id"],
        "created_at": _milliseconds(tweet.created_at),
        "conversation_id": tweet.id,
        "possibly_sensitive": False,
        "referenced_tweets": None if original is None else [{"type": "retweeted", "id": original}],
        "public_metrics": dict.fromkeys(counts, 0),
        "entities": _show_entities(tweet.fields["text"]) or None,
        "lang": "und",
        "reply_settings": _REPLY_SETTINGS[tweet.fields["conversation_settings"]],
    }


def show_media(media: Record) -> dict[str, Any]:
    """A medium with all of its fields."""
    fields, is_moving = media.fields, media.fields["media_type"] != "IMAGE"
    still = f"https://media.example/{media.id}/first-frame.jpg" if is_moving else None
    return {
        "media_key": media.id,
        "type": MEDIA_TYPES[fields["media_type"]],
        "duration_ms": fields["duration_ms"],
        "height": fields["height"],
        "width": fields["width"],
        "preview_image_url": still,
        "public_metrics": {"view_count": 0} if fields["media_type"] == VIDEO else None,
        "variants": [{"content_type": "video/mp4", "url": fields["media_url"]}] if is_moving else None,
    }


def show_user(user_id: str, names: tuple[str, str], created_at: float) -> dict[str, Any]:
    """A user with all of their fields; `names` are name and handle."""
    counts = ("followers_count", "following_count", "tweet_count", "listed_count")
    return {
        "id": user_id,
        "name": names[0],
        "username": names[1],
        "created_at": _milliseconds(created_at),
        "description": "",
        "profile_image_url": "https://media.example/profile.png",
        "protected": False,
        "url": "",
        "verified": False,
        "verified_type": "none",
        "public_metrics": dict.fromkeys(counts, 0),
    }


def _milliseconds(epoch: float) -> str:
    return datetime.fromtimestamp(epoch, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _show_entities(text: str) -> dict[str, list[dict[str, Any]]]:
    shown: dict[str, list[dict[str, Any]]] = {}
    for entity in find_entities(text):
        name, members = _show_entity(entity)
        shown.setdefault(name, []).append({"start": entity.start, "end": entity.end, **members})
    return shown


def _show_entity(entity: Entity) -> tuple[str, dict[str, Any]]:
    if entity.kind == "hashtag":
        return "hashtags", {"tag": entity.word}
    if entity.kind == "mention":
        return "mentions", {"username": entity.word}
    return "urls", show_address(entity)
