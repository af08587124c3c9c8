"""The users that there are: one for each permission, so that a refusal can be rehearsed (specification part 1, 4.9).

All of them are users of the same application and business, and have their permissions on every account of it. The
first is the FULL promotable user of each account, and the owner of the application.
"""

from __future__ import annotations

import random
import string
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from audiencekit.emulator.credentials import Origin

TWEET_COMPOSER: Final = "TWEET_COMPOSER"
FIRST_NAME: Final = "local_user"
# By their names. TWEET_COMPOSER goes with the first three permissions alone.
_PERMISSIONS: Final[Mapping[str, tuple[str, ...]]] = {
    FIRST_NAME: ("ACCOUNT_ADMIN", TWEET_COMPOSER),
    "local_account_admin": ("ACCOUNT_ADMIN",),
    "local_ad_manager": ("AD_MANAGER", TWEET_COMPOSER),
    "local_creative_manager": ("CREATIVE_MANAGER",),
    "local_tweet_composer": ("CREATIVE_MANAGER", TWEET_COMPOSER),
    "local_campaign_analyst": ("CAMPAIGN_ANALYST",),
    "local_analyst": ("ANALYST",),
    "local_partner_audience_manager": ("PARTNER_AUDIENCE_MANAGER",),
}
USER_NAMES: Final = tuple(_PERMISSIONS)
_LETTERS: Final = string.ascii_letters + string.digits


@dataclass(frozen=True, slots=True)
class User:
    """One user, with a token of the application that is there from the start."""

    id: str
    screen_name: str
    permissions: tuple[str, ...]
    access_token: str
    access_token_secret: str = field(repr=False)

    def document(self) -> dict[str, object]:
        """Return the user as a door shows them: their token too, which is worth nothing elsewhere."""
        return {
            "user_id": self.id,
            "screen_name": self.screen_name,
            "permissions": list(self.permissions),
            "access_token": self.access_token,
            "access_token_secret": self.access_token_secret,
        }


class Users:
    """All of them, by id and by name."""

    def __init__(self, origin: Origin) -> None:
        self.first = _make_first(origin)
        others = (_make(origin, name) for name in USER_NAMES if name != FIRST_NAME)
        self._by_id = {user.id: user for user in (self.first, *others)}

    def of(self, user_id: str) -> User:
        """Return the user with this id; the first for one that is none of them."""
        return self._by_id.get(user_id, self.first)

    def named(self, screen_name: str) -> User:
        """Return the user that a page of login is given; the first for any other name, as before there were others."""
        asked = screen_name.strip().removeprefix("@").casefold()
        return next((user for user in self._by_id.values() if user.screen_name == asked), self.first)

    def all(self) -> list[User]:
        """Return the first one first."""
        return list(self._by_id.values())


def _make_first(origin: Origin) -> User:
    credentials = origin.credentials
    token, secret = credentials.access_token, credentials.access_token_secret
    return User(origin.user_id, FIRST_NAME, _PERMISSIONS[FIRST_NAME], token, secret)


def _make(origin: Origin, name: str) -> User:
    chance = random.Random(f"{origin.account_id} {name}")
    user_id = str(chance.randrange(10**10, 10**11))  # a digit more than that of the first user
    token, secret = ("local" + "".join(chance.choices(_LETTERS, k=length)) for length in (30, 40))
    return User(user_id, name, _PERMISSIONS[name], f"{user_id}-{token}", secret)
