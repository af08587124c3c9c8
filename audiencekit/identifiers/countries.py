"""Countries as people write them in a cell -> ISO 3166-1 alpha-2."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Final

from audiencekit.identifiers.country_names import COUNTRIES, IN_OTHER_LANGUAGES
from audiencekit.identifiers.placeholders import is_placeholder
from audiencekit.identifiers.unicodeforms import in_form

_CODES: Final = frozenset(line.partition("|")[0] for line in COUNTRIES.strip().splitlines())  # alpha-2


def find_country(text: str) -> str | None:
    """The alpha-2 code for a code of two or three letters, a sign of vehicles (D), or a name; else None.

    Names are those in English and other large languages. Case, accents, punctuation and a leading "the" do not matter.
    Calling codes ("+44") are not countries.
    """
    if text in _CODES or not text:
        return text or None
    # NA is Namibia, but N/A is no country.
    if is_placeholder(text.strip()) and not text.strip().isalpha():
        return None
    return _by_spelling().get(_spelling(text))


def find_countries(texts: Iterable[str]) -> dict[str, str | None]:
    """The country that each of `texts` names, each distinct one resolved once."""
    return {text: find_country(text) for text in set(texts)}


def _spelling(text: str) -> str:
    """The letters of `text`, without accents and case."""
    folded = in_form("NFKD", text.replace("&", " and ")).casefold()
    words = "".join(sign for sign in folded if sign.isalnum() or sign.isspace()).split()
    if words[:1] == ["the"]:
        words = words[1:]
    return "".join(words)


@cache
def _by_spelling() -> dict[str, str]:
    """The code for each spelling. Most lists have codes at most, and do without it."""
    table: dict[str, str] = {}
    for line in f"{IN_OTHER_LANGUAGES.strip()}{COUNTRIES}".strip().splitlines():
        alpha2, *others = line.split("|")
        table |= {_spelling(name): alpha2 for name in (alpha2, *others) if name}
    return table
