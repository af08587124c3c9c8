"""Records that an account has from the start, which no endpoint makes: promotable users, tweets of a partner, apps."""

from __future__ import annotations

import random
from typing import Any, Final

from audiencekit.emulator.accounts.partner import make_tweets
from audiencekit.emulator.accounts.records import Account
from audiencekit.emulator.credentials import base36
from audiencekit.emulator.resources.records import Record

FULL, RETWEETS_ONLY = "FULL", "RETWEETS_ONLY"
USER_KIND, APP_KIND, TWEET_KIND = "promotable_users", "account_apps", "tweets"
_APPS: Final[tuple[dict[str, Any], ...]] = (
    {
        "app_store_identifier": "com.example.local",
        "conversion_tracking_enabled": False,
        "deep_link_pattern": "local://",
        "os_type": "Android",
    },
    {
        "app_store_identifier": "4000000000",
        "conversion_tracking_enabled": True,
        "deep_link_pattern": None,
        "os_type": "iOS",
    },
    {
        "app_store_identifier": "com.example.withdrawn",
        "conversion_tracking_enabled": False,
        "deep_link_pattern": None,
        "os_type": "Android",
    },
)


def endow(account: Account, user_id: str, seed: int) -> None:
    """Give a new account its own user and a partner whose tweets it may promote, and three apps, one of them deleted.

    The partner has tweets, and the account its media already.

    The same seed and account give the same ids.
    """
    chance = random.Random(f"{seed} {account.id} endowment")
    partner_id = str(chance.randrange(10**17, 10**18))
    users = ({"user_id": user_id, "type": FULL}, {"user_id": partner_id, "type": RETWEETS_ONLY})
    account.records[USER_KIND] = _records(account, chance, users)
    account.records[TWEET_KIND] = make_tweets(account, partner_id)
    account.records[APP_KIND] = apps = _records(account, chance, _APPS)
    [*apps.values()][-1].delete(account.created_at)


def _records(account: Account, chance: random.Random, all_fields: tuple[dict[str, Any], ...]) -> dict[str, Record]:
    ids = [base36(serial) for serial in chance.sample(range(36**4, 36**5), len(all_fields))]
    made = account.created_at
    return {each: Record(each, made, made, fields) for each, fields in zip(ids, all_fields, strict=True)}
