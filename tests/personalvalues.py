"""Ten thousand values of people, and ten thousand ids of partners' own making, by style. All are invented.

The code under test shares nothing with these: numbers are made by the published examples of each country's plan.
"""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable, Iterator
from functools import cache
from typing import Final

Make = Callable[[random.Random], str]

# Country: how its numbers are written at home ("#" any digit, "%" 2 to 9), and its calling code with what follows it.
_NATIONAL: Final[dict[str, tuple[str, str]]] = {
    "US": ("201555####", "1201555####"),
    "US, any": ("%##%######", "1%##%######"),
    "US, another state": ("415555####", "1415555####"),
    "DE": ("0151########", "49151########"),
    "DE, fixed": ("030%######", "4930%######"),
    "GB": ("07400######", "447400######"),
    "GB, fixed": ("0207946####", "44207946####"),
    "FR": ("0612######", "33612######"),
    "FR, fixed": ("0142######", "33142######"),
    "ES": ("612######", "34612######"),
    "IT": ("347#######", "39347#######"),
    "PL": ("512######", "48512######"),
    "NL": ("06123#####", "316123#####"),
    "AT": ("0664#######", "43664#######"),
    "CH": ("07812#####", "417812#####"),
    "BE": ("0470######", "32470######"),
    "SE": ("070123####", "4670123####"),
    "BR, any": ("%%9########", "55%%9########"),
    "BR": ("119612#####", "55119612#####"),
    "IN": ("98765#####", "9198765#####"),
    "JP": ("0901234####", "81901234####"),
    "AU": ("0412######", "61412######"),
    "TR": ("0501234####", "90501234####"),
    "ZA": ("0711######", "27711######"),
    "MX": ("2221######", "522221######"),
}
_NAMES: Final = ("Ada Quist", "Bo Lindgren", "Quist, Ada", "Zoë Ångström", "José María Niño", "山田太郎", "O’Neill Bea")


def _filled(form: str, chance: random.Random) -> str:
    digits = {"#": "0123456789", "%": "23456789"}
    return "".join(chance.choice(digits[sign]) if sign in digits else sign for sign in form)


def _grouped(digits: str, sizes: tuple[int, ...], sign: str) -> str:
    parts, rest = [], digits
    for size in sizes:
        parts.append(rest[:size])
        rest = rest[size:]
    return sign.join([*parts, rest])


def _bare() -> Iterator[tuple[str, Make]]:
    for country, (home, abroad) in _NATIONAL.items():
        yield f"{country}, at home", lambda chance, form=home: _filled(form, chance)  # type: ignore[misc]
        yield f"{country}, without plus", lambda chance, form=abroad: _filled(form, chance)  # type: ignore[misc]
        yield f"{country}, 00", lambda chance, form=abroad: "00" + _filled(form, chance)  # type: ignore[misc]
    for country in ("DE", "GB", "FR", "NL", "AU", "ZA"):  # a spreadsheet has taken the zero off
        form = _NATIONAL[country][0].removeprefix("0")
        yield f"{country}, zero lost", lambda chance, form=form: _filled(form, chance)  # type: ignore[misc]


def _written() -> Iterator[tuple[str, Make]]:
    for country, (home, abroad) in _NATIONAL.items():
        yield f"{country}, plus", lambda chance, form=abroad: "+" + _filled(form, chance)  # type: ignore[misc]
        yield f"{country}, spaces", lambda chance, form=home: _grouped(_filled(form, chance), (4, 3), " ")  # type: ignore[misc]
    yield "US, brackets", lambda chance: _filled("(201) 555-####", chance)
    yield "US, dots", lambda chance: _filled("201.555.####", chance)
    yield "US, dashes", lambda chance: _filled("201-555-####", chance)
    yield "FR, pairs", lambda chance: _filled("06 12 ## ## ##", chance)
    yield "FR, dotted", lambda chance: _filled("06.12.##.##.##", chance)
    yield "BR, brackets", lambda chance: _filled("(11) 9612#-####", chance)
    yield "DE, slash", lambda chance: _filled("0151/########", chance)
    yield "tel", lambda chance: _filled("tel:+49-151-########", chance)
    yield "float, DE", lambda chance: _filled("49151########.0", chance)
    yield "float, US", lambda chance: _filled("201555####.0", chance)
    yield "apostrophe", lambda chance: _filled("'0151########", chance)
    yield "quotes", lambda chance: _filled('"0151########"', chance)
    yield "formula", lambda chance: _filled('="0151########"', chance)
    yield "exponent", lambda chance: _filled("4.9151#######%E+12", chance)
    yield "exponent, comma", lambda chance: _filled("4,9151E+12", chance)
    yield "tel, at home", lambda chance: _filled("tel:0151########", chance)
    yield "phone", lambda chance: _filled("Phone: 0151########", chance)
    yield "wa.me", lambda chance: _filled("wa.me/49151########", chance)
    yield "US, two groups", lambda chance: _filled("201-555####", chance)
    yield "US, six and four", lambda chance: _filled("201555 ####", chance)
    yield "US, underscores", lambda chance: _filled("201_555_####", chance)
    yield "US, extension", lambda chance: _filled("201555####x12", chance)
    yield "GB, extension", lambda chance: _filled("020 7946 0### ext. 5", chance)
    yield "DE, country and rest", lambda chance: _filled("49-151########", chance)
    yield "DE, bar", lambda chance: _filled("0151|########", chance)
    yield "DE, comma", lambda chance: _filled("0151,########", chance)
    yield "DE, en dash", lambda chance: _filled("0151–########", chance)
    yield "DE, plus behind", lambda chance: _filled("49151########+", chance)
    yield "mobile", lambda chance: _filled("mob. +49 151 ########", chance)


def _others() -> Iterator[tuple[str, Make]]:
    yield "address", lambda chance: f"ada.{chance.randrange(10**6)}@canarymail.com"
    yield "address in capitals", lambda chance: f"ADA{chance.randrange(10**6)}@CANARYMAIL.COM"
    yield "address with name", lambda chance: f"Ada Quist <ada{chance.randrange(10**6)}@canarymail.com>"
    yield "handle", lambda chance: f"@ada_{chance.randrange(10**6)}"
    yield "page", lambda chance: f"https://x.com/ada{chance.randrange(10**6)}"
    yield "name", lambda chance: chance.choice(_NAMES)


_PERSONAL: Final = dict([*_bare(), *_written(), *_others()])
BARE: Final = tuple(style for style, _ in _bare())

_OWN: Final[dict[str, Make]] = {
    **{
        f"{size} digits": (lambda chance, size=size: str(chance.randrange(10 ** (size - 1), 10**size)))  # type: ignore[misc]
        for size in range(4, 10)
    },
    **{
        f"{size} digits": (lambda chance, size=size: str(chance.randrange(10 ** (size - 1), 10**size)))  # type: ignore[misc]
        for size in range(11, 20)
    },
    "eight digits with zeros": lambda chance: f"{chance.randrange(10**6):08}",
    "ten digits with zeros": lambda chance: f"{chance.randrange(10**7):010}",
    "UUID": lambda chance: str(uuid.UUID(int=chance.getrandbits(128), version=4)),
    "UUID in hex": lambda chance: uuid.UUID(int=chance.getrandbits(128)).hex,
    "snowflake": lambda chance: str(chance.randrange(10**17, 2**63)),
    "milliseconds": lambda chance: str(1_700_000_000_000 + chance.randrange(10**10)),
    "prefix": lambda chance: f"CRM-{chance.randrange(10**6):06}",
    "year and number": lambda chance: f"2024{chance.randrange(10**5):05}",
    "year": lambda chance: f"2024-{chance.randrange(10**5):05}",
    "year and six": lambda chance: f"2024-{chance.randrange(10**6):06}",
    "branch and number": lambda chance: f"{chance.randrange(100, 1000)}-{chance.randrange(10**5):05}",
    "order": lambda chance: f"{chance.randrange(100, 1000)}-{chance.randrange(10**7):07}-{chance.randrange(10**7):07}",
    "four and four and four": lambda chance: "-".join(str(chance.randrange(1000, 10**4)) for _ in range(3)),
    "float": lambda chance: f"{chance.randrange(10**7, 10**8)}.0",
    "float of eleven": lambda chance: f"{chance.randrange(10**10, 10**11)}.0",
    "quoted": lambda chance: f"'{chance.randrange(10**10, 10**11)}",
    "hexadecimal": lambda chance: f"{chance.randrange(10**8)}x{chance.randrange(10**3)}",
    "version": lambda chance: f"1.{chance.randrange(10**3)}.{chance.randrange(10**5)}",
    "dotted": lambda chance: f"crm.{chance.randrange(10**8)}.de",
    "letters": lambda chance: "".join(chance.choices("abcdefghijkmnpqrstuvwxyz23456789", k=12)),
    "salesforce": lambda chance: "003" + "".join(chance.choices("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdef0123456789", k=15)),
    "word and number": lambda chance: f"customer {chance.randrange(10**5)}",
    "base64": lambda chance: "".join(chance.choices("ABCDEFghijkl0123456789+/", k=10)) + "z=",
}


@cache
def personal_values(each: int | None = None) -> dict[str, list[str]]:
    """Values of people by style, 10,000 in all unless `each` says how many of a style."""
    return _made(_PERSONAL, each)


@cache
def own_ids(each: int | None = None) -> dict[str, list[str]]:
    """Ids by style, 10,000 in all unless `each` says how many of a style."""
    return _made(_OWN, each)


def _made(styles: dict[str, Make], each: int | None) -> dict[str, list[str]]:
    chance = random.Random(2018)
    number = each or -(-10_000 // len(styles))
    return {style: [make(chance) for _ in range(number)] for style, make in styles.items()}
