"""Posts, media and users in the form of the data API, with all fields (specification part 0, sections 2.3 to 2.6)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

import orjson

from audiencekit.emulator.answers import Answer, RefusalError, refuse_problem, show_problem
from audiencekit.emulator.authentication import Pair
from audiencekit.emulator.calls import Call
from audiencekit.emulator.endpoints.accounts import KNOWN, PROFILE, SCREEN_NAME, Account
from audiencekit.emulator.endpoints.media import MEDIA, VIDEO
from audiencekit.emulator.endpoints.tweets import (
    MEDIA_TYPES,
    ORIGINAL,
    TWEETS,
    Entity,
    find_entities,
    name_author,
    publish_due,
    show_address,
)
from audiencekit.emulator.resources import Record

# --- Fields and expansions: what a caller wants to see (specification part 0, sections 2.3 to 2.6 and 4.8) ---
#
# The specification's lists of fields and expansions are not complete, so any name is taken, and one that is not known
# here adds nothing; but `source` is stated as removed. Two expansions are known besides the stated one: of the author,
# and of a tweet that was posted again.

MEDIA_EXPANSION, AUTHOR_EXPANSION, TWEET_EXPANSION = "attachments.media_keys", "author_id", "referenced_tweets.id"


@dataclass(frozen=True, slots=True)
class FieldSelection:
    """The fields of each kind of object, with the default ones, and the expansions."""

    tweet: frozenset[str]
    media: frozenset[str]
    user: frozenset[str]
    expansions: frozenset[str]


def read_selection(query: Query) -> FieldSelection:
    """Return the fields that a query requests. Raises RefusalError (400) for an unknown or removed name."""
    selection = FieldSelection(
        tweet=frozenset({"id", "text", *query.words("tweet.fields", removed=("source",))}),
        media=frozenset({"media_key", "type", *query.words("media.fields")}),
        user=frozenset({"id", "name", "username", *query.words("user.fields")}),
        expansions=frozenset(query.words("expansions")),
    )
    for name in ("poll.fields", "place.fields"):
        query.words(name)
    return selection


def choose(document: Mapping[str, Any], fields: frozenset[str]) -> dict[str, Any]:
    """Return the selected fields that a document has."""
    return {name: value for name, value in document.items() if name in fields and value is not None}


# --- Queries of the data API, whose refusals are problems (specification part 0, sections 2.2 and 4.8) ---

_WORD: Final = re.compile(r"[a-z0-9_.]+", re.ASCII)


def invalid(detail: str) -> RefusalError:
    """Return a 400: the request cannot be read."""
    kind = "https://api.x.com/2/problems/invalid-request"
    return refuse_problem(400, "Invalid Request", detail, kind)


class Query:
    """The query of a call, read one parameter at a time. Every fault raises RefusalError (400)."""

    def __init__(self, pairs: Iterable[Pair]) -> None:
        self._unread: dict[str, str] = {}
        for raw_name, raw_text in pairs:
            name, text = raw_name.decode("utf-8", "replace"), raw_text.decode("utf-8", "replace")
            if name in self._unread:
                raise invalid(f"The query parameter [{name}] is given more than once")
            self._unread[name] = text

    def text(self, name: str) -> str | None:
        """Return a parameter as received; None if it is not given."""
        return self._unread.pop(name, None)

    def words(self, name: str, removed: Collection[str] = ()) -> list[str]:
        """Return a comma-separated list without any of `removed`; empty if it is not given."""
        given = self.text(name)
        if given is None:
            return []
        listed = given.split(",")
        for word in listed:
            if not _WORD.fullmatch(word) or word in removed:
                raise invalid(f"The query parameter [{name}] has a value that is none of its own")
        return listed

    def finish(self) -> None:
        """Refuse parameters that were not read."""
        for name in self._unread:
            raise invalid(f"The query parameter [{name}] is not one of this endpoint")


# --- Posts, media and users in the form of the data API (specification part 0, sections 2.3 to 2.6). None is left out

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
    """Return a user with all fields; `names` are name and handle. The partner has a profile, and a pinned tweet."""
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


# --- `GET /2/tweets`: posts by their numbers (specification part 0, section 4.8), those that were tweeted here ---
#
# At most a hundred at a time: the specification states no bound, and this is the public one.

MAX_POSTS: Final = 100
_ID: Final = re.compile(r"[0-9]{1,19}", re.ASCII)


def get_posts(call: Call) -> Answer:
    """Return the existing posts, in the requested order, and a problem for each of the others."""
    query = Query(call.query)
    ids, selection = _read_ids(query), read_selection(query)
    query.finish()
    tweets = _tweets(call)
    found = [tweets[tweet_id] for tweet_id in ids if tweet_id in tweets]
    document: dict[str, Any] = {"data": [describe(each, selection) for each in found]}
    includes = include(call.store.origin.user_id, found, selection)
    problems = [_not_found(tweet_id) for tweet_id in ids if tweet_id not in tweets]
    document |= {"includes": includes} if includes else {}
    document |= {"errors": problems} if problems else {}
    return Answer(200, orjson.dumps(document))


def _read_ids(query: Query) -> list[str]:
    given = query.text("ids")
    if given is None:
        raise invalid("The query parameter [ids] is required")
    ids = list(dict.fromkeys(given.split(",")))
    if not all(map(_ID.fullmatch, ids)) or len(ids) > MAX_POSTS:
        raise invalid(f"Expected 1 to {MAX_POSTS} comma-separated numbers for the query parameter [ids]")
    return ids


def _tweets(call: Call) -> dict[str, Found]:
    found = {}
    for account in call.store.accounts_of_user():
        publish_due(account, call.now)
        found.update({tweet.id: (account, tweet) for tweet in TWEETS.of(account).values()})
    return found


def _not_found(tweet_id: str) -> dict[str, Any]:
    kind = "https://api.x.com/2/problems/resource-not-found"
    return show_problem(404, "Not Found Error", f"Could not find tweet with ids: [{tweet_id}].", kind)


# --- Posts as a caller wishes to see them, and the objects related to them (specification part 0, section 4.8) ---

Found = tuple[Account, Record]


def describe(found: Found, selection: FieldSelection) -> dict[str, Any]:
    """Return a post with the selected fields."""
    return choose(_show(*found), selection.tweet)


def include(own_user_id: str, found: Iterable[Found], selection: FieldSelection) -> dict[str, list[dict[str, Any]]]:
    """Return the related objects that the expansions request, each once."""
    media: dict[str, dict[str, Any]] = {}
    users: dict[str, dict[str, Any]] = {}
    tweets: dict[str, dict[str, Any]] = {}
    for account, tweet in found:
        if MEDIA_EXPANSION in selection.expansions:
            for key in tweet.fields["media_keys"]:
                media[key] = choose(show_media(MEDIA.of(account)[key]), selection.media)
        if AUTHOR_EXPANSION in selection.expansions:
            user_id = tweet.fields["user_id"]
            names = name_author(own_user_id, user_id)
            users[user_id] = choose(
                show_user(user_id, names, account.created_at, _tweet_objects(account)), selection.user
            )
        if TWEET_EXPANSION in selection.expansions:
            for reference in _show(account, tweet)["referenced_tweets"] or ():
                original = TWEETS.of(account)[reference["id"]]
                tweets[original.id] = choose(_show(account, original), selection.tweet)
    included = {"media": list(media.values()), "users": list(users.values()), "tweets": list(tweets.values())}
    return {name: objects for name, objects in included.items() if objects}


def _show(account: Account, tweet: Record) -> dict[str, Any]:
    return show_post(tweet, _tweet_objects(account))


def _tweet_objects(account: Account) -> Iterable[Record]:
    return TWEETS.of(account).values()
