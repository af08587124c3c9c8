"""Lists of people's phone numbers and of ids of partners' own making, as both stand in files. All are invented.

The mobile ranges are those that the countries' regulators publish, weighed by how many people have them.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import datetime
from typing import Final

MakeList = Callable[[random.Random, int], list[str]]

# Country: its calling code, its trunk prefix, and how mobile numbers begin ("%": 2 to 9) and how many digits follow.
_PLANS: Final[dict[str, tuple[str, str, tuple[tuple[str, int], ...]]]] = {
    "DE": ("49", "0", (("1511 1515 1520 1522 1575 1590", 7), ("160 162 163 170 171 172 173 175 177 178", 7))),
    "GB": ("44", "0", (("73 74 75 77 78 79", 8),)),
    "FR": ("33", "0", (("6 6 6 76 77 78", 8),)),
    "ES": ("34", "", (("6 6 6 71 72", 8),)),
    "IT": ("39", "", (("320 328 333 335 338 340 347 349 366 380 391 393", 7),)),
    "NL": ("31", "0", (("61 62 63 64 65", 7),)),
    "PL": ("48", "", (("50 51 53 60 66 69 72 73 78 79 88", 7),)),
    "AT": ("43", "0", (("650 660 664 676 680 699", 7),)),
    "CH": ("41", "0", (("75 76 77 78 79", 7),)),
    "US": ("1", "", (("201% 212% 305% 312% 404% 415% 512% 617% 702% 713% 818% 917%", 6),)),
    "IN": ("91", "0", (("6 7 8 8 9 9 9", 9),)),
    "BR": ("55", "0", (("119 119 219 319 419 519 619 719 819", 8),)),
    "AU": ("61", "0", (("4", 8),)),
    "JP": ("81", "0", (("70% 80% 90%", 7),)),
    "TR": ("90", "0", (("530 532 535 541 542 505 506 551", 7),)),
    "ZA": ("27", "0", (("60 61 71 72 73 76 82 83 84", 7),)),
}


def mobile(country: str, chance: random.Random) -> str:
    """A mobile number of `country`, with neither a trunk prefix nor a calling code."""
    starts, size = chance.choice(_PLANS[country][2])
    start = chance.choice(starts.split()).replace("%", chance.choice("23456789"))
    whole = min(map(len, starts.split())) + size
    return start + "".join(chance.choices("0123456789", k=whole - len(start)))


def written(country: str, way: str, chance: random.Random) -> str:
    """A number of `country`: "bare" as a spreadsheet leaves it, with its "trunk" prefix, or its "code" with or without
    "00"."""
    code, trunk, _ = _PLANS[country]
    before = {"bare": "", "trunk": trunk, "code": code, "00": "00" + code}[way]
    return before + mobile(country, chance)


def _mixed(*parts: str, others: float = 0.0) -> MakeList:
    """Equal parts of each "COUNTRY way"; a share of `others` are any digits."""
    pairs = [[*part.split(), "bare"][:2] for part in parts]

    def one(chance: random.Random) -> str:
        country, way = chance.choice(pairs)
        if chance.random() < others:
            size = chance.randrange(8, 12)
            return str(chance.randrange(10 ** (size - 1), 10**size))
        return written(country, way, chance)

    return lambda chance, size: [one(chance) for _ in range(size)]


def _in_turn(*forms: str) -> MakeList:
    """As people invent numbers: one beginning of each country, and a counter in place of each "#"."""

    def many(_: random.Random, size: int) -> list[str]:
        counted = [(forms[place % len(forms)], place // len(forms) + 1) for place in range(size)]
        return [form.replace("#", "") + f"{count:0{form.count('#')}}" for form, count in counted]

    return many


_EUROPE: Final = ("DE", "GB", "FR", "ES", "IT", "NL", "PL", "AT", "CH")

PHONES: Final[dict[str, MakeList]] = {
    "German, British and French": _mixed("DE", "GB", "FR"),
    "the same, one in ten is something else": _mixed("DE", "GB", "FR", others=0.1),
    "German with the zero, American, French, Indian": _mixed("DE trunk", "US", "FR", "IN"),
    "American and Indian": _mixed("US", "IN"),
    "American and British": _mixed("US", "GB"),
    "American, British, Indian, Australian": _mixed("US", "GB", "IN", "AU"),
    "Indian, Japanese, Turkish": _mixed("IN", "JP", "TR"),
    "French, Spanish, Italian": _mixed("FR", "ES", "IT"),
    "Spanish and Polish": _mixed("ES", "PL"),
    "German, Austrian, Swiss": _mixed("DE", "AT", "CH"),
    "Spanish and American, a third German with the zero": _mixed("ES", "US", "DE trunk"),
    "of Europe": _mixed(*_EUROPE),
    "of the world": _mixed(*_PLANS),
    "of the world, half with trunk prefixes": _mixed(*_PLANS, *(f"{country} trunk" for country in _PLANS)),
    "of the world, in every way": _mixed(*(f"{c} {way}" for c in _PLANS for way in ("bare", "trunk", "code", "00"))),
    "of the world, with codes": _mixed(*(f"{country} code" for country in _PLANS)),
    "invented German, British and French": _in_turn("1511#######", "7400######", "6120#####"),
    "invented American and Indian": _in_turn("201555####", "98765#####"),
    "invented British and Australian": _in_turn("7400######", "4125#####"),
    "invented French, Australian, Spanish": _in_turn("6123#####", "4125#####", "7123#####"),
    "invented, German with the zero among them": _in_turn("015110######", "201555####", "6123#####", "98765#####"),
}


def _each(make: Callable[[random.Random], str]) -> MakeList:
    return lambda chance, size: [make(chance) for _ in range(size)]


def _between(low: int, high: int, width: int = 0) -> MakeList:
    return _each(lambda chance: f"{chance.randrange(low, high):0{width}}")


def _counter(first: int, step: int = 1) -> MakeList:
    return lambda chance, size: [str(first + place * step) for place in range(size)]


def _seconds(year: int) -> int:
    return int(datetime.fromisoformat(f"{year}-01-01T00:00:00+00:00").timestamp())


IDS: Final[dict[str, MakeList]] = {
    **{f"random, {size} digits": _between(10 ** (size - 1), 10**size) for size in range(7, 18)},
    "random below 10^10": _between(0, 10**10),
    "random of 32 bits": _between(0, 2**31),
    "random of 32 bits without sign": _between(0, 2**32),
    **{f"counter from {first}": _counter(first) for first in (10**6, 10**7 + 1, 10**8, 10**9 + 1, 10**10, 10**11)},
    **{f"counter in steps from {first}": _counter(first, 37) for first in (5 * 10**8, 6 * 10**9, 7 * 10**9, 9 * 10**8)},
    "counter of a year": _counter(2024_000_001),
    "counter over a power of ten": _counter(999_999_990),
    "counters of two systems": lambda chance, size: [str((5 * 10**8, 7 * 10**9)[n % 2] + n) for n in range(size)],
    "Unix times": _between(_seconds(2015), _seconds(2026)),
    "Unix times of the century": _between(_seconds(2001), _seconds(2026)),
    "Unix times, early": _between(_seconds(2000), _seconds(2015)),
    "Unix times in milliseconds": _between(_seconds(2015) * 1000, _seconds(2026) * 1000),
    "date and four digits": _each(
        lambda c: f"2024{c.randrange(1, 13):02}{c.randrange(1, 29):02}{c.randrange(10**4):04}"
    ),
    "day of birth": _each(lambda c: f"{c.randrange(1940, 2005)}{c.randrange(1, 13):02}{c.randrange(1, 29):02}"),
    "order numbers": _each(lambda c: f"{c.randrange(100, 1000)}-{c.randrange(10**7):07}-{c.randrange(10**7):07}"),
    "with zeros in front, ten digits": _between(0, 10**7, 10),
    "with zeros in front, twelve digits": _between(0, 10**8, 12),
    "hexadecimal, eight digits": _each(lambda c: f"{c.getrandbits(32):08x}"),
    "hexadecimal, ten digits": _each(lambda c: f"{c.getrandbits(40):010x}"),
    "hexadecimal, twelve digits": _each(lambda c: f"{c.getrandbits(48):012x}"),
    "hexadecimal, sixteen digits": _each(lambda c: f"{c.getrandbits(64):016x}"),
    "loyalty cards": _each(lambda c: f"630123{c.randrange(10**10):010}"),
    "serial numbers of devices": _each(lambda c: with_check_digit(f"35{c.randrange(10**12):012}")),
    "base 36": _each(lambda c: "".join(c.choices("0123456789abcdefghijklmnopqrstuvwxyz", k=10))),
    "base 64": _each(
        lambda c: "".join(c.choices("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", k=16))
    ),
}


def with_check_digit(digits: str) -> str:
    """`digits` and the one behind them that ISO/IEC 7812-1 (Luhn) asks for."""
    doubled = [int(d) * (2 - place % 2) for place, d in enumerate(reversed(digits))]
    return digits + str(-sum(value - 9 * (value > 9) for value in doubled) % 10)


def with_check_number(country: str, account: str) -> str:
    """The IBAN of `account` in `country`, by ISO 13616: the rest of 97 is to be 1."""
    number = "".join(str(int(sign, 36)) for sign in f"{account}{country}00")
    return f"{country}{98 - int(number) % 97:02}{account}"
