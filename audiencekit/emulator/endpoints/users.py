"""The people who use accounts: their profiles and their tokens."""

from __future__ import annotations

import random
import string
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from audiencekit.emulator.authentication import Origin

# --- Credentials that are issued and invalidated (specification part 0, sections 2.1 and 3) ---

OUT_OF_BAND: Final = "oob"
_LETTERS: Final = string.ascii_letters + string.digits


@dataclass(slots=True)
class RequestToken:
    """A pending authorization; it has a verifier once the user approved it."""

    token: str
    secret: str = field(repr=False)
    callback: str
    may_write: bool = True
    verifier: str | None = field(default=None, repr=False)
    user: User | None = None  # the one who approved it


class Tokens:
    """The tokens of one application and its users. The same calls give the same tokens."""

    def __init__(self, origin: Origin) -> None:
        self.users = Users(origin)
        self.access = {user.access_token: user.access_token_secret for user in self.users.all()}
        self.requests: dict[str, RequestToken] = {}
        self.readers: set[str] = set()  # the access tokens that may only read
        self.bearer: str | None = None
        self.logged_in: User | None = None  # who approved the application on a page last
        self._chance = random.Random(f"tokens of {origin.credentials.consumer_key}")

    def make_request_token(self, callback: str, *, may_write: bool) -> RequestToken:
        """Return a new pending authorization."""
        made = RequestToken(self._letters(22), self._letters(32), callback, may_write)
        self.requests[made.token] = made
        return made

    def approve(self, pending: RequestToken, user: User) -> None:
        """Note the approval of a user; return a PIN for a person to copy, or a verifier for the callback."""
        digits = pending.callback == OUT_OF_BAND
        pending.verifier = f"{self._chance.randrange(10**7):07}" if digits else self._letters(32)
        pending.user = self.logged_in = user

    def exchange(self, pending: RequestToken, user: User) -> tuple[str, str]:
        """Return a new access token of a user and its secret; the request token is used up."""
        del self.requests[pending.token]
        token, secret = f"{user.id}-{self._letters(30)}", self._letters(40)
        self.access[token] = secret
        if not pending.may_write:
            self.readers.add(token)
        return token, secret

    def give_bearer(self) -> str:
        """Return the application's bearer token: the same until it is invalidated.

        It has a character that URLs escape.
        """
        if self.bearer is None:
            self.bearer = f"{self._letters(40)}%2F{self._letters(20)}"
        return self.bearer

    def _letters(self, count: int) -> str:
        return "local" + "".join(self._chance.choices(_LETTERS, k=count))


# --- The users that there are: one for each permission, so that a refusal can be rehearsed (specification part 1,
# 4.9) ---
#
# All of them are users of the same application and business, and have their permissions on every account of it. The
# first is the FULL promotable user of each account, and the owner of the application.

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


@dataclass(frozen=True, slots=True)
class User:
    """One user, with a token of the application from the start."""

    id: str
    screen_name: str
    permissions: tuple[str, ...]
    access_token: str
    access_token_secret: str = field(repr=False)

    def document(self) -> dict[str, object]:
        """Return the user as a control endpoint shows them, with their token, which is invalid elsewhere."""
        return {
            "user_id": self.id,
            "screen_name": self.screen_name,
            "permissions": list(self.permissions),
            "access_token": self.access_token,
            "access_token_secret": self.access_token_secret,
        }


class Users:
    """All users, by id and by name."""

    def __init__(self, origin: Origin) -> None:
        self.first = _make_first(origin)
        others = (_make(origin, name) for name in USER_NAMES if name != FIRST_NAME)
        self._by_id = {user.id: user for user in (self.first, *others)}

    def of(self, user_id: str) -> User:
        """Return the user with this id; the first one for an unknown id."""
        return self._by_id.get(user_id, self.first)

    def named(self, screen_name: str) -> User:
        """Return the user with the name that a login page is given; the first one for any other name."""
        asked = screen_name.strip().removeprefix("@").casefold()
        return next((user for user in self._by_id.values() if user.screen_name == asked), self.first)

    def all(self) -> list[User]:
        """Return all users, the first one first."""
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
