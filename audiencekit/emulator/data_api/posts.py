"""`GET /2/tweets`: posts by their numbers (specification part 0, section 4.8), those that were tweeted here.

At most a hundred at a time: the specification states no bound, and this is the public one.
"""

from __future__ import annotations

import re
from typing import Any, Final

import orjson

from audiencekit.emulator.calls import Call
from audiencekit.emulator.data_api.fields import read_wish
from audiencekit.emulator.data_api.postviews import Found, describe, include
from audiencekit.emulator.data_api.query import Query, invalid
from audiencekit.emulator.envelope import Answer, show_problem
from audiencekit.emulator.tweets.kinds import TWEETS
from audiencekit.emulator.tweets.scheduled import publish_due

MAX_POSTS: Final = 100
_ID: Final = re.compile(r"[0-9]{1,19}", re.ASCII)


def get_posts(call: Call) -> Answer:
    """Return the posts that there are, in the order asked for, and a problem for each of the others."""
    query = Query(call.query)
    ids, wish = _read_ids(query), read_wish(query)
    query.finish()
    tweets = _tweets(call)
    found = [tweets[tweet_id] for tweet_id in ids if tweet_id in tweets]
    document: dict[str, Any] = {"data": [describe(each, wish) for each in found]}
    includes = include(call.store.origin.user_id, found, wish)
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
