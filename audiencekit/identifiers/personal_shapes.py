"""Shapes of personal texts in a column of ids, such as names, dates, places and profiles: programs write no such ids.

A single value shows little: `otter 1975` may be an id. The share in a whole column is a better sign;
`preparation.partner_ids` has the bounds. Words that a column repeats (`Kunde 17`, `gold-17`) say nothing about a
person.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from typing import Final

from audiencekit.identifiers.partner_user_id import decoded_forms
from audiencekit.identifiers.texts import trim

NAMES: Final = "names, usernames or postal addresses"
DATES: Final = "dates"
NATIONAL_NUMBERS: Final = "national identity or insurance numbers"
DEVICES: Final = "hardware addresses of devices"
PLACES: Final = "coordinates"
LINKS: Final = "addresses of web pages"
CHECKED_NUMBERS: Final = "national numbers with the right check digits"  # by chance one id in twenty at most

LOOKED_THROUGH: Final = 256  # characters; a person's data stands at the beginning of a longer text, too

_TOKEN: Final = re.compile(r"[^\W_]+")
_WORD: Final = re.compile(r"[^\W\d_]{2,}")
_WORD_AND_YEAR: Final = re.compile(r"([^\W\d_]{4,})(\d\d|19\d\d|20[01]\d)")
_GAPS: Final = re.compile(r"[\s,;|#\"'()*&]")
_DOTTED: Final = re.compile(r"[^\W\d_]+(?:\.[^\W\d_]{2,}){1,2}(?:\.?\d{1,4})?")
_BIRTH_YEAR: Final = re.compile(r"(?:19[2-9]\d|20(?:0\d|1[0-2]))(?:\d{4})?")
# Words that programs write in front of ids, in the languages of most lists. A list of one row repeats none of them.
_OF_PROGRAMS: Final = frozenset(
    (  # noqa: SIM905
        "account acct client cliente contact crm cust customer debitor guest id ident kdnr key kunde kunden konto "
        "lead member mitglied nr no num number order partner person profile ref subscriber uid user usr urn uuid "
        "visitor"
    ).split()
)
# The pairs of letters of which most words and names of languages in Latin letters consist.
_PAIRS: Final = frozenset(
    (  # noqa: SIM905
        "ab ac ad ag ai ak al am an ar as at au av az ba be bi bo br ca ce ch ck co da de di do dr ea ed ee eg ei el "
        "em en er es et eu ev fe fi fo fr ga ge gi go gr ha he hi ho ia ic id ie ig ik il im in io ir is it iv ja jo "
        "ka ke ki ko kr la le li ll lo lu ma me mi mo na nd ne ng ni nk nn no nt ob ol on or os ou ov ow pa pe ph pi "
        "po ra re ri rk ro rs rt ru sa sc se sh si sk so st ta te th ti to tr ts tt ul um un ur us va ve vi wa we wi "
        "wo ya ye yo za ze"
    ).split()
)
_WORD_LIKE: Final = 0.65  # of a word's pairs; of letters that are drawn a quarter are such pairs

# A word that says what follows.
_LABEL: Final = re.compile(r"[^\W\d_]{1,16}(?:[:=#_]\s?|\s)")
_DAY: Final = r"(?:0?[1-9]|[12]\d|3[01])"
_MONTH: Final = r"(?:0?[1-9]|1[0-2])"
_MONTHS: Final = r"(?:jan|feb|m[aä]r|apr|ma[iy]|jun|jul|aug|sep|o[ck]t|nov|de[cz])[^\W\d_]{0,7}"  # English and German
# Decimal degrees, and what is written in front of them (`lat=`).
_DEGREES: Final = r"(?:[a-z]{2,9}[:=]\s?)?[-+]?\d{1,3}[.,]\d{2,}°?\s?[NSEW]?"
# One pattern of all, since one call is quicker than many; a group a kind, whose names are those of _KINDS.
_KINDS: Final = {
    "links": LINKS, "dates": DATES, "devices": DEVICES, "places": PLACES, "numbers": NATIONAL_NUMBERS, "names": NAMES,
}  # fmt: skip
_SHAPES: Final = re.compile(
    rf"""
    (?P<links> https?://[^\s/].* | www\.[^\s/]+\.\w.* | (?:[a-z0-9-]+\.)+[a-z]{{2,}}/\S.* )
    | (?P<dates>
        (?:19|20)\d\d(?P<a>[-./]){_MONTH}(?P=a){_DAY}(?:[T ]\d\d?:\d\d.*)?
        | (?:{_DAY}(?P<b>[-./ ]){_MONTH}(?P=b)|{_MONTH}(?P<c>[-./ ]){_DAY}(?P=c))(?:19|20)\d\d(?:[ ]\d\d?:\d\d.*)?
        | (?:[0-2]\d|3[01])(?P<d>[-./ ])(?:[0-2]\d|3[01])(?P=d)\d\d
        | {_DAY}[ .\-/]*{_MONTHS}[ .,\-/]*(?:\d\d)?\d\d
        | {_MONTHS}[ .]*{_DAY}[ ,]+(?:\d\d)?\d\d )
    | (?P<devices>
        [0-9a-f]{{2}}(?P<e>[:\-_. ])(?:[0-9a-f]{{2}}(?P=e)){{4}}[0-9a-f]{{2}}
        | (?=.*[a-f])[0-9a-f]{{4}}\.[0-9a-f]{{4}}\.[0-9a-f]{{4}} )
    | (?P<places> [(\[]?\s?{_DEGREES}\s?[,;/|_ ]\s?{_DEGREES}[)\]]? )
    | (?P<numbers>
        (?!000|666|9)\d{{3}}(?P<f>[-. ])(?!00)\d{{2}}(?P=f)(?!0000)\d{{4}}  # United States
        | \d{{3}}\.\d{{3}}\.\d{{3}}-\d{{2}} | 756\.\d{{4}}\.\d{{4}}\.\d{{2}}  # Brazil, Switzerland
        | (?![DFIQUV])[A-Z](?![DFIOQUV])[A-Z][ ]?\d\d[ ]?\d\d[ ]?\d\d[ ]?[A-D]  # Britain
        | [A-Z]{{6}}\d\d[A-EHLMPRST][0-7]\d[A-Z]\d{{3}}[A-Z]  # Italy
        | [A-Z]{{4}}\d\d(?:0[1-9]|1[0-2])\d\d[HM][A-Z]{{5}}[A-Z0-9]\d  # Mexico
        # Nordic countries: the day of birth, either way round. Order numbers of recent years may be written so, too.
        | (?!1[5-9]|2\d)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])[-+A]\d{{3}}[0-9A-Z]
        | (?:0[1-9]|[12]\d|3[01])(?:0[1-9]|1[0-2])(?!1[5-9]|2\d)\d\d[-+A]\d{{3}}[0-9A-Z] )
    | (?P<names> [A-Z]{{1,2}}\d[A-Z\d]?[ ]\d[A-Z]{{2}} )  # a British postal code
    """,
    re.IGNORECASE | re.VERBOSE,
)
# A day in the past, which no order of today has. Without letters beside it, its digits alone may be a counter.
_BORN: Final = r"(?:19[2-9]\d|200\d)"
_CONTAINED_DATE: Final = re.compile(
    rf"(?<!\d)(?:{_BORN}([-./]){_MONTH}\1{_DAY}|(?:{_DAY}([-./]){_MONTH}\2|{_MONTH}([-./]){_DAY}\3){_BORN})(?!\d)"
)
_DAY_BORN: Final = re.compile(
    rf"(?<!\d)(?:{_BORN}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])|(?:0[1-9]|[12]\d|3[01])(?:0[1-9]|1[0-2]){_BORN})(?!\d)"
)
_BEHIND_WORDS: Final = re.compile(r"(?=.*[^\W\d_])(?!.*//)[^0-9]{0,40}?([0-9]{9,17})[^0-9]{0,40}")
_IN_GROUPS_BEHIND: Final = re.compile(r"(?=.*[^\W\d_])[^0-9]{1,40}?(0[1-9][0-9]{1,3}(?:[ ./\-][0-9]{2,9}){1,4})")
# The number of an order begins with its day, and that of an event is a time in seconds.
_OF_TIME: Final = re.compile(r"20[0-4]\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])|1[0-7]\d{8}\Z")


def words_in(text: str) -> set[str]:
    """The words of `text`, in lower case: letters between other signs."""
    return {word.lower() for word in _WORD.findall(text[:LOOKED_THROUGH])}


def shape_of(text: str, repeated: Collection[str] = ()) -> str:
    """Return the shape of `text`, one of the constants here; an empty text if it may be an id.

    `repeated` are words, in lower case, that the column has in many of its values.
    """
    trimmed = trim(text[:LOOKED_THROUGH])
    if trimmed.isdecimal():
        return CHECKED_NUMBERS if _is_checked(trimmed) else ""
    for inner in (trimmed, *decoded_forms(trimmed)):
        found = _shape_of(trim(inner), repeated)
        if found:
            return found
    return ""


def number_behind_words(text: str) -> str:
    """Return the digits of `text` if it is words and one number that may be a phone number; otherwise an empty text."""
    trimmed = trim(text[:LOOKED_THROUGH])
    found = _BEHIND_WORDS.fullmatch(trimmed) or _IN_GROUPS_BEHIND.fullmatch(trimmed)
    digits = re.sub(r"[^0-9]", "", found[1]) if found else ""
    return "" if _OF_TIME.match(digits) else digits


def _shape_of(text: str, repeated: Collection[str]) -> str:
    label, found = _LABEL.match(text), ""
    for part in (text, text[label.end() :]) if label else (text,):
        if shape := _SHAPES.fullmatch(part):
            return _KINDS[shape.lastgroup or ""]
        if _is_checked(part):
            return CHECKED_NUMBERS
        if _reads_as_name(part, repeated):
            found = NAMES
    return DATES if _has_day_of_birth(text) else found


def _has_day_of_birth(text: str) -> bool:
    if "19" not in text and "200" not in text:
        return False
    with_letters = any(map(str.isalpha, text))
    return _CONTAINED_DATE.search(text) is not None or (with_letters and _DAY_BORN.search(text) is not None)


def _reads_as_name(text: str, repeated: Collection[str]) -> bool:
    """Whether `text` has words that the column does not repeat, written like names and addresses."""
    if not text.isascii() and any(sign.isalpha() and not sign.isascii() for sign in text):
        return True
    tokens: list[str] = _TOKEN.findall(text)
    if not tokens:
        return False
    if len(tokens) == 1:
        return _is_username(tokens[0], repeated)
    words = [token for token in tokens if _is_own_word(token, repeated)]
    if not words:
        return False
    if _GAPS.search(text):
        return True
    numbers = [token for token in tokens if token.isdecimal()]
    is_dotted = bool(_DOTTED.fullmatch(text)) and not any(token.lower() in repeated for token in tokens)
    others = len([token for token in tokens if len(token) > 1]) - len(words) - len(numbers)
    return (is_dotted or not others) and _are_of_a_person(words, numbers, is_dotted=is_dotted)


def _is_username(token: str, repeated: Collection[str]) -> bool:
    dated = _WORD_AND_YEAR.fullmatch(token)
    word = dated[1] if dated else token
    return (dated is not None or len(word) > 4) and _is_own_word(word, repeated)


def _are_of_a_person(words: list[str], numbers: list[str], *, is_dotted: bool) -> bool:
    """Whether a text consists of two words, of a word and a year, or of a street and a place."""
    if not numbers:
        return len(words) > 1 or is_dotted
    return any(map(_BIRTH_YEAR.fullmatch, numbers)) or (len(words) > 1 and len(numbers) > 1)


def _is_own_word(token: str, repeated: Collection[str]) -> bool:
    lower = token.lower()
    if not token.isalpha() or len(token) < 3 or lower in repeated or lower in _OF_PROGRAMS:
        return False
    pairs = [lower[place : place + 2] in _PAIRS for place in range(len(lower) - 1)]
    return sum(pairs) >= len(pairs) * _WORD_LIKE


def _is_checked(text: str) -> bool:
    return text[:7].isdecimal() and any(check(text) for check in _CHECKS)


def _weighed(digits: str, weights: Collection[int]) -> int:
    return sum(int(digit) * weight for digit, weight in zip(digits, weights, strict=False))


def _is_brazilian(text: str) -> bool:
    if not re.fullmatch(r"[0-9]{11}", text) or len(set(text)) == 1:
        return False
    return all(_weighed(text, range(size + 1, 1, -1)) * 10 % 11 % 10 == int(text[size]) for size in (9, 10))


def _is_polish(text: str) -> bool:
    """Whether it is a Polish number: a day of birth, with the century added to its month, and a check digit."""
    if not re.fullmatch(r"[0-9]{2}(?:[02468][1-9]|[13579][0-2])(?:0[1-9]|[12]\d|3[01])[0-9]{5}", text):
        return False
    return _weighed(text, (1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1)) % 10 == 0


def _is_spanish(text: str) -> bool:
    found = re.fullmatch(r"([0-9]{8})-?([A-Za-z])", text)
    return found is not None and "TRWAGMYFPDXBNJZSQVHLCKE"[int(found[1]) % 23] == found[2].upper()


def _is_chinese(text: str) -> bool:
    form = r"[1-8][0-9]{5}(?:19|20)[0-9]{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])[0-9]{3}[0-9Xx]"
    if not re.fullmatch(form, text):
        return False
    return "10X98765432"[_weighed(text, [2**power % 11 for power in range(17, 0, -1)]) % 11] == text[17].upper()


def _is_french(text: str) -> bool:
    number = text.replace(" ", "")
    form = r"[12][0-9]{2}(?:0[1-9]|1[0-2])[0-9]{10}"
    return re.fullmatch(form, number) is not None and 97 - int(number[:13]) % 97 == int(number[13:])


_CHECKS: Final[tuple[Callable[[str], bool], ...]] = (_is_brazilian, _is_polish, _is_spanish, _is_chinese, _is_french)
