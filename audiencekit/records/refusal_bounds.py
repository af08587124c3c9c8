"""The decision whether a source may be sent: all bounds on its rejected rows are applied here."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
import pyarrow as pa

from audiencekit.errors import MappingRefused, PlanRefused, Refused
from audiencekit.identifiers.bare_numbers import KNOWN
from audiencekit.identifiers.kinds import Kind, Reason
from audiencekit.identifiers.personal_shapes import CHECKED_NUMBERS
from audiencekit.limits import (
    CHECKED_AMONG_IDS,
    DEFAULT_MAX_REJECTED_COLUMN_SHARE,
    MIXED_AMONG_NUMBERS,
    NATIONAL_AMONG_NUMBERS,
    NATIONAL_BEHIND_WORDS,
    NUMBERS_EVIDENCE,
    NUMBERS_THAT_COUNT,
    PAYMENTS_AMONG_NUMBERS,
    PERSONAL_AMONG_IDS,
    PHONES_AMONG_NUMBERS,
    PHONES_BEHIND_WORDS,
    ROUNDED_IDS,
    ROUNDED_SHARE,
    SHAPES_THAT_COUNT,
    TOLERATED_FAULT_SHARE,
    WRONG_KIND_MIN_VALUES,
    tolerated_fault_rows,
)
from audiencekit.records.batches import ColumnMapping, MappedColumn
from audiencekit.records.columns.suspicions import PLAIN, count_bare_numbers
from audiencekit.records.tally import BareNumbers, ColumnTally, PersonalShapes, Tally
from audiencekit.text import option

# Reasons that say that a value is not of the column's kind at all.
WRONG_KIND: Final = frozenset(
    {
        Reason.INVALID_SYNTAX,
        Reason.NOT_POSSIBLE,
        Reason.NOT_VALID,
        Reason.NOT_INTEGER,
        Reason.WRONG_HASH,
        Reason.TOO_LONG,
        Reason.NOT_TEXT,
    }
)
NAME_COUNTRIES: Final = "write the country of such rows as its ISO code (GB) or its full name"
LOOK: Final = "read the rejections (`rejections=FILE`)"
_COUNTRY: Final = "check the country (`country=`, `country_column=`)"
_NO_NUMBERS: Final = f"{LOOK}: numbers may lack their area code, be of another country, or be from before a renumbering"
# Rows that one option, or one export more, saves: what their owner does before allowing that they are lost.
REMEDIES: Final[Mapping[Reason, str]] = {
    Reason.NO_COUNTRY: "give the country of the phone numbers with `country=` or `country_column=`; where it is given,"
    " write it as its ISO code or English name, and international numbers with +: some can be read in two ways",
    Reason.ENCODING: "give the right encoding, for example `encoding='cp1252'`",
    Reason.RAGGED: "repair the rows (NDJSON: one flat object a line), or give `delimiter=` if the columns were split"
    " wrongly",
    Reason.NOT_TEXT: "write the values as text in the program that the list comes from; a spreadsheet program computes"
    " formulas when it opens and saves a workbook",
    Reason.ALREADY_HASHED: "give `hashed=KIND` if the whole column is SHA-256",
    Reason.WRONG_HASH: "hash again from the source, as lower-case hex of SHA-256",
    Reason.EXCEL_MANGLED: "format the column as text in the spreadsheet, or read it as text in "
    "the program that wrote it (pandas: dtype=str), and export it again",
    Reason.DISPLAY_NAME: "export the bare addresses",
    Reason.INVALID_SYNTAX: f"{LOOK}, or give `split_cells=` if the cells hold several values",
    Reason.NOT_VALID: _NO_NUMBERS,
    Reason.NOT_POSSIBLE: _NO_NUMBERS,
    Reason.EXTENSION: "export numbers that reach the person, without extensions",
    Reason.SHARED: "give `shared_values=N` if N people may share a value, or `shared_values='keep'`",
    Reason.UNKNOWN_OPERATION: "write update or delete in the operation column",
    Reason.NO_IDENTIFIER: "map more columns with `columns={'KIND': 'COLUMN'}` if others hold identifiers",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """The bounds that the owner of the source allows: `max_rejected_share` of all rows, and a source without rows.

    More than `max_rejected_column_share` of values that are not of their column's kind refuse the source. With
    `confirm_partner_ids` the owner says that the numbers of the kind that leaves unhashed are no one's.
    """

    max_rejected_share: float
    max_rejected_column_share: float = DEFAULT_MAX_REJECTED_COLUMN_SHARE
    allow_empty: bool = False
    confirm_partner_ids: bool = False


def judge(tally: Tally, mapping: ColumnMapping, bounds: Bounds, *, notes: tuple[str, ...] = ()) -> list[Refused]:
    """Everything that forbids sending, worst first; empty when the plan may be sent."""
    if not mapping.columns:
        hint = "name one with `columns={'KIND': 'COLUMN'}`" + "".join(f"; {note}" for note in notes)
        return [MappingRefused("no column with identifiers was recognised", hint=hint)]
    problems = [problem for column in mapping.columns for problem in _judge_column(column, tally, bounds)]
    if not bounds.confirm_partner_ids:
        seen = [(column, tally.columns.get(column.key, ColumnTally())) for column in mapping.columns]
        problems += [problem for column, counts in seen for problem in judge_partner_ids(column, counts)]
    return problems + _judge_rows(tally, mapping, bounds)


def _judge_rows(tally: Tally, mapping: ColumnMapping, bounds: Bounds) -> list[Refused]:
    if tally.rows_read == 0:
        empty = PlanRefused("the source has no rows", hint="give `allow_empty=True` if that is expected")
        return [] if bounds.allow_empty else [empty]
    if tally.rows_rejected > bounds.max_rejected_share * tally.rows_read:
        share = f"{tally.rows_rejected:,} of {tally.rows_read:,} rows were rejected ({_most_common(tally)})"
        remedy = _remedy(tally, mapping)
        allow = "if they are right, allow more with `max_rejected_share=`"
        if remedy is None or LOOK not in remedy:
            allow = f"{LOOK}; {allow}"
        hint = f"{remedy}; or {allow}" if remedy else allow
        return [PlanRefused(f"{share}, more than the share of {bounds.max_rejected_share:g} allows", hint=hint)]
    if tally.records == 0:
        whole = f"every one of {tally.rows_read:,} rows was rejected ({_most_common(tally)})"
        return [PlanRefused(whole, hint=_remedy(tally, mapping) or LOOK)]
    return []


def _judge_column(column: MappedColumn, tally: Tally, bounds: Bounds) -> list[Refused]:
    if column.is_guess:
        return []
    seen = tally.columns.get(column.key, ColumnTally())
    tolerated = tolerated_fault_rows(tally.rows_read)
    where, leave_out = (
        f"column {column.name} ({column.kind.value})",
        f"leave it out with {option('ignore', [column.name])}",
    )
    found: list[Refused] = []
    if seen.reasons[Reason.ALREADY_HASHED] > min(tolerated, seen.present * bounds.max_rejected_column_share):
        hint = f"if the whole column is SHA-256, say {option('hashed', [column.kind.value])}; or {leave_out}"
        found.append(MappingRefused(f"{where} holds {seen.reasons[Reason.ALREADY_HASHED]:,} hashes", hint=hint))
    if seen.reasons[Reason.EXCEL_MANGLED] > tolerated:
        count = seen.reasons[Reason.EXCEL_MANGLED]
        hint = f"{REMEDIES[Reason.EXCEL_MANGLED]}; or {leave_out}"
        found.append(
            PlanRefused(f"a spreadsheet has turned {count:,} values of {where} into rounded numbers", hint=hint)
        )
    if seen.rounded > max(ROUNDED_IDS, seen.present * ROUNDED_SHARE):
        hint = f"{REMEDIES[Reason.EXCEL_MANGLED]}; or {leave_out}"
        found.append(PlanRefused(f"a spreadsheet has rounded {seen.rounded:,} ids of {where}", hint=hint))
    if seen.reasons[Reason.LOOKS_PERSONAL] > seen.present * TOLERATED_FAULT_SHARE:
        count = seen.reasons[Reason.LOOKS_PERSONAL]
        hint = f"this is the only kind that leaves unhashed: map the column to its right kind, or {leave_out}"
        found.append(
            MappingRefused(f"{count:,} values of {where} look like emails, phones, names or IP addresses", hint=hint)
        )
    if not found and (wrong := _wrong_kind(seen, bounds)):
        hint = f"{_hint(column.kind, seen)}; {leave_out}; or send what is valid with `max_rejected_column_share=1`"
        found.append(MappingRefused(f"{wrong:,} of {seen.present:,} values of {where} are not of that kind", hint=hint))
    return found


def are_too_many(wrong: int, seen: ColumnTally, share: float = DEFAULT_MAX_REJECTED_COLUMN_SHARE) -> bool:
    """Whether so many values of another kind refuse a column of which more than `share` may not be."""
    enough = wrong >= WRONG_KIND_MIN_VALUES or bool(seen.likely)
    return enough and wrong > seen.present * share


def _wrong_kind(seen: ColumnTally, bounds: Bounds) -> int:
    """How many values are of another kind, 0 when too few to say so."""
    wrong = of_another_kind(seen)
    return wrong if are_too_many(wrong, seen, bounds.max_rejected_column_share) else 0


def of_another_kind(seen: ColumnTally) -> int:
    """How many values of a column are rejected for a reason of WRONG_KIND."""
    return sum(count for reason, count in seen.reasons.items() if reason in WRONG_KIND)


def _hint(kind: Kind, seen: ColumnTally) -> str:
    """The remedy for values that are not of `kind`, by their looks, else by their main reason."""
    kinds: list[tuple[Kind, int]] = seen.likely.most_common(1)
    if seen.other_hashes and kind is Kind.DEVICE_ID:
        return "without dashes an id may as well be an MD5: export the ids with their dashes"
    if seen.other_hashes:
        return "they look like hashes that are not SHA-256, which is the only one that the service takes"
    if kinds:
        return f"they look like {kinds[0][0].value}: map the column to that kind, or another column to this one"
    (main, _), *_ = (item for item in seen.reasons.most_common() if item[0] in WRONG_KIND)
    if main in (Reason.NOT_VALID, Reason.NOT_POSSIBLE):
        return _COUNTRY if seen.valid_elsewhere * 2 > seen.tried_elsewhere else _NO_NUMBERS
    if main == Reason.NOT_TEXT:
        return REMEDIES[Reason.NOT_TEXT]
    return "map the right column with `columns={'KIND': 'COLUMN'}`; say `split_cells=` if its cells hold several values"


def _remedy(tally: Tally, mapping: ColumnMapping) -> str | None:
    """Return the remedy for the most frequent reason that has one; None if no reason has one."""
    of_country = next((column.country_remedy for column in mapping.columns if column.country_remedy), None)
    remedies = REMEDIES if of_country is None else {**REMEDIES, Reason.NO_COUNTRY: of_country}
    found = (remedies[Reason(reason)] for reason, _ in tally.reasons.most_common() if reason in remedies)
    return next(found, None)


def _most_common(tally: Tally) -> str:
    return ", ".join(f"{reason} {count:,}" for reason, count in tally.reasons.most_common(3))


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


_FEW: Final = 0.01  # of a column's numbers: a size that so few have says nothing
_DRAWN: Final = 2_000  # numbers that are spread evenly, to be compared with
_GOLDEN: Final = (math.sqrt(5) - 1) / 2  # multiples of it leave the widest gaps between their fractions
_ROUNDS: Final = 60  # of the fit; more change no decision
_LEAST_SHARE: Final = 1 / _DRAWN
_LEAST_FIRST, _GREATEST_FIRST = 100, 999


@dataclass(frozen=True, slots=True)
class PhoneShare:
    """The likeliest share of phone numbers, and by how much (as a logarithm) they explain the list better than ids."""

    share: float
    evidence: float


def find_phone_share(numbers: BareNumbers) -> PhoneShare:
    """The share of phone numbers among `numbers`, at least one. Very few sizes count as ids."""
    by_size = _by_size(numbers)
    sizes = sorted(int(size) for size in by_size if not size.startswith("0"))
    phones, evidence = 0.0, 0.0
    for size, forms in by_size.items():
        if size.startswith("0"):  # a zero and what comes behind it is in the trunk prefix already
            phones += sum(count for form, count in forms.items() if PLAIN in form)
            continue
        low, high = numbers.reach[size]
        low = low if int(size) == sizes[0] else _LEAST_FIRST
        high = high if int(size) == sizes[-1] else _GREATEST_FIRST
        found = _fit(forms, _spread_evenly(int(size), low, high))
        phones += found.share * forms.total()
        evidence += found.evidence
    return PhoneShare(phones / numbers.seen, evidence)


def _by_size(numbers: BareNumbers) -> dict[str, Counter[frozenset[str]]]:
    """The forms of each number of digits that not very few have, as the names in them."""
    found: dict[str, Counter[frozenset[str]]] = {}
    for form, count in numbers.forms.items():
        size, *names = form.split(" ")
        found.setdefault(size, Counter())[frozenset(names)] += count
    return {size: forms for size, forms in found.items() if forms.total() >= numbers.seen * _FEW}


def _fit(forms: Counter[frozenset[str]], evenly: dict[str, float]) -> PhoneShare:
    """The mixture of ids, and of each name's numbers, that explains `forms` best; `evenly` has the share of ids that
    read as each."""
    names = sorted(frozenset().union(*forms))
    reads = np.array([[1.0, *(name in form for name in names)] for form in forms])
    densities = reads / np.array([1.0, *(max(evenly.get(name, 0.0), _LEAST_SHARE) for name in names)])
    counts = np.fromiter(forms.values(), np.float64, len(forms))
    weights = np.array([0.5, *(0.5 / len(names) for _ in names)])
    for _ in range(_ROUNDS):
        parts = densities * weights
        weights = counts @ (parts / parts.sum(axis=1, keepdims=True)) / counts.sum()
    evidence = float(counts @ np.log((densities * weights).sum(axis=1)))
    return PhoneShare(1.0 - float(weights[0]), evidence)


@lru_cache(maxsize=64)
def _spread_evenly(size: int, low: int, high: int) -> dict[str, float]:
    """The share of numbers of `size` digits, of which the first three are `low` to `high`, that read as each name."""
    first, span = low * 10 ** (size - 3), (high - low + 1) * 10 ** (size - 3)
    drawn = [str(first + int(place * _GOLDEN % 1 * span)) for place in range(1, _DRAWN + 1)]
    shares = Counter[str]()
    for form, count in count_bare_numbers(pa.array(drawn), None, None).forms.items():
        shares.update(dict.fromkeys(form.split(" ")[1:], count))
    return {name: count / _DRAWN for name, count in shares.items()}
