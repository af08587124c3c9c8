"""Facts about a post that the operators of rules ask for, each in the form of its operator: `is:retweet`, `lang:en`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from audiencekit.emulator.accounts.records import Account
from audiencekit.emulator.data_api.objects import show_post
from audiencekit.emulator.media.kinds import MEDIA
from audiencekit.emulator.resources.records import Record
from audiencekit.emulator.streamrules.matching import Post
from audiencekit.emulator.tweets.kinds import TWEETS
from audiencekit.emulator.tweets.statuses import name_author

_REFERENCES: Final = {"retweeted": "is:retweet", "replied_to": "is:reply", "quoted": "is:quote"}
_ENTITIES: Final = {"hashtags": "has:hashtags", "mentions": "has:mentions", "urls": "has:links"}
_MEDIA: Final = {"IMAGE": "has:images", "VIDEO": "has:videos"}


def read_post(account: Account, tweet: Record, own_user_id: str) -> Post:
    """Return a tweet of an account as rules see it."""
    return Post(tweet.fields["text"], frozenset(fact.casefold() for fact in _facts(account, tweet, own_user_id)))


def _facts(account: Account, tweet: Record, own_user_id: str) -> Iterator[str]:
    shown = show_post(tweet, ())
    yield from _names("from", own_user_id, tweet.fields["user_id"])
    yield f"lang:{shown['lang']}"
    yield f"conversation_id:{shown['conversation_id']}"
    if tweet.fields["nullcast"]:
        yield "is:nullcast"
    if shown["in_reply_to_user_id"]:
        yield from _names("to", own_user_id, shown["in_reply_to_user_id"])
    for reference in shown["referenced_tweets"] or ():
        yield _REFERENCES[reference["type"]]
        if reference["type"] == "retweeted":
            yield from _names("retweets_of", own_user_id, TWEETS.of(account)[reference["id"]].fields["user_id"])
    yield from (fact for name, fact in _ENTITIES.items() if name in (shown["entities"] or {}))
    yield from _media_facts(account, shown)


def _names(operator: str, own_user_id: str, user_id: str) -> Iterator[str]:
    yield f"{operator}:{user_id}"
    yield f"{operator}:{name_author(own_user_id, user_id)[1]}"


def _media_facts(account: Account, shown: dict[str, Any]) -> Iterator[str]:
    keys = (shown["attachments"] or {}).get("media_keys", ())
    if keys:
        yield "has:media"
    for key in keys:
        kind = MEDIA.of(account)[key].fields["media_type"]
        if kind in _MEDIA:
            yield _MEDIA[kind]
