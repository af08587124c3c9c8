"""Posts as a caller wishes to see them, and the objects related to them (specification part 0, section 4.8)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from audiencekit.emulator.accounts.records import Account
from audiencekit.emulator.data_api.fields import AUTHOR_EXPANSION, MEDIA_EXPANSION, TWEET_EXPANSION, Wish, choose
from audiencekit.emulator.data_api.objects import show_media, show_post, show_user
from audiencekit.emulator.media.kinds import MEDIA
from audiencekit.emulator.resources.records import Record
from audiencekit.emulator.tweets.kinds import TWEETS
from audiencekit.emulator.tweets.statuses import name_author

Found = tuple[Account, Record]


def describe(found: Found, wish: Wish) -> dict[str, Any]:
    """Return a post with the fields that are wished for."""
    return choose(_show(*found), wish.tweet)


def include(own_user_id: str, found: Iterable[Found], wish: Wish) -> dict[str, list[dict[str, Any]]]:
    """Return the related objects that are asked for by their expansions, each once."""
    media: dict[str, dict[str, Any]] = {}
    users: dict[str, dict[str, Any]] = {}
    tweets: dict[str, dict[str, Any]] = {}
    for account, tweet in found:
        if MEDIA_EXPANSION in wish.expansions:
            for key in tweet.fields["media_keys"]:
                media[key] = choose(show_media(MEDIA.of(account)[key]), wish.media)
        if AUTHOR_EXPANSION in wish.expansions:
            user_id = tweet.fields["user_id"]
            names = name_author(own_user_id, user_id)
            users[user_id] = choose(show_user(user_id, names, account.created_at, _tweets(account)), wish.user)
        if TWEET_EXPANSION in wish.expansions:
            for reference in _show(account, tweet)["referenced_tweets"] or ():
                original = TWEETS.of(account)[reference["id"]]
                tweets[original.id] = choose(_show(account, original), wish.tweet)
    included = {"media": list(media.values()), "users": list(users.values()), "tweets": list(tweets.values())}
    return {name: objects for name, objects in included.items() if objects}


def _show(account: Account, tweet: Record) -> dict[str, Any]:
    return show_post(tweet, _tweets(account))


def _tweets(account: Account) -> Iterable[Record]:
    return TWEETS.of(account).values()
