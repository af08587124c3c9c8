"""Spellings of real exports by category: what spreadsheets, web pages, programs and keyboards make of a plain value.

The characters come from Unicode's own properties, so that a category does not know which of them are fast.
"""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Final, TypeAlias

import idna
import phonenumbers
from phonenumbers import PhoneNumber, PhoneNumberFormat, PhoneNumberType

Spell: TypeAlias = Callable[[random.Random, PhoneNumber], str]
Respell: TypeAlias = Callable[[random.Random, str], str]

_PLANES: Final = 0x20000  # code points in which every script of today is written
_FORMS: Final = (PhoneNumberFormat.E164, PhoneNumberFormat.INTERNATIONAL, PhoneNumberFormat.NATIONAL)
_KINDS: Final = (PhoneNumberType.MOBILE, PhoneNumberType.FIXED_LINE)
_FEW: Final = 20  # letters of a script that is none of its own
_KEPT: Final = 2  # digits at its beginning, at least, that are not
_DRAWN: Final = 6  # digits at the end of an example that are drawn anew
_MARKS: Final = "\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2069\ufeff\u061c"


@cache
def of_category(*names: str) -> str:
    """Every character of these general categories that is not ASCII."""
    return "".join(letter for letter in map(chr, range(0x80, _PLANES)) if unicodedata.category(letter) in names)


@cache
def _zeros() -> tuple[int, ...]:
    return tuple(ord(letter) for letter in of_category("Nd") if unicodedata.decimal(letter) == 0)


@cache
def _examples(region: str) -> tuple[PhoneNumber, ...]:
    made = (phonenumbers.example_number_for_type(region, kind) for kind in _KINDS)
    return tuple(number for number in made if number is not None)


def draw_number(chance: random.Random, region: str, *, kept: int = _KEPT) -> PhoneNumber | None:
    """A number of real shape of `region`; None where it has none.

    It begins with so many digits of an example, or more. With none its area may be any, and some have none such.
    """
    if not _examples(region):
        return None
    example = chance.choice(_examples(region))
    digits = phonenumbers.national_significant_number(example)
    front = digits[: max(kept, len(digits) - _DRAWN) if kept else 0]
    drawn = front + "".join(chance.choices("0123456789", k=len(digits) - len(front)))
    zeros = len(drawn) - len(drawn.lstrip("0"))
    return PhoneNumber(
        example.country_code, int(drawn or 0), italian_leading_zero=zeros > 0 or None, number_of_leading_zeros=zeros
    )


def _written(chance: random.Random, number: PhoneNumber) -> str:
    return phonenumbers.format_number(number, chance.choice(_FORMS))


def _behind_plus(number: PhoneNumber) -> str:
    return phonenumbers.format_number(number, PhoneNumberFormat.E164)


def _without_area(chance: random.Random, number: PhoneNumber) -> str:
    """As neighbours write it, perhaps behind the country's code."""
    national = phonenumbers.national_significant_number(number)
    local = national[phonenumbers.length_of_geographical_area_code(number) :]
    return f"{chance.choice(('', str(number.country_code)))}{local}"


def _spelled(respell: Respell) -> Spell:
    return lambda chance, number: respell(chance, _written(chance, number))


def _framed(characters: str) -> Respell:
    def respell(chance: random.Random, text: str) -> str:
        front, back = chance.choices(characters, k=2)
        return chance.choice((front + text, text + back, front + text + back))

    return respell


def _between(signs: str, others: Callable[[], str]) -> Respell:
    def respell(chance: random.Random, text: str) -> str:
        sign = chance.choice(others())
        found = "".join(sign if letter in signs else letter for letter in text)
        return found if found != text else f"{text[:-4]}{sign}{text[-4:]}"

    return respell


def _in_script(chance: random.Random, text: str) -> str:
    zero = chance.choice(_zeros())
    return "".join(chr(zero + int(letter)) if letter in "0123456789" else letter for letter in text)


def _with_inside(characters: str) -> Respell:
    def respell(chance: random.Random, text: str) -> str:
        at = chance.randrange(1, len(text))
        return text[:at] + chance.choice(characters) + text[at:]

    return respell


def _full_width(text: str, letters: str) -> str:
    return "".join(chr(ord(letter) + 0xFEE0) if letter in letters else letter for letter in text)


def _plain_but_wide(chance: random.Random) -> str:
    """Its domain, or the dots there, as they are typed among Chinese characters."""
    name, _, domain = _plain(chance).partition("@")
    letters = chance.choice((domain, ".", "."))
    return f"{name}@{_full_width(domain, letters).replace('．', chance.choice('．。'))}"


def _carrier(chance: random.Random, number: PhoneNumber) -> str:
    """As in Brazil, where a carrier's code stands between the trunk zero and the number."""
    return f"0 {chance.choice((15, 21, 31, 41))} {phonenumbers.national_significant_number(number)}"


# By name; each in every region.
PHONE_SPELLINGS: Final[dict[str, Spell]] = {
    "E.164": lambda chance, number: _behind_plus(number),
    "international": lambda chance, number: phonenumbers.format_number(number, PhoneNumberFormat.INTERNATIONAL),
    "national": lambda chance, number: phonenumbers.format_number(number, PhoneNumberFormat.NATIONAL),
    "national digits": lambda chance, number: "".join(
        filter(str.isdigit, phonenumbers.format_number(number, PhoneNumberFormat.NATIONAL))
    ),
    "00 in front": lambda chance, number: "00" + _behind_plus(number)[1:],
    "RFC 3966": lambda chance, number: phonenumbers.format_number(number, PhoneNumberFormat.RFC3966),
    "tel: in front": _spelled(lambda chance, text: chance.choice(("tel:", "Tel:", "TEL: ")) + text),
    "p: in front": lambda chance, number: "p:" + _behind_plus(number),
    "marks at the ends": _spelled(_framed(_MARKS)),
    "spaces at the ends": _spelled(lambda chance, text: _framed(of_category("Zs"))(chance, text)),
    "spaces of Unicode": _spelled(_between(" ", lambda: of_category("Zs"))),
    "dashes of Unicode": _spelled(_between("- ", lambda: of_category("Pd"))),
    "apostrophe in front": _spelled(lambda chance, text: f"'{text}"),
    'text formula ="…"': _spelled(lambda chance, text: f'="{text}"'),
    "digits of a script": _spelled(_in_script),
    "full width": _spelled(lambda chance, text: _full_width(text, "0123456789+()-/")),
    "two plus signs": lambda chance, number: "+" + _behind_plus(number),
    "0 0 in front": lambda chance, number: "0 0" + _behind_plus(number)[1:],
    "soft hyphen inside": _spelled(_with_inside("\xad")),
    "marks inside": _spelled(_with_inside(_MARKS)),
    "zero in brackets": lambda chance, number: f"+{number.country_code} (0) {number.national_number}",
    "tildes": _spelled(_between("- ", lambda: "~")),
    "tildes of Unicode": _spelled(_between("- ", lambda: "～⁓∼")),
    "brackets of full width": lambda chance, number: f"+{number.country_code} ［{number.national_number}］",
    "plus and 00": lambda chance, number: "+00" + _behind_plus(number)[1:],
    "slashes": _spelled(_between("- ", lambda: "/")),
    "decimal places": lambda chance, number: f"{_behind_plus(number)[1:]}.0",
    "code and trunk prefix": lambda chance, number: (
        f"{number.country_code} {phonenumbers.format_number(number, PhoneNumberFormat.NATIONAL)}"
    ),
    "Mexico's former 1": lambda chance, number: f"+52 1 55 {chance.randrange(10**7, 10**8)}",
    "extension": _spelled(lambda chance, text: f"{text} ext. {chance.randrange(1, 999)}"),
    "carrier code": _carrier,
    "without area code": _without_area,
    "on two lines": _spelled(lambda chance, text: f"{text}{chance.choice((chr(10), chr(13) + chr(10)))}{text}"),
}

_GIVEN: Final = ("anna", "li", "joão", "mehmet", "ivan", "sven", "yuki", "omar", "eva", "zoe", "uwe", "ida")
_SMALL_IN_DOMAINS: Final = "\u1e9e\u212a"
_ACCENTED: Final = "äöüéèêëñçåøšžčřğışőűâîôûășțąęłńśźż"
_SCRIPTS: Final = {
    "Thai": "สมชายวิไลกานต์ณัฐพร",
    "Devanagari": "रामसीतागीताप्रियाकविता",
    "Arabic": "محمدفاطمةعليأحمد",
    "Hebrew": "דודשרהמשה",
    "Chinese": "王小明李华陈静",
    "Korean": "김민수이지은",
    "Japanese": "さくらタケシ花子",
    "Greek": "γιώργοςελένη",
    "Cyrillic": "иваномаринапётр",
    "Georgian": "გიორგინინო",
    "emoji": "😀🎉🚀❤⭐🐱",
}


def _plain(chance: random.Random) -> str:
    return f"{_name(chance)}@{_domain(chance)}"


def _name(chance: random.Random) -> str:
    return f"{chance.choice(_GIVEN[:2])}{chance.choice(('.', '_', '-', ''))}{chance.randrange(10**6)}"


def _domain(chance: random.Random) -> str:
    return f"{chance.choice(('larchpost', 'mail.fjord', 'co-op'))}{chance.randrange(500)}.example"


def _letters(chance: random.Random, letters: str) -> str:
    """A local part of `letters`, some digits, and signs between."""
    word = "".join(chance.choices(letters, k=chance.randrange(2, 9)))
    return f"{word}{chance.choice(('', '.', '_'))}{chance.randrange(10**5)}"


def _accented(chance: random.Random) -> str:
    letters = "".join(chance.choices("abcdeorstu" + _ACCENTED, k=7))
    return f"{letters}{chance.choice(_ACCENTED)}{chance.randrange(10**4)}@{_domain(chance)}"


def _idn(chance: random.Random, size: int) -> str:
    label = "".join(chance.choices("abcdefghilmnoprstuv" + _ACCENTED, k=size))
    return f"{label}{chance.choice('äöüéñç')}{chance.randrange(10**5)}.example"


# Some that are assigned.
_TOPS: Final = (
    "рф",
    "бел",
    "укр",
    "қаз",
    "ευ",
    "中国",
    "みんな",
    "닷컴",
    "भारत",
    "বাংলা",
    "இலங்கை",
    "ไทย",
    "გე",
    "امارات",
    "ישראל",
)


def _is_of_domains(letter: str) -> bool:
    with suppress(idna.IDNAError):
        idna.check_label(("א" if unicodedata.bidirectional(letter) in ("R", "AL") else "q") + letter)
        return True
    return False


@cache
def _scripts() -> tuple[str, ...]:
    """The letters and marks of each script of the basic plane that domains may have, by their names."""
    found: dict[str, str] = {}
    for letter in filter(_is_of_domains, filter("\uffff".__gt__, of_category("Ll", "Lo", "Lm", "Mn", "Mc"))):
        script = unicodedata.name(letter, "").partition(" ")[0]
        found[script] = found.get(script, "") + letter
    return tuple(letters for letters in found.values() if sum(map(str.isalpha, letters)) > _FEW)


@cache
def _mapped() -> str:
    """The characters in whose place a domain has letters from left to right, such as ligatures."""
    found = {
        letter: unicodedata.normalize("NFKC", letter) for letter in of_category("Ll", "Lu", "Lo", "Lm", "No", "So")
    }
    return "".join(
        letter
        for letter, plain in found.items()
        if plain != letter
        and plain.isalpha()
        and all(map(_is_of_domains, plain.casefold()))
        and unicodedata.bidirectional(plain[0]) == "L"
    )


def _half_width(chance: random.Random) -> str:
    kana = "".join(chance.choices([chr(code) for code in range(0xFF71, 0xFF9E)], k=4))
    return f"{kana[:2]}{chance.choice(('ﾊﾟ', 'ｶﾞ'))}{kana[2:]}"


def _label(chance: random.Random, letters: str, others: str = "") -> str:
    """A label that begins with a letter, perhaps with a hyphen or digits, in NFC."""
    first = chance.choice(tuple(filter(str.isalpha, letters)))
    word = first + "".join(chance.choices(letters + others, k=chance.randrange(2, 9)))
    return unicodedata.normalize("NFC", word + chance.choice(("", "", f"-{first}", str(chance.randrange(1000)))))


def _domain_in_a_script(chance: random.Random) -> str:
    top = chance.choice(("example", "example", *_TOPS))
    return f"{_label(chance, chance.choice(_scripts()))}.{top}"


def _in_ascii(domain: str) -> str:
    labels = (label if label.isascii() else "xn--" + label.encode("punycode").decode() for label in domain.split("."))
    return ".".join(labels)


def _of_length(chance: random.Random, size: int) -> str:
    return "".join(chance.choices("abcdefghijklmnopqrstuvwxyz0123456789", k=size))


# By name.
EMAIL_SPELLINGS: Final[dict[str, Callable[[random.Random], str]]] = {
    "plain": _plain,
    "capitals": lambda chance: _plain(chance).upper(),
    "marks at the ends": lambda chance: _framed(_MARKS)(chance, _plain(chance)),
    "spaces at the ends": lambda chance: _framed(of_category("Zs"))(chance, _plain(chance)),
    "marks inside": lambda chance: _with_inside(_MARKS + "\xad")(chance, _plain(chance)),
    "full-width @": lambda chance: _plain(chance).replace("@", "＠"),
    "apostrophe in front": lambda chance: "'" + _plain(chance),
    "equals sign in front": lambda chance: "=" + _plain(chance),
    "in quotes, or with a comma": lambda chance: chance.choice(("'{}'", '"{}"', "{},", "{};", "'{}',")).format(
        _plain(chance)
    ),
    "accented letters": _accented,
    "accented capitals": lambda chance: _accented(chance).upper(),
    "decomposed letters": lambda chance: unicodedata.normalize("NFD", _accented(chance)),
    "Greek capitals": lambda chance: f"{_letters(chance, 'ΓΙΏΡΣΟΣΆ')}@{_domain(chance)}",
    "full-width domain": lambda chance: _plain_but_wide(chance),
    "dotted capital I": lambda chance: f"İ{_name(chance)}@{_domain(chance)}",
    **{
        f"{script} letters": lambda chance, letters=letters: f"{_letters(chance, letters)}@{_domain(chance)}"  # type: ignore[misc]
        for script, letters in _SCRIPTS.items()
    },
    "letters of any script": lambda chance: (
        f"{_letters(chance, of_category('Ll', 'Lo', 'Lm', 'Lu', 'Mn', 'Mc', 'So', 'Nd'))}@{_domain(chance)}"
    ),
    "distinct IDN": lambda chance: f"{_name(chance)}@{_idn(chance, 6)}",
    "long distinct IDN": lambda chance: f"{_name(chance)}{_of_length(chance, 30)}@{_idn(chance, 25)}",
    "internationalised top": lambda chance: (
        f"{_name(chance)}@{_idn(chance, 6).rpartition('.')[0]}.{chance.choice(_TOPS)}"
    ),
    "domain in a script": lambda chance: f"{_name(chance)}@{_domain_in_a_script(chance)}",
    "domain in a script, xn--": lambda chance: f"{_name(chance)}@{_in_ascii(_domain_in_a_script(chance))}",
    "domain of any letters": lambda chance: (
        f"{_name(chance)}@{_label(chance, ''.join(chance.choices(_scripts(), k=2)), 'abc-019')}.example"
    ),
    "mapped letters in the domain": lambda chance: (
        f"{_name(chance)}@{''.join(chance.choices(_mapped(), k=2))}{_idn(chance, 4)}"
    ),
    "capital ẞ, Kelvin sign": lambda chance: (
        f"{_name(chance)}@fa{chance.choice(_SMALL_IN_DOMAINS)}e{chance.randrange(10**5)}.example"
    ),
    "half-width Katakana": lambda chance: f"{_name(chance)}@{_half_width(chance)}{chance.randrange(10**5)}.example",
    "full width among umlauts": lambda chance: (
        f"{_name(chance)}@{_full_width(_idn(chance, 6), chance.choice('abcde'))}".replace(".", chance.choice("。．｡."))
    ),
    "ideographic stop": lambda chance: f"{_name(chance)}@{_idn(chance, 6).replace('.', chance.choice('。．｡'))}",
    "decomposed IDN": lambda chance: unicodedata.normalize("NFD", f"{_name(chance)}@{_idn(chance, 6)}"),
    "ellipsis or accent behind": lambda chance: _plain(chance) + chance.choice("…´"),
    "hyphens of Unicode": lambda chance: f"{_name(chance)}@larch{chance.choice('‐‑‒–')}{_domain(chance)}",
    "dots inside labels": lambda chance: (
        f"{_name(chance)}@{chance.choice(('col·legi', 'ベル・花'))}{chance.randrange(10**5)}.example"
    ),
    "distinct xn--": lambda chance: f"{_name(chance)}@{_in_ascii(_idn(chance, 6))}",
    "distinct ab--cd": lambda chance: f"{_name(chance)}@{_of_length(chance, 2)}--{_of_length(chance, 6)}.example",
    "local part of 64": lambda chance: f"{_of_length(chance, chance.randrange(60, 68))}@{_domain(chance)}",
    "domain of 100": lambda chance: f"{_name(chance)}@{_of_length(chance, 55)}.{_of_length(chance, 40)}.example",
    "address of 300": lambda chance: f"{_of_length(chance, 280)}@{_domain(chance)}",
    "display name": lambda chance: f"Ada Birk <{_plain(chance)}>",
    "special-use domain": lambda chance: f"{_name(chance)}@larchpost{chance.randrange(500)}.test",
    "dots of Japanese carriers": lambda chance: (
        f"{_name(chance)}{chance.choice(('.', '..x', '...'))}@{chance.choice(('docomo.ne.jp', 'ezweb.ne.jp'))}"
    ),
}
