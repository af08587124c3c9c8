"""Phone numbers of every region in many spellings, right and damaged, and odd texts that stand for a rule each."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import cache
from typing import Any

import phonenumbers
from phonenumbers import PhoneMetadata

from audiencekit.identifiers.texts import WORDS

Row = tuple[str, str | None]

REGIONS = sorted(phonenumbers.SUPPORTED_REGIONS)
FEW = ["US", "JM", "DE", "GB", "GG", "IT", "RU", "AU", "HU", "FI"]
IN_FRONT = ["00", "011", "0011", "810", "119", "001", "010", "8~10", "99", "0", "1", "000", "00 1", "++", "(00", "(+"]
IN_FRONT += ["0000", "0-0", "[00", "+(0)", "( 00) ", "+ ", "(0)", "06", "80", "15", "tel:+", "'+", "'00", "＋", "［+"]
IN_FRONT += ["p:+", "P: 00", "+52 1", "044"]
BETWEEN = [" ", "-", ".", "/", " (", ") ", "[", "] ", "--", "  ", "\xa0", "‑", "／", "\u2003", "−", "~", " x", "\t"]
BEHIND = ["", "", " ", "-", ".", ")", ".0", ".00", ",", "/", "x1", "#", "+", "\u200b", "ー"]

ODD = ["", " ", "\xa0", "+", "-", "0", "00", "000", "0000", "+0", "+00", "+1", "+12", "+49", "12", "1-2", "123", "()"]
ODD += ["1234567", "1234567890", "+1234567", "0987654321", "098765", "12345678901", "5555555", "+49 1111111", "0" * 15]
ODD += ["+44 0000", "+44 00", "+390000", "+49 0 00", "1.23E+10", "14155550132.0", "+1415555.00", "-1415555.0", "####"]
ODD += [
    "=A1",
    "'=é1",
    "tel:=é1",
    '="+14155550132"',
    "='+1",
    '="tel:+14155550132"',
    "'tel:+14155550132",
    "tel:'+14155550132",
    "''1415",
]
ODD += [
    "'+14155550132'",
    '"+14155550132"',
    "WhatsApp: +14155550132",
    "Mob. 415 555 0132",
    "m: +14155550132",
    "+14155550132 (work)",
]
ODD += [
    "t\u00e9l +14155550132",
    "\u96fb\u8a71:+14155550132",
    "wa.me/14155550132",
    "https://wa.me/4155550132/",
    "Fax: +14155550132",
]
ODD += [
    '=HYPERLINK("tel:+14155550132","+14155550132")',
    "cell +14155550132 x12",
    "home 1111111111",
    "work",
    "mob 1.23E+10",
]
ODD += [
    "+55 11 8765-4300",
    "0055 11 8765-4300",
    "11 8765-4300",
    "551187654300",
    "+229 97 12 34 56",
    "97123456",
    "\uff0b229 97123456",
]
ODD += ["q" * 42 + "A=", "0x" + "0A" * 32, "\\x" + "0a" * 32, "\u0668\u0667\u0666\u0665\u0664\u0663\u0660\u0661"]
ODD += ["1,415,555,013", "14,155,550,132", "a" * 64, "7" * 64, "+1415555013" + "2" * 60, "+1" + " " * 98 + "415", "ext"]
ODD += ["+14155550132/+14155550133", "4155550132/4155550133", "0301234567 0301234568", "+1 (415) 555-0132 ext 3"]
ODD += [
    "+14155550132;phone-context=+1",
    "+1415555O132",
    "+1 415 555 0132\n",
    "+1\n415 555 0132",
    "＋１４１５５５５０１３２",
]
ODD += [
    "٠٣٠١٢٣٤٥٦٧",
    "−14155550132.0",
    "−1415555013.00",
    "–",
    "―",
    "…",
    "+1\u200b4155550132",
    "\ufeff+14155550132",
    "+1\x00415",
]
ODD += [
    "anna@example.com",
    "+1-800-FLOWERS",
    "++14155550132",
    "+1+4155550132",
    "(+1)4155550132",
    "[+1]4155550132",
    "0049",
]
ODD += ["'+1‑" + "-" * 86 + "4155550132", "'+1‑" + "-" * 87 + "4155550132", *sorted(WORDS)]


@cache
def _examples(region: str) -> list[tuple[str | None, Any]]:
    made = (phonenumbers.example_number_for_type(region, kind) for kind in phonenumbers.PhoneNumberType.values())
    return [(region, number) for number in made if number is not None]


@cache
def _of_no_region() -> list[tuple[str | None, Any]]:
    codes = sorted(phonenumbers.COUNTRY_CODES_FOR_NON_GEO_REGIONS)
    return [(None, phonenumbers.example_number_for_non_geo_entity(code)) for code in codes]


class Numbers:
    """Made-up numbers in many spellings, right and wrong, drawn by `chance`."""

    def __init__(self, chance: random.Random, regions: Sequence[str]) -> None:
        self._chance = chance
        self._regions = regions
        self._examples = [example for region in regions for example in _examples(region)]
        if len(regions) > len(FEW):
            self._examples += _of_no_region()

    def rows(self, count: int) -> list[Row]:
        """`count` texts with a country, which is mostly the right one."""
        return [self.row() for _ in range(count)]

    def row(self) -> Row:
        """One text with a country; now and then an odd text."""
        if self._chance.random() < 0.01:
            return self._chance.choice(ODD), self._chance.choice([*self._regions, None])
        region, example = self._chance.choice(self._examples)
        number = self._varied(phonenumbers.national_significant_number(example))
        metadata = PhoneMetadata.metadata_for_region(region) if region else None
        trunk = (metadata.national_prefix if metadata else None) or ""
        dialled = (metadata.international_prefix if metadata else None) or "x"
        front = self._chance.choice(IN_FRONT if self._chance.random() < 0.5 or not dialled.isdigit() else [dialled])
        text = self._spelled(str(example.country_code), number, trunk, front)
        if self._chance.random() < 0.3:
            text = self._mutated(text)
        if self._chance.random() < 0.4:
            text = self._punctuated(text)
        choice = self._chance.random()
        country = region if choice < 0.7 else self._chance.choice([*self._regions, None, None])
        return text, country

    def _varied(self, number: str) -> str:
        if self._chance.random() < 0.4:
            return number
        kept = self._chance.randrange(2, len(number) + 1)
        return number[:kept] + "".join(self._chance.choices("0123456789", k=len(number) - kept))

    def _spelled(self, code: str, number: str, trunk: str, front: str) -> str:
        pick = self._chance.choice
        return pick(
            [
                f"+{code}{number}",
                f"+{code}{number}",
                f"+{code}{trunk or pick('018')}{number}",
                f"{front}{code}{pick(['', '', trunk])}{number}",
                f"{trunk}{number}",
                pick([number, number, number[-7:], number[-6:]]),
                f"{code}{pick(['', '', trunk, code])}{number}",
                f"{front}{number}",
            ]
        )

    def _mutated(self, text: str) -> str:
        at, digit = self._chance.randrange(len(text)), self._chance.choice("0123456789")
        behind = self._chance.choice([text[at:], text[at + 1 :], text[at + 1 :]])
        return text[:at] + self._chance.choice(["", digit, digit]) + behind

    def _punctuated(self, text: str) -> str:
        signs = (sign + self._chance.choice([""] * 3 * len(BETWEEN) + BETWEEN) for sign in text)
        return "".join(signs) + self._chance.choice(BEHIND)
