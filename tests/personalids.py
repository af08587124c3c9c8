"""Columns of what people put into a partner id by mistake, and of ids that systems make. All are invented.

The word lists are of this file alone: the code under test and the other tests share nothing with them. The forms were
written before the rule that they measure, and some are of a kind that it cannot know.
"""

from __future__ import annotations

import base64
import random
import uuid
from collections.abc import Callable
from typing import Final

Make = Callable[[random.Random], str]
MakeColumn = Callable[[random.Random, int], list[str]]

_FIRST: Final = tuple(
    (  # noqa: SIM905
        "Greta Johannes Swantje Piotr Agnieszka Matteo Chiara Yusuf Leyla Niamh Callum Rhiannon Bjarne Solveig Aino "
        "Mikko Ondrej Zuzana Iker Nerea Thiago Beatriz Rohan Priya Wei Haruto Minh Kwame Chidi Fatou Olga Dmitri "
        "Imogen Declan Hudson Savannah Tyrone Consuelo Esteban Margot"
    ).split()
)
_LAST: Final = tuple(
    (  # noqa: SIM905
        "Petersen Wojcik Nowakowski Rossi Esposito Yilmaz Demir Gallagher Kerr Pritchard Haugen Lindqvist Virtanen "
        "Korhonen Dvorak Novotna Etxeberria Carvalho Teixeira Chatterjee Venkatesh Zhang Tanaka Nguyen Mensah Okonkwo "
        "Diallo Ivanova Sokolov Hargreaves Whitcombe Blackwood Calloway Washington Marquez Villanueva Dubois Lefebvre "
        "Vandenberg Huber"
    ).split()
)
_STREETS: Final = tuple("Lindenweg Marktplatz Gartenallee Kirchgasse Seestrasse Bachweg Rosenpfad Amselweg".split())  # noqa: SIM905
_ROADS: Final = ("Maple Avenue", "Elm Street", "Station Road", "Victoria Lane", "Oak Drive", "Mill Close", "Hill View")
_TOWNS: Final = tuple(
    "Kassel Bremen Leeds Swindon Lyon Nantes Malmo Graz Tulsa Dayton Fresno Porto Gdynia Brno".split()  # noqa: SIM905
)
_MONTHS: Final = tuple("Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split())  # noqa: SIM905


def _digits(chance: random.Random, count: int) -> str:
    return "".join(chance.choices("0123456789", k=count))


def _first(chance: random.Random) -> str:
    return chance.choice(_FIRST)


def _last(chance: random.Random) -> str:
    return chance.choice(_LAST)


def _born(chance: random.Random) -> tuple[int, int, int]:
    return chance.randrange(1938, 2006), chance.randrange(1, 13), chance.randrange(1, 29)


def _birthday(form: str) -> Make:
    def make(chance: random.Random) -> str:
        year, month, day = _born(chance)
        return form.format(
            y=year, m=month, d=day, yy=year % 100, month=_MONTHS[month - 1], first=_first(chance), last=_last(chance)
        )

    return make


def _german(chance: random.Random) -> str:
    return chance.choice(("151", "160", "170", "176", "172", "157")) + _digits(chance, 8)


def _american(chance: random.Random) -> str:
    area = chance.choice(("206", "303", "404", "512", "617", "702", "804", "919", "972", "240"))
    return f"{area}{chance.randrange(2, 10)}{_digits(chance, 6)}"


def _british(chance: random.Random) -> str:
    return chance.choice(("74", "75", "77", "78", "79")) + _digits(chance, 8)


def _slug(chance: random.Random) -> str:
    return f"{_first(chance)}-{_last(chance)}".lower()


def _social(chance: random.Random) -> str:
    return f"{chance.randrange(1, 666):03}-{chance.randrange(1, 100):02}-{chance.randrange(1, 10_000):04}"


def _tax_number_of_brazil(chance: random.Random) -> str:
    digits = [chance.randrange(10) for _ in range(9)]
    for _ in range(2):
        rest = (
            sum(digit * weight for digit, weight in zip(digits, range(len(digits) + 1, 1, -1), strict=True)) * 10 % 11
        )
        digits.append(rest % 10)
    text = "".join(map(str, digits))
    return f"{text[:3]}.{text[3:6]}.{text[6:9]}-{text[9:]}"


def _pesel(chance: random.Random) -> str:
    year, month, day = _born(chance)
    text = f"{year % 100:02}{month + 20 * (year >= 2000):02}{day:02}{_digits(chance, 4)}"
    return text + str(-sum(int(d) * w for d, w in zip(text, (1, 3, 7, 9) * 3, strict=False)) % 10)


def _dni(chance: random.Random) -> str:
    number = chance.randrange(10**8)
    return f"{number:08}{'TRWAGMYFPDXBNJZSQVHLCKE'[number % 23]}"


def _fiscal_code(chance: random.Random) -> str:
    letters = "".join(chance.choices("BCDFGLMNPRSTV", k=6))
    year, _, day = _born(chance)
    return (
        f"{letters}{year % 100:02}{chance.choice('ABCDEHLMPRST')}{day:02}{chance.choice('ADFGHL')}{_digits(chance, 3)}X"
    )


def _mac(sign: str) -> Make:
    return lambda chance: sign.join(f"{chance.randrange(256):02X}" for _ in range(6))


def _address(chance: random.Random) -> str:
    return f"{chance.choice(_STREETS)} {chance.randrange(1, 200)}"


def _place(chance: random.Random, form: str) -> str:
    return form.format(chance.uniform(36, 60), chance.uniform(-10, 25))


# By form: what is in it, and how it is written.
PERSONAL: Final[dict[str, Make]] = {
    "social security number": _social,
    "social security number, spaces": lambda c: _social(c).replace("-", " "),
    "social security number behind a word": lambda c: f"SSN:{_social(c)}",
    "tax number of Brazil": _tax_number_of_brazil,
    "tax number of Brazil, digits": lambda c: _tax_number_of_brazil(c).replace(".", "").replace("-", ""),
    "personal number of Poland": _pesel,
    "identity card of Spain": _dni,
    "tax code of Italy": _fiscal_code,
    "insurance number of Britain": lambda c: f"{c.choice(('AB', 'CE', 'JK', 'PX'))}{_digits(c, 6)}{c.choice('ABCD')}",
    "personal number of Sweden": _birthday("{yy:02}{m:02}{d:02}-{yy:02}{m:02}"),
    "insurance number of Switzerland": lambda c: f"756.{_digits(c, 4)}.{_digits(c, 4)}.{_digits(c, 2)}",
    "name and birthday, dots": _birthday("{first} {last} {d:02}.{m:02}.{y}"),
    "name and birthday, brackets": _birthday("{last}, {first} (*{d}.{m}.{yy:02})"),
    "name and birthday, underscores": _birthday("{first}_{last}_{y}{m:02}{d:02}"),
    "name and birthday, bar": _birthday("{last}|{first}|{y}-{m:02}-{d:02}"),
    "name, dot, year": _birthday("{first}.{last}.{y}"),
    "name, dash, year": _birthday("{first}-{last}-{y}"),
    "name and year together": _birthday("{first}{last}{y}"),
    "last name and two digits": _birthday("{last}{yy:02}"),
    "first letter and last name": lambda c: f"{_first(c)[0]}{_last(c)}".lower(),
    "name with a dot": lambda c: f"{_first(c)}.{_last(c)}".lower(),
    "name with an underscore": lambda c: f"{_first(c)}_{_last(c)}".lower(),
    "name in capitals with a dash": lambda c: f"{_last(c)}-{_first(c)}".upper(),
    "name and customer number": lambda c: f"{_first(c)} {_last(c)} #{c.randrange(10**5)}",
    "initial and last name with number": lambda c: f"{_first(c)[0]}. {_last(c)} {c.randrange(100, 999)}",
    "name and number": lambda c: f"{_first(c)} {_last(c)} 49{_german(c)}",
    "number and name": lambda c: f"0{_german(c)} {_first(c)}",
    "name, slash, number": lambda c: f"{_last(c)}/0{_german(c)}",
    "name, underscore, British number": lambda c: f"{_first(c)}_44{_british(c)}",
    "number behind id:": lambda c: f"id:0{_german(c)}",
    "number behind user_": lambda c: f"user_49{_german(c)}",
    "number behind CUST": lambda c: f"CUST0{_german(c)}",
    "number behind customer-": lambda c: f"customer-1{_american(c)}",
    "American number behind a word": lambda c: f"member {_american(c)}",
    "number behind a word, in groups": lambda c: f"nr 0{c.choice((151, 160, 170))} {_digits(c, 4)} {_digits(c, 4)}",
    "number in front of a word": lambda c: f"49{_german(c)}_de",
    "British number without prefix behind a word": lambda c: f"cid_{_british(c)}",
    "postal address of Germany": lambda c: f"{_address(c)}, {c.randrange(10**4, 10**5)} {c.choice(_TOWNS)}",
    "postal address of America": lambda c: (
        f"{c.randrange(1, 9000)} {c.choice(_ROADS)}, {c.choice(_TOWNS)} {_digits(c, 5)}"
    ),
    "street and number": _address,
    "postal address, underscores": lambda c: (
        f"{_digits(c, 5)}_{c.choice(_TOWNS)}_{c.choice(_STREETS)}_{c.randrange(99)}"
    ),
    "postal code of Britain": lambda c: (
        f"{c.choice(('LS', 'SN', 'M', 'EH'))}{c.randrange(1, 20)} {c.randrange(1, 9)}AB"
    ),
    "name and postal code": lambda c: f"{_last(c)} {_digits(c, 5)}",
    "profile, linkedin": lambda c: f"https://www.linkedin.com/in/{_slug(c)}-{c.randrange(1000)}",
    "profile, without scheme": lambda c: f"facebook.com/{_slug(c).replace('-', '.')}",
    "profile, www": lambda c: f"www.instagram.com/{_slug(c).replace('-', '_')}/",
    "profile, by number": lambda c: f"https://www.facebook.com/profile.php?id={_digits(c, 15)}",
    "date, ISO": _birthday("{y}-{m:02}-{d:02}"),
    "date, dots": _birthday("{d}.{m}.{y}"),
    "date, American": _birthday("{m}/{d}/{y}"),
    "date, two digits": _birthday("{d:02}/{m:02}/{yy:02}"),
    "date, month in words": _birthday("{d} {month} {y}"),
    "date, month in words, dashes": _birthday("{d:02}-{month}-{y}"),
    "date behind a word": _birthday("dob:{y}/{m:02}/{d:02}"),
    "date with time": _birthday("{y}-{m:02}-{d:02} 00:00:00"),
    "date in digits alone": _birthday("{y}{m:02}{d:02}"),
    "MAC, colons": _mac(":"),
    "MAC, dashes": lambda c: _mac("-")(c).lower(),
    "MAC, dots": lambda c: ".".join(f"{c.randrange(16**4):04x}" for _ in range(3)),
    "MAC, digits alone": _mac(""),
    "coordinates, comma": lambda c: _place(c, "{:.6f},{:.6f}"),
    "coordinates, space": lambda c: _place(c, "{:.4f} {:.4f}"),
    "coordinates, geo:": lambda c: _place(c, "geo:{:.5f},{:.5f}"),
    "coordinates, brackets": lambda c: _place(c, "({:.5f}; {:.5f})"),
    "coordinates, underscore": lambda c: _place(c, "{:.4f}_{:.4f}"),
    "name in percent signs": lambda c: f"{_first(c)}%20{_last(c)}%20{c.randrange(1940, 2005)}",
    "name in base64": lambda c: base64.b64encode(f"{_first(c)} {_last(c)} {c.randrange(1940, 2005)}".encode()).decode(),
    "name in JSON": lambda c: f'{{"n":"{_first(c)} {_last(c)}","y":{c.randrange(1940, 2005)}}}',
    "name with an umlaut and a year": lambda c: (
        f"{c.choice(('Jürgen', 'Zoë', 'Søren', 'Núria'))}{c.randrange(1940, 2005)}"
    ),
    "name in Chinese and a number": lambda c: f"{c.choice(('王芳', '李伟', '张敏', '刘洋'))}{_digits(c, 4)}",
    "car": lambda c: f"{c.choice(('B', 'HH', 'KS'))}-{c.choice('ABCDE')}{c.choice('KLMN')} {c.randrange(1, 9999)}",
    "name of a company and number": lambda c: f"{_last(c)} GmbH {c.randrange(1000)}",
    "American number without a sign, seven digits": lambda c: f"c{_digits(c, 7)}",
    "passport": lambda c: f"C{_digits(c, 8)}",
}

_BASE62: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
_CROCKFORD: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_UNRESERVED: Final = _BASE62 + "-_"


def _of(signs: str, count: int, before: str = "") -> Make:
    return lambda chance: before + "".join(chance.choices(signs, k=count))


def _each(make: Make) -> MakeColumn:
    return lambda chance, size: [make(chance) for _ in range(size)]


def _counter(digits: int) -> MakeColumn:
    """A counter that began somewhere, with gaps, as a table's key has them."""

    def many(chance: random.Random, size: int) -> list[str]:
        last = 10**digits - 1
        first = 1 if digits <= 3 else 10 ** (digits - 1)
        return [
            str(min(last, first + place * 3 + chance.randrange(3)) if digits > 3 else place % last + 1)
            for place in range(size)
        ]

    return many


def _salesforce(chance: random.Random) -> str:
    return f"0035g00000{''.join(chance.choices(_BASE62, k=5))}"


def _uuid7(chance: random.Random) -> str:
    number = (1_700_000_000_000 + chance.randrange(10**10)) << 80 | chance.getrandbits(80)
    return str(uuid.UUID(int=number & ~(0xF000 << 64) & ~(0xC000 << 48) | 0x7000 << 64 | 0x8000 << 48))


def _day(chance: random.Random) -> str:
    return f"{chance.randrange(2019, 2027)}-{chance.randrange(1, 13):02}-{chance.randrange(1, 29):02}"


OPAQUE: Final[dict[str, MakeColumn]] = {
    "Shopify": _each(lambda c: f"gid://shopify/Customer/{6_940_000_000_000 + c.randrange(10**9)}"),
    "Shopify, wide": _each(lambda c: f"gid://shopify/Customer/{c.randrange(10**11, 9 * 10**12)}"),
    "Salesforce, 15": _each(_salesforce),
    "Salesforce, 18": _each(lambda c: _salesforce(c) + "".join(c.choices("ABCDEFGHIJKLMNOPQRSTUVWXYZ012345", k=3))),
    "Stripe": _each(_of(_BASE62, 14, "cus_")),
    "UUID 4": _each(lambda c: str(uuid.UUID(int=c.getrandbits(128), version=4))),
    "UUID 4 in capitals and braces": _each(lambda c: f"{{{uuid.UUID(int=c.getrandbits(128), version=4)}}}".upper()),
    "UUID 7": _each(_uuid7),
    "UUID as urn": _each(lambda c: uuid.UUID(int=c.getrandbits(128), version=4).urn),
    "ULID": _each(_of(_CROCKFORD, 16, "01HV9Z4K5Q")),
    "CUST and five digits": _each(lambda c: f"CUST{c.randrange(10**5):05}"),
    "CUST and eight digits": _each(lambda c: f"CUST{c.randrange(10**8):08}"),
    "CUST and ten digits": _each(lambda c: f"CUST{c.randrange(10**9, 10**10)}"),
    "CUST and eleven digits": _each(lambda c: f"CUST-{c.randrange(10**10, 10**11)}"),
    "CUST and a counter of ten digits": lambda c, size: [f"CUST{4_521_000_000 + n * 7}" for n in range(size)],
    "CUST and zeros": lambda c, size: [f"CUST_{n:010}" for n in range(size)],
    "order with its day": _each(lambda c: f"ORD-{_day(c)}-{c.randrange(10**4):04}"),
    "order with its day, three digits": _each(lambda c: f"ORD{_day(c).replace('-', '')}{c.randrange(10**3):03}"),
    "order with its year": _each(lambda c: f"INV/{c.randrange(2019, 2027)}/{c.randrange(10**6):06}"),
    "HubSpot": _each(lambda c: str(c.randrange(51, 9 * 10**8))),
    "HubSpot, one size": lambda c, size: [str(12_000_000_000 + n * 50) for n in range(size)],
    "ObjectId": _each(lambda c: f"{1_600_000_000 + c.randrange(10**8):08x}{c.getrandbits(64):016x}"),
    "base64url": _each(_of(_UNRESERVED, 22)),
    "base64": _each(lambda c: base64.b64encode(c.randbytes(16)).decode()),
    "nanoid": _each(_of(_UNRESERVED, 21)),
    "nanoid, short": _each(_of(_UNRESERVED, 10)),
    "cuid": _each(_of("abcdefghijklmnopqrstuvwxyz0123456789", 24, "c")),
    "KSUID": _each(_of(_BASE62, 27)),
    "sqids": _each(_of(_BASE62, 6)),
    "letters alone": _each(_of("abcdefghijklmnopqrstuvwxyz", 10)),
    "letters alone, capitals in groups": _each(
        lambda c: "-".join(_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ", 4)(c) for _ in range(3))
    ),
    "country and number": _each(lambda c: f"{c.choice(('DE', 'FR', 'US', 'PL', 'GB'))}-{c.randrange(10**4, 10**5)}"),
    "K and zeros": _each(lambda c: f"K-{c.randrange(10**4):06}"),
    "town and number": _each(lambda c: f"{c.choice(('BER', 'HAM', 'MUC', 'PAR'))}-{c.randrange(10**6):06}"),
    "level and number": _each(lambda c: f"{c.choice(('gold', 'silver', 'bronze'))}-{c.randrange(10**6):06}"),
    "word and number": _each(lambda c: f"Kunde {c.randrange(10**5)}"),
    "word, sign and number": _each(lambda c: f"Member #{c.randrange(10**6)}"),
    "article": _each(
        lambda c: f"{_of('ABCDEFGHKLMNPRSTUVWX', 3)(c)}-{_of('ABCDEFGHKLMNPRSTUVWX', 2)(c)}-{c.randrange(1000):03}"
    ),
    "licence key": _each(lambda c: "-".join(_of(_CROCKFORD, 5)(c) for _ in range(4))),
    "cookie of a browser": _each(
        lambda c: f"GA1.2.{c.randrange(10**8, 10**9)}.{c.randrange(1_500_000_000, 1_760_000_000)}"
    ),
    "SHA-1": _each(lambda c: f"{c.getrandbits(160):040x}"),
    "tenant and number": _each(lambda c: f"shop{c.randrange(1, 40)}:customer:{c.randrange(10**7)}"),
    "resource": _each(lambda c: f"arn:crm:eu-west-1:{c.randrange(10**12):012}:contact/{c.randrange(10**6)}"),
    "time and random": _each(lambda c: f"evt_{1_700_000_000_000 + c.randrange(10**10)}_{_of(_BASE62, 6)(c)}"),
    "number in two groups": _each(lambda c: f"{c.randrange(1000, 10**4)}-{c.randrange(10**5, 10**6)}"),
    "version": _each(lambda c: f"v{c.randrange(1, 4)}.{c.randrange(1000)}.{c.randrange(10**5)}"),
    **{f"counter of {digits} digits": _counter(digits) for digits in range(1, 13)},
}


def personal_column(form: str, size: int, seed: int = 0) -> list[str]:
    """`size` values of a form of PERSONAL."""
    chance = random.Random(f"{form} {seed}")
    return [PERSONAL[form](chance) for _ in range(size)]


def opaque_column(style: str, size: int, seed: int = 0) -> list[str]:
    """`size` ids of a style of OPAQUE."""
    return OPAQUE[style](random.Random(f"{style} {seed}"), size)
