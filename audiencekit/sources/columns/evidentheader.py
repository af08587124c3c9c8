"""Names of columns that may be shown although their words are not known: those of a header that is beyond doubt one.

A file without a header begins with a person whose cells were taken for names. The first line is beyond doubt a header
where one of its cells names the kind of the cells below it, or the part of a person's name, and most of them
consist of words that headers are made of.
"""

from __future__ import annotations

from typing import Final

from audiencekit.identifiers.kind_table import is_identifier
from audiencekit.identifiers.kinds import Kind
from audiencekit.sources.columns.evidence import MIN_PLAUSIBLE_SHARE, plausible_share
from audiencekit.sources.columns.header import Header, compare_key
from audiencekit.sources.columns.naming import named_kind, names_name_part
from audiencekit.sources.columns.vocabulary import MAX_SHOWN_DIGITS, MAX_SHOWN_LENGTH, is_showable, words, words_of
from audiencekit.sources.sampling import Sample

MOST: Final = 0.5  # more of the names than this share consist of known words
_TELLING: Final = frozenset({Kind.EMAIL, Kind.PHONE_NUMBER, Kind.DEVICE_ID})  # handles could be any words
_NEGATIONS: Final = words("no old test temp sample demo")  # "no phone" stands where a phone number is missing
_FORMULAS: Final = ("=", "+", "-", "@")  # what a spreadsheet would reckon with


def evident_names(header: Header, sample: Sample) -> frozenset[int]:
    """The positions of the names that may be shown whatever their words; none unless the header is beyond doubt one."""
    names = header.names or ()
    filled = [place for place, name in enumerate(names[: len(sample.columns)]) if name.strip()]
    known = sum(is_showable(names[place]) or header.key(place) in header.given for place in filled)
    if known <= MOST * len(filled):
        return frozenset()
    if not any(_names_its_cells(names[place], sample.filled(place)) for place in filled):
        return frozenset()
    return frozenset(place for place in filled if _is_impersonal(names[place], sample.columns[place]))


def _names_its_cells(name: str, filled: list[str]) -> bool:
    if not is_showable(name) or words_of(name)[0] in _NEGATIONS:
        return False
    kind = named_kind(name)
    if kind in _TELLING and plausible_share(kind, filled) >= MIN_PLAUSIBLE_SHARE:
        return True
    return names_name_part(name)


def _is_impersonal(name: str, cells: tuple[str, ...]) -> bool:
    """Whether a name is no identifier, no number, no cell of its own column, and does nothing when it is shown."""
    own = name.strip()
    if len(own) > MAX_SHOWN_LENGTH or not any(map(str.isalpha, own)) or own.startswith(_FORMULAS):
        return False
    if "@" in own or sum(map(str.isdecimal, own)) > MAX_SHOWN_DIGITS or is_identifier(own):
        return False
    return compare_key(own) not in set(map(compare_key, set(cells)))
