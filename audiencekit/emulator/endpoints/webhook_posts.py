"""New posts that match the rules of the filtered stream, for the webhooks linked to it."""

from __future__ import annotations

from typing import Any

import orjson

from audiencekit.emulator.endpoints.account_records import Account
from audiencekit.emulator.endpoints.data_api import Found, describe, include
from audiencekit.emulator.endpoints.stream_rule_calls import read_post
from audiencekit.emulator.endpoints.tweet_records import TWEETS
from audiencekit.emulator.endpoints.tweets import publish_due
from audiencekit.emulator.records import Record
from audiencekit.emulator.store import Store


class NewPosts:
    """Looks for posts that are new since the last look."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._seen: set[str] = set()
        self._has_looked = False

    def look(self, now: float) -> None:
        """Send every linked webhook the posts since the last look, also scheduled ones that are due.

        The first look after the first link sends nothing: earlier posts are not delivered.
        """
        webhooks = self._store.webhooks
        if not webhooks.links:
            return
        for account in self._store.accounts_of_user():
            publish_due(account, now)
            for tweet in [*TWEETS.of(account).values()]:
                if tweet.id not in self._seen and self._has_looked:
                    self._notify(account, tweet, now)
                self._seen.add(tweet.id)
        self._has_looked = True

    def _notify(self, account: Account, tweet: Record, now: float) -> None:
        rules = self._store.stream_rules.matching(read_post(account, tweet, self._store.origin.user_id))
        if not rules:
            return
        found: Found = (account, tweet)
        for webhook_id, link in self._store.webhooks.links.items():
            includes = include(self._store.origin.user_id, [found], link.selection)
            document: dict[str, Any] = {
                "data": {**describe(found, link.selection), "edit_history_tweet_ids": [tweet.id]},
                **({"includes": includes} if includes else {}),
                "matching_rules": [
                    {"id": rule.id, **({} if rule.tag is None else {"tag": rule.tag})} for rule in rules
                ],
            }
            self._store.webhooks.notify(webhook_id, orjson.dumps(document), now)
