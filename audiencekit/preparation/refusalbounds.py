"""Whether what was read may be sent: every bound between a rejected row and a refused source is applied here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from audiencekit.errors import MappingRefused, PlanRefused, Refused
from audiencekit.identifiers.kinds import Kind, Reason
from audiencekit.limits import (
    DEFAULT_MAX_REJECTED_COLUMN_SHARE,
    ROUNDED_IDS,
    ROUNDED_SHARE,
    TOLERATED_FAULT_SHARE,
    WRONG_KIND_MIN_VALUES,
    tolerated_fault_rows,
)
from audiencekit.optiontext import option
from audiencekit.preparation.batches import ColumnMapping, MappedColumn
from audiencekit.preparation.partner_ids import judge_partner_ids
from audiencekit.preparation.tally import ColumnTally, Tally

# Reasons that say that a value is not of the column's kind at all.
WRONG_KIND: Final = frozenset(
    {
        Reason.INVALID_SYNTAX,
        Reason.NOT_POSSIBLE,
        Reason.NOT_VALID,
        Reason.NOT_INTEGER,
        Reason.WRONG_HASH,
        Reason.TOO_LONG,
    }
)
LOOK: Final = "read the rejections (`rejections=FILE`)"
_COUNTRY: Final = "check the country (`country=`, `country_column=`)"
# Rows that one option, or one export more, saves: what their owner does before allowing that they are lost.
REMEDIES: Final[Mapping[Reason, str]] = {
    Reason.NO_COUNTRY: "give the country of the phone numbers with `country=` or `country_column=`; where it is given,"
    " write numbers that begin with its code with a plus: their digits can be read in two ways",
    Reason.ENCODING: "give the right encoding, for example `encoding='cp1252'`",
    Reason.RAGGED: "repair the rows (NDJSON: one flat object a line), or give `delimiter=` if the columns were split"
    " wrongly",
    Reason.ALREADY_HASHED: "give `hashed=KIND` if the whole column is SHA-256",
    Reason.WRONG_HASH: "hash again from the source, as lower-case hex of SHA-256",
    Reason.EXCEL_MANGLED: "format the column as text in the spreadsheet, or read it as text in "
    "the program that wrote it (pandas: dtype=str), and export it again",
    Reason.DISPLAY_NAME: "export the bare addresses",
    Reason.INVALID_SYNTAX: f"{LOOK}, or give `split_cells=` if the cells hold several values",
    Reason.NOT_VALID: _COUNTRY,
    Reason.NOT_POSSIBLE: _COUNTRY,
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
        seen = [(column, tally.columns.get(column.position, ColumnTally())) for column in mapping.columns]
        problems += [problem for column, counts in seen for problem in judge_partner_ids(column, counts)]
    return problems + _judge_rows(tally, bounds)


def _judge_rows(tally: Tally, bounds: Bounds) -> list[Refused]:
    if tally.rows_read == 0:
        empty = PlanRefused("the source has no rows", hint="give `allow_empty=True` if that is expected")
        return [] if bounds.allow_empty else [empty]
    if tally.rows_rejected > bounds.max_rejected_share * tally.rows_read:
        share = f"{tally.rows_rejected:,} of {tally.rows_read:,} rows were rejected ({_most_common(tally)})"
        remedy = _remedy(tally)
        allow = "if they are right, allow more with `max_rejected_share=`"
        if remedy is None or LOOK not in remedy:
            allow = f"{LOOK}; {allow}"
        hint = f"{remedy}; or {allow}" if remedy else allow
        return [PlanRefused(f"{share}, more than the share of {bounds.max_rejected_share:g} allows", hint=hint)]
    if tally.records == 0:
        whole = f"every one of {tally.rows_read:,} rows was rejected ({_most_common(tally)})"
        return [PlanRefused(whole, hint=_remedy(tally) or LOOK)]
    return []


def _judge_column(column: MappedColumn, tally: Tally, bounds: Bounds) -> list[Refused]:
    if column.is_guess:
        return []
    seen = tally.columns.get(column.position, ColumnTally())
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


def _wrong_kind(seen: ColumnTally, bounds: Bounds) -> int:
    """How many values are of another kind, 0 when too few to say so."""
    wrong = sum(count for reason, count in seen.reasons.items() if reason in WRONG_KIND)
    enough = wrong >= WRONG_KIND_MIN_VALUES or bool(seen.likely)
    return wrong if enough and wrong > seen.present * bounds.max_rejected_column_share else 0


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
        return _COUNTRY
    return "map the right column with `columns={'KIND': 'COLUMN'}`; say `split_cells=` if its cells hold several values"


def _remedy(tally: Tally) -> str | None:
    """The remedy for the most frequent reason that has one; None where none has."""
    found = (REMEDIES[Reason(reason)] for reason, _ in tally.reasons.most_common() if reason in REMEDIES)
    return next(found, None)


def _most_common(tally: Tally) -> str:
    return ", ".join(f"{reason} {count:,}" for reason, count in tally.reasons.most_common(3))
