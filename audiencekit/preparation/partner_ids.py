"""Whether a column that leaves unhashed may be what its owner says, ids of their own making."""

from __future__ import annotations

from collections import Counter
from typing import Final

from audiencekit.errors import MappingRefused, Refused
from audiencekit.identifiers.bare_numbers import KNOWN
from audiencekit.identifiers.personal_shapes import CHECKED_NUMBERS
from audiencekit.limits import (
    CHECKED_AMONG_IDS,
    MIXED_AMONG_NUMBERS,
    NATIONAL_AMONG_NUMBERS,
    NATIONAL_BEHIND_WORDS,
    NUMBERS_EVIDENCE,
    NUMBERS_THAT_COUNT,
    PAYMENTS_AMONG_NUMBERS,
    PERSONAL_AMONG_IDS,
    PHONES_AMONG_NUMBERS,
    PHONES_BEHIND_WORDS,
    SHAPES_THAT_COUNT,
)
from audiencekit.preparation.batches import MappedColumn
from audiencekit.preparation.phone_share import PhoneShare, find_phone_share
from audiencekit.preparation.tally import BareNumbers, ColumnTally, PersonalShapes

# Of Unix times until 2027 each reads as a mobile number of Bangladesh, of which a third begin beyond.
_TIMES: Final = ("10", 182, "BD")


def judge_partner_ids(column: MappedColumn, seen: ColumnTally) -> list[Refused]:
    """The reasons against sending the values of `column` as they are; empty for a kind that is hashed."""
    where = f"column {column.name} ({column.kind.value})"
    found: list[Refused] = []
    if phones := _phone_numbers(seen.bare_numbers, seen.valid):
        found.append(
            MappingRefused(
                f"{phones:,} of the {seen.bare_numbers.seen:,} long numbers in {where} read as phone numbers,"
                " and this is the only kind that leaves unhashed",
                hint="map the column to phone_number; if they are ids of your own making,"
                " say `confirm_partner_ids=True`",
            )
        )
    accounts = seen.payment_numbers
    enough = accounts.right >= NUMBERS_THAT_COUNT or accounts.right * 2 > seen.valid
    if enough and accounts.right > accounts.looked_at * PAYMENTS_AMONG_NUMBERS:
        found.append(
            MappingRefused(
                f"{accounts.right:,} of the {accounts.looked_at:,} values in {where} that are written like numbers of"
                " payment cards or bank accounts have the right check digits,"
                " and this is the only kind that leaves unhashed",
                hint="map a column of ids; if they are ids of your own making, say `confirm_partner_ids=True`",
            )
        )
    if looks := _looks_like(seen.personal_shapes):
        count, what = looks
        found.append(
            MappingRefused(
                f"{count:,} of {seen.personal_shapes.looked_at:,} values of {where} that were looked at are shaped like"
                f" {what}, and this is the only kind that leaves unhashed",
                hint="map a column of ids that a program made; if they are such ids, say `confirm_partner_ids=True`",
            )
        )
    return found


def _looks_like(seen: PersonalShapes) -> tuple[int, str] | None:
    """How many of `seen` are of shapes that ids do not have, and the commonest of these; None where they may be ids."""
    checked = seen.shapes[CHECKED_NUMBERS]
    if checked > seen.looked_at * CHECKED_AMONG_IDS:
        return checked, CHECKED_NUMBERS
    shapes = Counter({shape: count for shape, count in seen.shapes.items() if shape != CHECKED_NUMBERS})
    shapes["words and a phone number"] = _behind_words(seen)
    enough = SHAPES_THAT_COUNT if seen.looked_at > SHAPES_THAT_COUNT else 1
    for what, _ in shapes.most_common(1):
        if (total := min(shapes.total(), seen.looked_at)) >= enough and total > seen.looked_at * PERSONAL_AMONG_IDS:
            return total, what
    return None


def _behind_words(seen: PersonalShapes) -> int:
    """How many values of `seen` are words and a phone number; 0 where the numbers may be ids.

    Stricter than without words: what nearly all ids of ten digits may be, numbers of several countries, is not counted.
    """
    known = seen.readings[KNOWN]
    most = max((count for country, count in seen.readings.items() if country != KNOWN), default=0)
    are_phones = known > seen.tried * PHONES_BEHIND_WORDS or known + most > seen.tried * NATIONAL_BEHIND_WORDS
    return seen.numbered if are_phones else 0


def _phone_numbers(numbers: BareNumbers, values: int) -> int:
    """How many of `numbers`, in a column of so many `values`, read as phone numbers; 0 where they may be ids."""
    most = max((numbers.by_country[country] for country in _countries(numbers)), default=0)
    readable = sum(count for form, count in numbers.forms.items() if " " in form)
    are_plain = numbers.plain > numbers.seen * PHONES_AMONG_NUMBERS
    are_national = most > numbers.seen * NATIONAL_AMONG_NUMBERS
    if are_plain or are_national:
        count = max(most, numbers.plain)
        if numbers.seen * 2 > values or (are_plain and numbers.plain >= NUMBERS_THAT_COUNT):
            return count
        own = are_national and numbers.by_country[""] == most and most >= NUMBERS_THAT_COUNT
        return count if own or _is_certain(find_phone_share(numbers)) else 0
    if readable <= numbers.seen * MIXED_AMONG_NUMBERS:
        return 0
    found = find_phone_share(numbers)
    return readable if _is_certain(found) and found.share > MIXED_AMONG_NUMBERS else 0


def _countries(numbers: BareNumbers) -> set[str]:
    size, last, country = _TIMES
    may_be_times = numbers.reach.get(size, (0, 0))[1] <= last
    return set(numbers.by_country) - ({country} if may_be_times else set())


def _is_certain(found: PhoneShare) -> bool:
    return found.evidence > NUMBERS_EVIDENCE
