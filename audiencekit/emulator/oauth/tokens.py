"""Credentials that are given out and taken back (specification part 0, sections 2.1 and 3)."""

from __future__ import annotations

import random
import string
from dataclasses import dataclass, field
from typing import Final

from audiencekit.emulator.credentials import Origin
from audiencekit.emulator.people.users import User, Users

OUT_OF_BAND: Final = "oob"
_LETTERS: Final = string.ascii_letters + string.digits


@dataclass(slots=True)
class RequestToken:
    """A pending authorization; the verifier is there once the user approved it."""

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
        """A user says yes: a PIN for a person to copy, else a verifier for the callback."""
        digits = pending.callback == OUT_OF_BAND
        pending.verifier = f"{self._chance.randrange(10**7):07}" if digits else self._letters(32)
        pending.user = self.logged_in = user

    def exchange(self, pending: RequestToken, user: User) -> tuple[str, str]:
        """Return a new access token of a user and its secret; the request token is spent."""
        del self.requests[pending.token]
        token, secret = f"{user.id}-{self._letters(30)}", self._letters(40)
        self.access[token] = secret
        if not pending.may_write:
            self.readers.add(token)
        return token, secret

    def give_bearer(self) -> str:
        """The application's bearer token: the same until it is invalidated. It has a character that URLs escape."""
        if self.bearer is None:
            self.bearer = f"{self._letters(40)}%2F{self._letters(20)}"
        return self.bearer

    def _letters(self, count: int) -> str:
        return "local" + "".join(self._chance.choices(_LETTERS, k=count))
