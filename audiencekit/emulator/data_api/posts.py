"""`GET /2/tweets`: posts by their numbers (specification part 0, section 4.8), those that were tweeted here.

At most a hundred at a time: the specification states no bound, and this is the public one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

import orjson

from audiencekit.emulator.accounts.records import Account
from audiencekit.emulator.calls import Call
from audiencekit.emulator.data_api.fields import (
    AUTHOR_EXPANSION,
    MEDIA_EXPANSION,
    TWEET_EXPANSION,
    Wish,
    choose,
    read_wish,
)
from audiencekit.emulator.data_api.objects import show_media, show_post, show_user
from audiencekit.emulator.data_api.query import Query, invalid
from audiencekit.emulator.envelope import Answer, show_problem
from audiencekit.emulator.media.kinds import MEDIA
from audiencekit.emulator.resources.records import Record
from audiencekit.emulator.tweets.kinds import TWEETS
from audiencekit.emulator.tweets.scheduled import publish_due
from audiencekit.emulator.tweets.statuses import name_author

MAX_POSTS: Final = 100
_ID: Final = re.compile(r"[0-9]{1,19}", re.ASCII)

Found = tuple[Account, Record]


def get_posts(call: Call) -> Answer:
    """The posts that there are, in the order asked for, and a problem for each of the others."""
    query = Query(call)
    ids, wish = _read_ids(query), read_wish(query)
    query.finish()
    tweets = _tweets(call)
    found = [tweets[tweet_id] for tweet_id in ids if tweet_id in tweets]
    document: dict[str, Any] = {"data": [choose(_show(account, tweet), wish.tweet) for account, tweet in found]}
    includes = _includes(call, found, wish)
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


def _includes(call: Call, found: Iterable[Found], wish: Wish) -> dict[str, list[dict[str, Any]]]:
    """The related objects that are asked for by their expansions, each once."""
    media: dict[str, dict[str, Any]] = {}
    users: dict[str, dict[str, Any]] = {}
    tweets: dict[str, dict[str, Any]] = {}
    for account, tweet in found:
        if MEDIA_EXPANSION in wish.expansions:
            for key in tweet.fields["media_keys"]:
                media[key] = choose(show_media(MEDIA.of(account)[key]), wish.media)
        if AUTHOR_EXPANSION in wish.expansions:
            user_id = tweet.fields["user_id"]
            shown = show_user(user_id, name_author(call, user_id), account.created_at, TWEETS.of(account).values())
            users[user_id] = choose(shown, wish.user)
        if TWEET_EXPANSION in wish.expansions:
            for reference in _show(account, tweet)["referenced_tweets"] or ():
                original = TWEETS.of(account)[reference["id"]]
                tweets[original.id] = choose(_show(account, original), wish.tweet)
    included = {"media": list(media.values()), "users": list(users.values()), "tweets": list(tweets.values())}
    return {name: objects for name, objects in included.items() if objects}


def _show(account: Account, tweet: Record) -> dict[str, Any]:
    return show_post(tweet, TWEETS.of(account).values())


def _not_found(tweet_id: str) -> dict[str, Any]:
    kind = "https://api.x.com/2/problems/resource-not-found"
    return show_problem(404, "Not Found Error", f"Could not find tweet with ids: [{tweet_id}].", kind)
