"""Posts, media and users in the form of the data API (specification part 0, sections 2.3 to 2.6). None is left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from audiencekit.emulator.accounts.partner import KNOWN, PROFILE, SCREEN_NAME
from audiencekit.emulator.media.records import VIDEO
from audiencekit.emulator.resources.records import Record
from audiencekit.emulator.tweets.entities import Entity, find_entities, show_address
from audiencekit.emulator.tweets.kinds import ORIGINAL
from audiencekit.emulator.tweets.statuses import MEDIA_TYPES

_REPLY_SETTINGS: Final = {"EVERYONE": "everyone", "FOLLOWING": "following", "MENTIONED_USERS": "mentionedUsers"}


def show_post(tweet: Record, others: Iterable[Record]) -> dict[str, Any]:
    """Return a post with all of its fields; `others` are the posts that may refer to it. It has no likes here."""
    media_keys, known = tweet.fields["media_keys"], tweet.fields.get(KNOWN, {})
    references = Counter(each["type"] for other in others for each in _references(other) if each["id"] == tweet.id)
    return {
        "id": tweet.id,
        "text": tweet.fields["text"],
        "attachments": {"media_keys": media_keys} if media_keys else None,
        "author_id": tweet.fields["user_id"],
        "created_at": _milliseconds(tweet.created_at),
        "conversation_id": next((each["id"] for each in _references(tweet) if each["type"] == "replied_to"), tweet.id),
        "possibly_sensitive": known.get("possibly_sensitive", False),
        "in_reply_to_user_id": known.get("in_reply_to_user_id"),
        "referenced_tweets": _references(tweet) or None,
        "public_metrics": {
            "retweet_count": references["retweeted"],
            "reply_count": references["replied_to"],
            "like_count": 0,
            "quote_count": references["quoted"],
            "impression_count": 0,
        },
        "entities": _show_entities(tweet.fields["text"], known) or None,
        "context_annotations": known.get("context_annotations"),
        "lang": known.get("lang", "und"),
        "reply_settings": _REPLY_SETTINGS[tweet.fields["conversation_settings"]],
    }


def show_media(media: Record) -> dict[str, Any]:
    """Return a medium with all of its fields."""
    fields, is_moving = media.fields, media.fields["media_type"] != "IMAGE"
    still = f"https://media.example/{media.id}/first-frame.jpg" if is_moving else None
    return {
        "media_key": media.id,
        "type": MEDIA_TYPES[fields["media_type"]],
        "duration_ms": fields["duration_ms"],
        "height": fields["height"],
        "width": fields["width"],
        "preview_image_url": still,
        "alt_text": fields["alt_text"],
        "public_metrics": {"view_count": 0} if fields["media_type"] == VIDEO else None,
        "variants": [{"content_type": "video/mp4", "url": fields["media_url"]}] if is_moving else None,
    }


def show_user(user_id: str, names: tuple[str, str], created_at: float, tweets: Iterable[Record]) -> dict[str, Any]:
    """A user with all of their fields; `names` are name and handle. The partner has a profile, and a pinned tweet."""
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
        **(_show_profile(user_id, tweets) if names[1] == SCREEN_NAME else {}),
    }


def _show_profile(user_id: str, tweets: Iterable[Record]) -> dict[str, Any]:
    own = next((tweet.id for tweet in tweets if tweet.fields["user_id"] == user_id), None)
    described = _show_entities(PROFILE["description"], {})
    return {
        **PROFILE,
        "pinned_tweet_id": own,
        "entities": {"url": _show_entities(PROFILE["url"], {}), "description": described},
    }


def _references(tweet: Record) -> list[dict[str, str]]:
    original = tweet.fields.get(ORIGINAL)
    again = [] if original is None else [{"type": "retweeted", "id": original}]
    return [*again, *tweet.fields.get(KNOWN, {}).get("referenced_tweets", ())]


def _milliseconds(epoch: float) -> str:
    return datetime.fromtimestamp(epoch, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _show_entities(text: str, known: Mapping[str, Any]) -> dict[str, list[dict[str, Any]]]:
    shown: dict[str, list[dict[str, Any]]] = {}
    for entity in find_entities(text):
        name, members = _show_entity(entity)
        members |= known.get("pages", {}).get(entity.word, {})
        shown.setdefault(name, []).append({"start": entity.start, "end": entity.end, **members})
    return shown | ({"annotations": known["annotations"]} if "annotations" in known else {})


def _show_entity(entity: Entity) -> tuple[str, dict[str, Any]]:
    if entity.kind == "hashtag":
        return "hashtags", {"tag": entity.word}
    if entity.kind == "mention":
        return "mentions", {"username": entity.word}
    return "urls", show_address(entity)
