"""Publication of a tweet."""

from __future__ import annotations

from typing import Any

from audiencekit.emulator.accounts.records import Account
from audiencekit.emulator.media.kinds import MEDIA
from audiencekit.emulator.resources.records import Record
from audiencekit.emulator.tweets.kinds import TWEETS


def publish(account: Account, tweet_id: str, moment: float, content: dict[str, Any]) -> Record:
    """Return a new tweet; its media know from now on that they were tweeted."""
    tweet = TWEETS.of(account)[tweet_id] = Record(tweet_id, moment, moment, content)
    for key in content["media_keys"]:
        MEDIA.of(account)[key].change({"tweeted": True}, moment)
    return tweet
