"""The one application, user, account and audience that an emulator has at its start."""

from __future__ import annotations

import random
import string
from dataclasses import dataclass, field
from typing import Final

_DIGITS: Final = string.digits + string.ascii_lowercase
_LETTERS: Final = string.ascii_letters + string.digits
_LONG_IDS_BEGAN: Final = 1_288_834_974_657  # epoch milliseconds
_SERIAL_BITS: Final = 22


def base36(number: int) -> str:
    """`number` in the digits that ids are written in: 0-9, a-z."""
    digits = ""
    while True:
        number, digit = divmod(number, 36)
        digits = _DIGITS[digit] + digits
        if not number:
            return digits


def long_id(epoch: float, serial: int) -> str:
    """An id that grows with time, too large for a float to hold: milliseconds since 2010 above 22 bits of serial."""
    return str(max(0, int(epoch * 1_000) - _LONG_IDS_BEGAN) << _SERIAL_BITS | serial % (1 << _SERIAL_BITS))


@dataclass(frozen=True, slots=True)
class Credentials:
    """The credentials that a client needs. Each begins with `local`, and no other service takes it."""

    consumer_key: str
    consumer_secret: str = field(repr=False)
    access_token: str
    access_token_secret: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Origin:
    """Values that follow from a seed: the same seed gives the same emulator."""

    credentials: Credentials
    account_id: str
    first_serial: int  # the number behind the id of the first audience
    user_id: str
    business_id: str
    foreign_account_id: str  # exists, but is no account of the user
    foreign_business_id: str


def make_origin(seed: int) -> Origin:
    """Return credentials and ids of the emulator with this seed."""
    chance = random.Random(f"audiencekit emulator {seed}")
    consumer_key, consumer_secret, token, token_secret = (_local(chance, length) for length in (20, 45, 30, 40))
    user_id = str(chance.randrange(10**9, 10**10))
    return Origin(
        credentials=Credentials(consumer_key, consumer_secret, f"{user_id}-{token}", token_secret),
        account_id=_account_id(chance),
        first_serial=chance.randrange(36**4, 36**5 // 2),
        user_id=user_id,
        business_id=base36(chance.randrange(36**5, 36**6)),
        foreign_account_id=_account_id(chance),
        foreign_business_id=base36(chance.randrange(36**5, 36**6)),
    )


def _account_id(chance: random.Random) -> str:
    return "18ce5" + base36(chance.randrange(36**5, 36**6))


def _local(chance: random.Random, length: int) -> str:
    return "local" + "".join(chance.choices(_LETTERS, k=length))
