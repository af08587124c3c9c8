"""Contact lists as programs export them, at their worst: numbers of every region, every spelling, and much dirt.

Of each column 15 % are dirt (`values/dirt.py`), one value in a hundred is of each spelling that few lists have
(`values/spellings.py`), and the rest is in the usual spellings, all equally often. Of traces of spreadsheets and of
hashes there are a tenth as many, since a file with more of them is refused as a whole. What a spelling is comes from
Unicode and from phonenumbers, so that no value here was chosen by how fast it is.

There are two mixes. One keeps to the spellings with which it was first published, and for which its aims were set:
32 % of its addresses are of rare ones. The other has every spelling that was found since, too, and grows.
"""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import phonenumbers
import pyarrow as pa
import pyarrow.compute as pc
from phonenumbers import PhoneNumber

from benchmarks.draws import Draws
from benchmarks.emails import Emails
from benchmarks.values.dirt import DIRTY_ADDRESSES, DIRTY_NUMBERS
from benchmarks.values.spellings import EMAIL_SPELLINGS, PHONE_SPELLINGS, Spell, draw_number

REGIONS: Final = tuple(sorted(phonenumbers.SUPPORTED_REGIONS))
DIRTY_PER_100: Final = 15
USUAL_NUMBERS: Final = ("E.164", "international", "national", "national digits", "00 in front", "RFC 3966")
USUAL_ADDRESSES: Final = ("plain", "capitals")
# More than 0.5 % of these in a column, and the file is refused.
REFUSED_NUMBERS: Final = ("decimal places", "rounded", "formula", "a hash")
REFUSED_ADDRESSES: Final = ("equals sign in front", "a hash")
REFUSED_ONE_IN: Final = 10  # of as many as there are of others
OTHER_COUNTRY_ONE_IN: Final = 50
NO_COUNTRY_ONE_IN: Final = 50

FIRST_NUMBERS: Final = frozenset(
    {
        *USUAL_NUMBERS,
        *("tel: in front", "marks at the ends", "spaces at the ends", "spaces of Unicode", "dashes of Unicode"),
        *("apostrophe in front", 'text formula ="…"', "digits of a script", "full width", "two plus signs"),
        *("0 0 in front", "soft hyphen inside", "marks inside", "zero in brackets", "slashes", "decimal places"),
        *("extension", "carrier code"),
    }
)
FIRST_ADDRESSES: Final = frozenset(
    {
        *USUAL_ADDRESSES,
        *("marks at the ends", "spaces at the ends", "marks inside", "full-width @", "apostrophe in front"),
        *("equals sign in front", "accented letters", "accented capitals", "decomposed letters", "dotted capital I"),
        *("Thai letters", "Devanagari letters", "Arabic letters", "Hebrew letters", "Chinese letters"),
        *("Korean letters", "Japanese letters", "Greek letters", "Cyrillic letters", "Georgian letters"),
        *("emoji letters", "letters of any script", "distinct IDN", "long distinct IDN", "distinct xn--"),
        *("distinct ab--cd", "local part of 64", "domain of 100", "address of 300", "display name"),
        *("special-use domain", "dots of Japanese carriers"),
    }
)
FIRST_DIRTY_ADDRESSES: Final = frozenset(
    {
        *("missing", "placeholder", "no at sign", "two at signs", "two in a cell", "no domain", "no top"),
        *("double dot", "stray sign", "space inside", "noted", "a number", "a name", "an address of the web"),
        "a hash",
    }
)

_SEED: Final = 1  # of the forms; the rows follow from a seed of their own
_FORMS_OF_NUMBERS: Final = 6  # of each spelling and region
_FORMS_OF_ADDRESSES: Final = 400  # of each spelling
_DRAWN: Final = 6  # digits at the end of a number
_MOST_DRAWN: Final = 12  # digits of an address
_NEEDS_QUOTES: Final = frozenset('",\r\n')


class Form(NamedTuple):
    """A cell, and the places of its characters that are digits to be drawn anew."""

    text: str
    drawn: tuple[int, ...]


class Forms:
    """Cells that differ in their digits only: a column of them is filled without a loop."""

    def __init__(self, forms: Sequence[Form]) -> None:
        encoded = [_with_zeros(form).encode() for form in forms]
        self._width = max(map(len, encoded)) + 1  # the last byte takes the digits of forms that have fewer
        self._letters = np.array(encoded, dtype=f"S{self._width}").view(np.uint8).reshape(-1, self._width)
        self._places = np.full((len(forms), _MOST_DRAWN), self._width - 1)
        for row, form in enumerate(forms):
            # Ten digits of a script differ in their last byte alone.
            ends = [len(form.text[: place + 1].encode()) - 1 for place in form.drawn[-_MOST_DRAWN:]]
            self._places[row, : len(ends)] = ends

    def column(self, chosen: npt.NDArray[np.int64], draws: Draws) -> Any:
        """The forms of these numbers, their digits drawn anew."""
        letters = self._letters[chosen]
        digits = draws.below(10**_MOST_DRAWN)[:, None] // 10 ** np.arange(_MOST_DRAWN) % 10
        letters[np.arange(draws.rows)[:, None], self._places[chosen]] += digits.astype(np.uint8)
        letters[:, -1] = 0
        return pa.array(letters.view(f"S{self._width}").ravel()).cast(pa.string())


class Spellings:
    """The spellings of one column in a row: the usual ones, then the others of `clean`, then those of `dirty`."""

    def __init__(
        self, clean: Mapping[str, Any], dirty: Mapping[str, Any], usual: Sequence[str], refused: Sequence[str]
    ) -> None:
        names = [*usual, *(name for name in clean if name not in usual), *dirty]
        self.made_by = [{**clean, **dirty}[name] for name in names]
        self._usual, self._clean, self._dirty = len(usual), len(clean), len(dirty)
        self._refused = [names.index(name) for name in refused]

    def draw(self, draws: Draws) -> npt.NDArray[np.int64]:
        """The number of the spelling that each row has."""
        percent = draws.below(100)
        usual, dirt = draws.below(self._usual), self._clean + draws.below(self._dirty)
        other = self._usual + percent - DIRTY_PER_100
        drawn = np.where(percent < DIRTY_PER_100, dirt, np.where(other < self._clean, other, usual))
        is_left_out = np.isin(drawn, self._refused) & (draws.below(REFUSED_ONE_IN) > 0)
        return np.where(is_left_out, usual, drawn)


class Exports:
    """Makes the columns. The forms are written once, which takes some seconds.

    With every spelling that is known, or with those that the mix was first published with.
    """

    def __init__(self, *, every_spelling: bool) -> None:
        numbers, addresses, dirty = PHONE_SPELLINGS, EMAIL_SPELLINGS, DIRTY_ADDRESSES
        if not every_spelling:
            numbers, addresses = _only(numbers, FIRST_NUMBERS), _only(addresses, FIRST_ADDRESSES)
            dirty = _only(dirty, FIRST_DIRTY_ADDRESSES)
        self._regions, self._emails = pa.array(REGIONS), Emails()
        self._of_numbers = Spellings(numbers, DIRTY_NUMBERS, USUAL_NUMBERS, REFUSED_NUMBERS)
        self._of_addresses = Spellings(addresses, dirty, USUAL_ADDRESSES, REFUSED_ADDRESSES)
        self._numbers = Forms([form for spell in self._of_numbers.made_by for form in _forms_of_numbers(spell)])
        self._addresses = Forms([form for make in self._of_addresses.made_by for form in _forms_of_addresses(make)])

    def cells(self, draws: Draws) -> dict[str, Any]:
        """Columns of addresses, numbers and countries, as they stand in a CSV file."""
        region = draws.below(len(REGIONS))
        spelling = self._of_numbers.draw(draws)
        number = (spelling * len(REGIONS) + region) * _FORMS_OF_NUMBERS + draws.below(_FORMS_OF_NUMBERS)
        phone = self._numbers.column(number, draws)
        spelling = self._of_addresses.draw(draws)
        email = self._addresses.column(spelling * _FORMS_OF_ADDRESSES + draws.below(_FORMS_OF_ADDRESSES), draws)
        email = pc.if_else(pa.array(spelling == 0), self._emails.clean(draws), email)
        other = pc.if_else(draws.chance(OTHER_COUNTRY_ONE_IN), draws.words(self._regions), self._regions.take(region))
        return {"email": email, "phone": phone, "country": pc.if_else(draws.chance(NO_COUNTRY_ONE_IN), "", other)}


def _only(spellings: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
    return {name: spell for name, spell in spellings.items() if name in names}


def _forms_of_numbers(spell: Spell) -> Iterator[Form]:
    for region in REGIONS:
        for number in range(_FORMS_OF_NUMBERS):
            chance = random.Random(f"{_SEED} {region} {number}")
            drawn = draw_number(chance, region)
            yield Form("", ()) if drawn is None else _form_of_number(spell, drawn, chance)


def _form_of_number(spell: Spell, number: PhoneNumber, chance: random.Random) -> Form:
    """As `number` is written; the digits to draw are those in which its neighbour, written alike, differs from it."""
    state = chance.getstate()
    text = _cell(spell(chance, number))
    chance.setstate(state)
    other = _cell(spell(chance, _neighbour(number)))
    if len(text) != len(other):
        return Form(text, ())
    return Form(text, tuple(place for place, pair in enumerate(zip(text, other, strict=True)) if _are_digits(*pair)))


def _neighbour(number: PhoneNumber) -> PhoneNumber:
    """A number that differs in each of its last digits."""
    digits = str(number.national_number)
    kept = digits[: max(2, len(digits) - _DRAWN)]
    changed = kept + "".join(str((int(digit) + 1) % 10) for digit in digits[len(kept) :])
    neighbour = PhoneNumber()
    neighbour.merge_from(number)
    neighbour.national_number = int(changed)
    return neighbour


def _are_digits(one: str, other: str) -> bool:
    return one != other and unicodedata.decimal(one, None) is not None and unicodedata.decimal(other, None) is not None


def _forms_of_addresses(make: Any) -> Iterator[Form]:
    chance = random.Random(_SEED)
    for _ in range(_FORMS_OF_ADDRESSES):
        text = _cell(make(chance))
        yield Form(text, tuple(place for place, letter in enumerate(text) if _is_free(text, place, letter)))


def _is_free(text: str, place: int, letter: str) -> bool:
    """Whether another digit may stand there; behind the last hyphen of an encoded label it is a part of the code."""
    begin = max(text.rfind(sign, 0, place) for sign in "@.") + 1
    label = re.split(r"[.\s]", text[begin:], maxsplit=1)[0]
    return letter in "0123456789" and not (label.startswith("xn--") and place - begin > label.rfind("-"))


def _with_zeros(form: Form) -> str:
    letters = list(form.text)
    for place in form.drawn[-_MOST_DRAWN:]:
        letters[place] = chr(ord(letters[place]) - unicodedata.decimal(letters[place]))
    return "".join(letters)


def _cell(text: str) -> str:
    """`text` as it stands in a CSV file."""
    return '"' + text.replace('"', '""') + '"' if _NEEDS_QUOTES & set(text) else text
