"""Cells of real exports that hold no identifier, or half of one: notes, cut values, the neighbour's column."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Final

import phonenumbers
from phonenumbers import PhoneNumber, PhoneNumberFormat

from benchmarks.values.spellings import EMAIL_SPELLINGS, Spell

_MISSING: Final = ("", "", "n/a", "unknown", "-", "none", "NULL", "TBD", "?", "keine", "nicht bekannt", "s/n", "no")
_NOTES: Final = ("(office)", "home", "after 6 pm", "do not call", "Anna", "/ Fax", "WhatsApp", "mobil")


def _plain(chance: random.Random) -> str:
    return EMAIL_SPELLINGS["plain"](chance)


def _name(chance: random.Random) -> str:
    return f"{chance.choice(('zoë', 'jörg.ahl', 'иван', 'משה', 'สมชาย', 'josé'))}{chance.randrange(10**5)}"


# Domains that are none, `{}` for a label.
_NO_DOMAINS: Final = (
    *("{}", "{}.", ".{}.example", "{}..example", "{},example", "{} .example", "{}.example (alt)", "{}.example/{}"),
    *("my_{}.example", "my--{}.example", "-{}.example", "{}-.example", "{}.example1", "{}.e", "{}.c0m"),
    *("{}\u201d.example", "{}\u2665.example", "{}.example\xa7"),
)
# Shops, databases and programs show so much of an address.
_MASKS: Final = ("*", "***", "*****", "\u2022\u2022\u2022", "xxx", "\u2026")
_HALF_QUOTED: Final = ("\u201c{}", "\u2018{}", "\xab{}", "\u201e{}", "{}\u201d", "o\u2019{}", '"{}')
_NO_NAMES: Final = ("{} x", ".{}", "{}.", "{}..x", "({})", "{}: x", '"{}"')
_SIGNS: Final = "abcdefghijklmnopqrstuvwxyz0123456789-"
_IN_NOTES: Final = ("{} (Büro)", "{} – privé", "Büro: {}", "Büro {}")


def _respelled(chance: random.Random, forms: tuple[str, ...], text: str) -> str:
    return chance.choice(forms).replace("{}", text)


def _masked(chance: random.Random, text: str) -> str:
    name, _, domain = text.partition("@")
    if chance.randrange(8) == 0:
        return chance.choice(
            (f"{name[0]}XXX@XXXX.com", f"{'x' * len(name)}@{domain}", f"*@{domain}", f"{name[:2]}**@***.com")
        )
    return f"{name[: chance.randrange(4)]}{chance.choice(_MASKS)}{name[-1] * chance.randrange(2)}@{domain}"


def _lost(chance: random.Random, text: str) -> str:
    at = chance.randrange(1, len(text))
    return f"{text[:at]}\ufffd{text[at + 1 :]}"


def _international_domain(chance: random.Random) -> str:
    return EMAIL_SPELLINGS["distinct IDN"](chance).partition("@")[2]


def _no_encoding(chance: random.Random) -> str:
    """A domain behind `xn--`: of capitals, symbols or letters of no script, with a wrong sign, cut, or at random."""
    label = _international_domain(chance).partition(".")[0]
    lost = f"{label}{chr(chance.choice((0xC9, 0x2665, 0x378, 0x1F600, chance.randrange(0x80, 0x30000))))}"
    encoded = f"xn--{label.encode('punycode').decode()}"
    at = chance.randrange(4, len(encoded))
    made = (
        f"xn--{lost.encode('punycode', 'replace').decode()}",
        f"{encoded[:at]}{chance.choice(_SIGNS)}{encoded[at + 1 :]}",
        encoded[:at],
        f"xn--{''.join(chance.choices(_SIGNS, k=10))}",
        f"xn--larchpost{chance.randrange(10**5)}-",
    )
    return f"{chance.choice(made)}.example"


def _written(number: PhoneNumber) -> str:
    return phonenumbers.format_number(number, PhoneNumberFormat.INTERNATIONAL)


def _digits(number: PhoneNumber) -> str:
    return phonenumbers.format_number(number, PhoneNumberFormat.E164)[1:]


def _rounded(number: PhoneNumber) -> str:
    digits = _digits(number)
    return f"{digits[0]}.{digits[1:6]}E+{len(digits) - 1}"


# Year, month and day as calendars write them, and a few that look like it.
_DAYS: Final = (
    *(
        "{0}-{1:02}-{2:02}",
        "{0}.{1:02}.{2:02}",
        "{0}/{1}/{2}",
        "{0}. {1}. {2}.",
        "{0} {1:02} {2:02}",
        "{0}{1:02}{2:02}",
    ),
    *(
        "{2:02}.{1:02}.{0}",
        "{2:02}/{1:02}/{0}",
        "{2:02}-{1:02}-{0}",
        "{2}.{1}.{0}",
        "{2}. {1}. {0}",
        "{2:02} {1:02} {0}",
    ),
    *("{1:02}/{2:02}/{0}", "{1}/{2}/{0}", "{1:02}-{2:02}-{0}", "{2:02}{1:02}{0}", "{0}-{2:02}-{1:02}", "{2}.{0}.{1}"),
    *("{1}/{2}/{3:02}", "{2:02}/{1:02}/{3:02}", "{2:02}.{1:02}.{3:02}", "{2:02}-{1:02}-{3:02}", "{1}/{2}/{3:02}."),
    *("{0}-{1:02}-{2:02} 00:00:00", "'{0}\u2010{1:02}\u2010{2:02}", "{2}／{1}／{0}", "{2:02}.{1:02}.{0}.0"),
)


def _day(chance: random.Random) -> str:
    return chance.choice(_DAYS).format(
        chance.randrange(1895, 2035), chance.randrange(1, 14), chance.randrange(1, 34), chance.randrange(100)
    )


# By name.
DIRTY_NUMBERS: Final[dict[str, Spell]] = {
    "missing": lambda chance, number: chance.choice(_MISSING),
    "repeated": lambda chance, number: chance.choice("0129") * chance.randrange(6, 12),
    "counted": lambda chance, number: chance.choice(("1234567890", "0123456789", "123456", "12345")),
    "cut": lambda chance, number: _written(number)[: -chance.randrange(2, 7)],
    "too long": lambda chance, number: f"{_written(number)}{chance.randrange(10, 999)}",
    "noted": lambda chance, number: f"{_written(number)} {chance.choice(_NOTES)}",
    "two in a cell": lambda chance, number: (
        f"{_written(number)}{chance.choice((' / ', ', ', ' ', '; '))}{_digits(number)}"
    ),
    "rounded": lambda chance, number: _rounded(number),
    "stray sign": lambda chance, number: f"{_written(number)}{chance.choice(',;:*?')}",
    "an address": lambda chance, number: _plain(chance),
    "a day": lambda chance, number: _day(chance),
    "an id": lambda chance, number: f"C{chance.randrange(10**6)}",
    "a hash": lambda chance, number: f"{chance.randrange(16**64):064x}",
    "formula": lambda chance, number: chance.choice(("#REF!", "#N/A", "=A1", "########")),
}
DIRTY_ADDRESSES: Final[dict[str, Callable[[random.Random], str]]] = {
    "missing": lambda chance: chance.choice(_MISSING),
    "placeholder": lambda chance: chance.choice(("test@test.com", "noemail@noemail.com", "no-reply@none", "a@a.com")),
    "no at sign": lambda chance: _plain(chance).replace("@", chance.choice(("", ".", " at ", "(at)"))),
    "two at signs": lambda chance: _plain(chance).replace("@", "@@"),
    "two in a cell": lambda chance: f"{_plain(chance)}{chance.choice((';', ', ', ' / '))}{_plain(chance)}",
    "no domain": lambda chance: _plain(chance).partition("@")[0] + "@",
    "masked": lambda chance: _masked(chance, _plain(chance)),
    "one quotation mark": lambda chance: _respelled(chance, _HALF_QUOTED, _plain(chance)),
    "digit in the top": lambda chance: (
        _plain(chance).rpartition(".")[0] + chance.choice((".c0m", ".ne7", ".0rg", ".c-m"))
    ),
    "no top": lambda chance: _plain(chance).rpartition(".")[0],
    "double dot": lambda chance: _plain(chance).replace("@", ".@" if chance.randrange(2) else "@."),
    "stray sign": lambda chance: f"{_plain(chance)}{chance.choice('.,;:>')}",
    "space inside": lambda chance: _plain(chance).replace("@", chance.choice((" @", "@ ", " @ "))),
    "noted": lambda chance: f"{_plain(chance)} {chance.choice(_NOTES)}",
    "a number": lambda chance: f"+49 151 {chance.randrange(10**7, 10**8)}",
    "a name": lambda chance: chance.choice(("Anna Birk", "BIRK, Bo", "Zoë", "田中", "Иван")),
    "an address of the web": lambda chance: f"https://www.larchpost{chance.randrange(500)}.example/",
    "letters, no domain": lambda chance: (
        f"{_name(chance)}@{_respelled(chance, _NO_DOMAINS, f'larchpost{chance.randrange(500)}')}"
    ),
    "letters, no name": lambda chance: f"{_respelled(chance, _NO_NAMES, _name(chance))}@larchpost.example",
    "letters, noted": lambda chance: _respelled(chance, _IN_NOTES, _plain(chance)),
    "letters lost": lambda chance: (
        f"{_lost(chance, _name(chance))}@larchpost.example"
        if chance.randrange(2)
        else f"ada@{_lost(chance, _international_domain(chance))}"
    ),
    "no international domain": lambda chance: (
        f"ada@{_respelled(chance, _NO_DOMAINS, _international_domain(chance).partition('.')[0])}"
    ),
    "no label behind xn--": lambda chance: f"{_plain(chance).partition('@')[0]}@{_no_encoding(chance)}",
    "a hash": lambda chance: f"{chance.randrange(16**64):064x}",
}
