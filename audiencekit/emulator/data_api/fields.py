"""Fields and expansions: what a caller wants to see (specification part 0, sections 2.3 to 2.6 and 4.8).

The specification's lists of fields and expansions are not complete, so any name is taken, and one that is not known
here adds nothing; but `source` is stated as removed. Two expansions are known besides the stated one: of the author,
and of a tweet that was posted again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from audiencekit.emulator.data_api.query import Query

MEDIA_EXPANSION, AUTHOR_EXPANSION, TWEET_EXPANSION = "attachments.media_keys", "author_id", "referenced_tweets.id"


@dataclass(frozen=True, slots=True)
class Wish:
    """The fields of each kind of object, the default ones among them, and the expansions."""

    tweet: frozenset[str]
    media: frozenset[str]
    user: frozenset[str]
    expansions: frozenset[str]


def read_wish(query: Query) -> Wish:
    """Return the fields that a query asks for. Raises RefusalError (400) for what is no name, or is removed."""
    wish = Wish(
        tweet=frozenset({"id", "text", *query.words("tweet.fields", removed=("source",))}),
        media=frozenset({"media_key", "type", *query.words("media.fields")}),
        user=frozenset({"id", "name", "username", *query.words("user.fields")}),
        expansions=frozenset(query.words("expansions")),
    )
    for name in ("poll.fields", "place.fields"):
        query.words(name)
    return wish


def choose(document: Mapping[str, Any], fields: frozenset[str]) -> dict[str, Any]:
    """Return the fields of a document that are wanted and that it has."""
    return {name: value for name, value in document.items() if name in fields and value is not None}
