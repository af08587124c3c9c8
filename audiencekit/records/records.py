"""A batch of text -> a batch of records: the identifiers of each row that qualified, hashed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from itertools import compress, islice
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from audiencekit.identifiers.countries import UNKNOWN_COUNTRY, find_countries
from audiencekit.identifiers.kind_table import Rulings, has_email_form, likely_kind, numbers_to_ask
from audiencekit.identifiers.kinds import DEFAULT_RULES, Kind, Reason, Rules
from audiencekit.identifiers.several_values import MAY_DIVIDE, SEVERAL, values_in
from audiencekit.identifiers.texts import trim
from audiencekit.limits import DEFAULT_MAX_REJECTED_COLUMN_SHARE
from audiencekit.personal import HashedRecords, guarded
from audiencekit.records.batches import (
    CONSENT,
    COUNTRY,
    IS_DELETE,
    OPERATION,
    ROW,
    ColumnMapping,
    MappedColumn,
    Rejections,
    TextBatch,
    resolve_countries,
)
from audiencekit.records.by_definition import Decided
from audiencekit.records.columns.arrays import (
    HASH_TYPE,
    REASONS,
    UNDECIDED,
    VALID,
    Bools,
    Codes,
    arrow_array,
    code_of,
    hash_matrix,
    list_array,
)
from audiencekit.records.columns.checks import matches
from audiencekit.records.columns.small_kinds import count_personal_shapes
from audiencekit.records.columns.suspicions import count_bare_numbers, count_payment_numbers
from audiencekit.records.deciding import VALUE_LOOPS
from audiencekit.records.tally import MOST_CONSENTS, ColumnTally, Tally
from audiencekit.records.tried_values import LOOKED_AT, TriedValues, count_lookalikes

UPDATE: Final = "Update"
DELETE: Final = "Delete"
OPERATION_TYPES: Final = (UPDATE, DELETE)

# Of each kind, what a value is stored as: 32 bytes of hash, or the text of what leaves unhashed.
VALUE_TYPES: Final = {kind: HASH_TYPE if kind.is_hashed else pa.string() for kind in Kind}

_HEAD_BYTES: Final = 8  # of a hash: as many as a number has

_PLACES: Final = {kind: np.uint8(place) for place, kind in enumerate(Kind)}  # of the bits of `Tally.combinations`

# One line a record. Within a kind the values are distinct and sorted, so that equal key sets are equal bytes; null
# where a kind has none.
RECORD_SCHEMA: Final = pa.schema(
    [
        pa.field(ROW, pa.int64(), nullable=False),
        pa.field(IS_DELETE, pa.bool_(), nullable=False),
        *(pa.field(kind.value, pa.list_(value_type)) for kind, value_type in VALUE_TYPES.items()),
    ]
)


@dataclass(frozen=True, slots=True)
class PreparedBatch:
    """The results of a TextBatch: `records` wraps a RecordBatch of RECORD_SCHEMA, `rejections` has REJECTION_SCHEMA.

    `refusing` says of each record whether it would be put in and its row does not say the consent; None without a
    column that says it.
    """

    records: HashedRecords
    rejections: pa.RecordBatch
    tally: Tally
    refusing: npt.NDArray[np.bool_] | None = field(default=None, repr=False)


@guarded
def prepare_batch(
    batch: TextBatch,
    mapping: ColumnMapping,
    *,
    rules: Rules,
    operation_type: str,
    consent: str | None = None,
    examine: Examine | None = None,
    divides: bool = True,
) -> PreparedBatch:
    """Records and rejections of one batch; every row is in exactly one of the two, by its row number.

    A record may leave some of its row's values behind as rejections; a row is rejected when none qualified.
    `operation_type` holds for rows of sources without an operation column, `consent` is what `fold_consent` makes of
    the word that says it. `examine` looks at what was decided of each column. `divides` says that a cell which is no
    value may be several (see `identifiers/several_values.py`).
    """
    columns = batch.columns.unwrap()
    rejections = Rejections(batch.faults)
    columns, deletes = _verbs(columns, operation_type, mapping, rejections)
    rows = columns.column(ROW)
    countries = resolve_countries(columns.column(COUNTRY)) if mapping.country is not None else None
    results = [
        (
            column,
            normalize_column(
                columns.column(mapping.field_name(column)),
                column,
                countries=countries,
                rules=rules,
                examine=examine,
                divides=divides,
            ),
        )
        for column in mapping.columns
    ]
    kinds, present = _kinds(results, columns.num_rows), np.zeros(columns.num_rows, dtype=bool)
    qualified = kinds != 0
    for column, result in results:
        rejections.add(rows, result.rejected_rows, column.name, result.rejected_codes)
        present[result.rejected_rows] = True
    for _, result in results:
        result.count_people(~qualified)
    if batch.cell_faults.num_rows:
        _count_cell_faults(batch, rows, results, rejections, (qualified, present))
    silent = np.flatnonzero(~(qualified | present))
    rejections.add(rows, silent, None, Reason.NO_IDENTIFIER)
    lists = [
        _value_lists([result for column, result in results if column.kind is kind], qualified, value_type)
        for kind, value_type in VALUE_TYPES.items()
    ]
    refusing, consents = None, dict[str, bool]()
    if mapping.consent is not None:
        of_rows, consents = _refusing(columns.column(CONSENT), deletes, consent)
        refusing = of_rows[qualified]
    if not qualified.all():
        rows, deletes = rows.filter(arrow_array(qualified)), deletes.filter(arrow_array(qualified))
    records = pa.record_batch([rows, deletes, *lists], schema=RECORD_SCHEMA)
    tally = _tally(batch, results, records.num_rows, rejections.counts(), kinds)
    tally.add_consents(consents)
    return PreparedBatch(HashedRecords(records), rejections.to_batch(), tally, refusing)


def _count_cell_faults(
    batch: TextBatch,
    rows: Any,
    results: list[tuple[Any, ColumnResult]],
    rejections: Rejections,
    state: tuple[Bools, Bools],
) -> None:
    """Count the cells that could not be read as rejected values of their columns. `state`: see `prepare_batch`."""
    (qualified, present), numbers = state, rows.to_numpy()
    order = np.argsort(numbers, kind="stable")
    wanted, positions = (batch.cell_faults.column(place).to_numpy() for place in (0, 1))
    codes = np.array([code_of(Reason(word)) for word in batch.cell_faults.column(2).to_pylist()])
    found = np.searchsorted(numbers, wanted, sorter=order)
    found = order[np.minimum(found, len(order) - 1)] if len(order) else np.zeros(0, dtype=np.int64)
    is_there = numbers[found] == wanted if len(order) else np.zeros(len(wanted), dtype=bool)
    for column, result in results if is_there.any() else ():
        is_own = is_there & (positions == column.position)
        own, reasons = found[is_own], codes[is_own]
        rejections.add(rows, own, column.name, reasons)
        present[own] = True
        words = Counter(str(REASONS[code]) for code in reasons.tolist())
        result.tally.present += len(own)
        result.tally.reasons.update(words)
        if result.tally.trials is not None:
            lost = Counter(str(REASONS[code]) for code in reasons[~qualified[own]].tolist())
            result.tally.trials.people.update(lost)


def fold_consent(text: str) -> str:
    """`text` as consents are compared: without white space around it, and in one case."""
    return text.strip().casefold()


def _refusing(words: Any, deletes: Any, consent: str | None) -> tuple[npt.NDArray[np.bool_], dict[str, bool]]:
    """Return for each row whether it would be put in without saying `consent`; and `Tally.consents`."""
    encoded = words.dictionary_encode()
    folded = list(map(fold_consent, encoded.dictionary.to_pylist()))
    agrees = pa.array([word == consent for word in folded], pa.bool_())
    agreed = pc.fill_null(agrees.take(encoded.indices), False)
    refused: npt.NDArray[np.bool_] = pc.invert(pc.or_(agreed, deletes)).to_numpy(zero_copy_only=False)
    told = [*islice(filter(None, folded), MOST_CONSENTS), *([consent] if consent in folded else [])]
    return refused, {blake2b(word.encode(), digest_size=8).hexdigest(): word == consent for word in told}


def _verbs(columns: Any, operation_type: str, mapping: ColumnMapping, rejections: Rejections) -> tuple[Any, Any]:
    """The rows whose operation is known, and whether each is a Delete."""
    if mapping.operation is None:
        return columns, pa.repeat(pa.scalar(operation_type == DELETE, pa.bool_()), columns.num_rows)
    words = pc.utf8_capitalize(pc.utf8_lower(pc.utf8_trim_whitespace(columns.column(OPERATION))))
    known = pc.fill_null(pc.is_in(words, pa.array(OPERATION_TYPES)), False)
    unknown = np.flatnonzero(~known.to_numpy(zero_copy_only=False))
    rejections.add(columns.column(ROW), unknown, mapping.operation_name, Reason.UNKNOWN_OPERATION)
    return columns.filter(known), pc.equal(words.filter(known), DELETE)


def _kinds(results: list[tuple[Any, ColumnResult]], rows: int) -> npt.NDArray[np.uint8]:
    """The kinds that each row has a valid value of, as bits: see `Tally.combinations`."""
    kinds = np.zeros(rows, dtype=np.uint8)
    for column, result in results:
        is_valid = np.zeros(rows, dtype=bool)
        is_valid[result.value_rows] = True
        kinds |= is_valid.view(np.uint8) << _PLACES[column.kind]
    return kinds


def _value_lists(results: list[ColumnResult], qualified: Bools, value_type: Any) -> Any:
    """list<value_type>, one a qualified row: the distinct values of all columns of one kind, sorted; null for none.

    Rows that are not qualified have no value.
    """
    results = [result for result in results if len(result.value_rows)]
    if not results:
        return pa.nulls(int(np.count_nonzero(qualified)), pa.list_(value_type))
    if len(results) == 1 and bool((results[0].value_rows[1:] > results[0].value_rows[:-1]).all()):
        counts = np.zeros(len(qualified), dtype=bool)
        counts[results[0].value_rows] = True
        return list_array(counts[qualified], results[0].values)
    owners = np.concatenate([result.value_rows for result in results])
    values = pa.concat_arrays([result.values for result in results])
    order = np.argsort(owners, kind="stable")
    owners = owners[order]
    # Most rows have one value: only others are put in order.
    several = np.zeros(len(owners), dtype=bool)
    several[1:] = owners[1:] == owners[:-1]
    several[:-1] |= several[1:]
    places = np.flatnonzero(several)
    by_rank, is_new = _sorted(values.take(arrow_array(order[places])), owners[places])
    order[places] = order[places[by_rank]]
    fresh = np.ones(len(owners), dtype=bool)
    fresh[places] = is_new
    counts = np.bincount(owners[fresh], minlength=len(qualified))
    return list_array(counts[qualified], values.take(arrow_array(order[fresh])))


def _sorted(values: Any, owners: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], Bools]:
    """The order of `values` by their owner, as they come, and by their bytes; and of each whether it comes first."""
    if values.type == HASH_TYPE:
        matrix = hash_matrix(values)
        heads = np.ascontiguousarray(matrix[:, :_HEAD_BYTES]).view(">u8").ravel().astype(np.uint64)
        order = _order(heads, owners)
        same = np.flatnonzero(~_are_first(heads[order], owners))
        # Two hashes that begin alike can be looked for.
        if np.array_equal(matrix[order[same]], matrix[order[same - 1]]):
            return order, _are_first(heads[order], owners)
    ranks = _ranks(values)
    order = _order(ranks, owners)
    return order, _are_first(ranks[order], owners)


def _order(ranks: npt.NDArray[Any], owners: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The order by owner, as they come, and rank. Most have two: to sort these as others takes five times as long."""
    begins = np.flatnonzero(np.diff(owners, prepend=-1))
    counts, order = np.diff(begins, append=len(owners)), np.arange(len(owners))
    pairs = begins[counts == 2]
    turned = pairs[ranks[pairs] > ranks[pairs + 1]]
    order[turned], order[turned + 1] = turned + 1, turned
    others = np.flatnonzero(np.repeat(counts > 2, counts))
    order[others] = others[np.lexsort((ranks[others], owners[others]))]
    return order


def _are_first(ranks: npt.NDArray[Any], owners: npt.NDArray[np.int64]) -> Bools:
    """Return for each whether its rank or its owner is not that of the one before."""
    are_first = np.ones(len(owners), dtype=bool)
    are_first[1:] = (owners[1:] != owners[:-1]) | (ranks[1:] != ranks[:-1])
    return are_first


def _ranks(values: Any) -> npt.NDArray[np.int64]:
    """Equal numbers for equal values, in the order of their bytes."""
    encoded = values.dictionary_encode()
    rank = pc.rank(encoded.dictionary).to_numpy(zero_copy_only=False).astype(np.int64)
    ranks: npt.NDArray[np.int64] = rank[encoded.indices.to_numpy(zero_copy_only=False)]
    return ranks


def _combinations(kinds: npt.NDArray[np.uint8]) -> Counter[int]:
    counts = np.bincount(kinds, minlength=1)
    return Counter({bits: int(counts[bits]) for bits in np.flatnonzero(counts).tolist() if bits})


def _tally(
    batch: TextBatch,
    results: list[tuple[Any, ColumnResult]],
    records: int,
    reasons: Counter[str],
    kinds: npt.NDArray[np.uint8],
) -> Tally:
    read = batch.columns.unwrap().num_rows + batch.faults.num_rows
    return Tally(
        rows_read=read,
        rows_rejected=read - records,
        records=records,
        columns={column.key: result.tally for column, result in results},
        reasons=reasons,
        combinations=_combinations(kinds),
    )


_EMPTY: Final = code_of(Reason.EMPTY)

# Looks at the values of a column, their codes and the countries of their rows, decided by some rules.
Examine: TypeAlias = Callable[[Any, Codes, Any | None, MappedColumn, Rules], TriedValues]


@dataclass(frozen=True, slots=True)
class ColumnResult:
    """The results of one column, by index of the row in the batch, ascending.

    `values` are the hashes that qualified (HASH_TYPE; plain texts for partner user ids), of `value_rows`;
    `rejected_codes` are places in REASONS, of `rejected_rows`. `tried` is there where the values were examined.
    """

    value_rows: npt.NDArray[np.int64]
    values: Any
    rejected_rows: npt.NDArray[np.int64]
    rejected_codes: Codes
    tally: ColumnTally
    tried: TriedValues | None = None
    rows: npt.NDArray[np.int64] | None = None

    def count_people(self, is_lost: npt.NDArray[np.bool_]) -> None:
        """Count the rows without any valid value among the values that were examined."""
        if self.tried is not None:
            self.tried.count_people(is_lost, (self.rejected_rows, self.rejected_codes), self.rows)


def normalize_column(
    texts: Any,
    column: MappedColumn,
    *,
    countries: Any | None,
    rules: Rules,
    examine: Examine | None = None,
    divides: bool = False,
) -> ColumnResult:
    """Every value of `texts` (string or list<string>) decided; blank cells are not present.

    `countries` (see `resolve_countries`, or None) are those of the rows. `examine` looks at what was decided. Holds raw
    values: to be called from a guarded function only.
    """
    texts, rows = _flatten(texts)
    if column.is_shared and not column.hashed:
        texts = _own_cells(texts, column.kind)
    of_values = countries if countries is None or rows is None else countries.take(arrow_array(rows))
    decided = VALUE_LOOPS.decide(texts, column, of_values, rules)
    codes, parts = decided.codes, None
    if divides and not column.hashed and column.kind in SEVERAL:
        codes, parts = _divide(texts, codes, column, of_values, rules)
    valid, rejected = np.flatnonzero(codes == VALID), np.flatnonzero((codes > VALID) & (codes != _EMPTY))
    reasons = codes[rejected]
    tally = _tally_column(len(valid) + (0 if parts is None else len(parts.values)), reasons, decided)
    if of_values is not None and column.kind is Kind.PHONE_NUMBER:
        without = of_values.take(arrow_array(rejected[reasons == code_of(Reason.NO_COUNTRY)]))
        tally.unknown_countries = pc.sum(pc.equal(without, UNKNOWN_COUNTRY)).as_py() or 0
    if not column.kind.is_hashed:
        of_valid = None if of_values is None else of_values.take(arrow_array(valid))
        tally.bare_numbers = count_bare_numbers(decided.values, of_valid, rules.default_country)
        tally.payment_numbers = count_payment_numbers(decided.values)
        tally.personal_shapes = count_personal_shapes(decided.values, of_valid, rules.default_country)
    if tally.present - tally.valid > tally.present * DEFAULT_MAX_REJECTED_COLUMN_SHARE:
        count_lookalikes(tally, texts, of_values, rejected)
        if column.kind is Kind.PHONE_NUMBER and not column.hashed:
            _count_elsewhere(tally, texts.take(arrow_array(rejected[:LOOKED_AT])), rules)
    tried = None
    if examine is not None:
        tried = examine(texts, np.where(codes == _EMPTY, UNDECIDED, codes), of_values, column, rules)
        tally.trials = tried.trials
    values = decided.values
    if parts is not None:
        valid, values = parts.put_into(valid, values)
    if rows is not None:
        valid, rejected = rows[valid], rows[rejected]
    return ColumnResult(valid, values, rejected, reasons, tally, tried, rows)


def _own_cells(texts: Any, kind: Kind) -> Any:
    """`texts` of a column of addresses and numbers, null for those of the other kind."""
    are_addresses = pc.match_substring(texts, "@")
    return pc.if_else(are_addresses if kind is Kind.EMAIL else pc.invert(are_addresses), texts, None)


@dataclass(frozen=True, slots=True)
class _Parts:
    """Values that were together in a cell, and the place of their cell, ascending."""

    places: npt.NDArray[np.int64]
    values: Any

    def put_into(self, places: npt.NDArray[np.int64], values: Any) -> tuple[npt.NDArray[np.int64], Any]:
        """The given places and values together with these, in order of the places."""
        all_places = np.concatenate([places, self.places])
        order = np.argsort(all_places, kind="stable")
        return all_places[order], pa.concat_arrays([values, self.values]).take(arrow_array(order))


_NO_VALUE: Final = code_of(Reason.INVALID_SYNTAX)


def _divide(
    texts: Any, codes: Codes, column: MappedColumn, countries: Any | None, rules: Rules
) -> tuple[Codes, _Parts | None]:
    """Return `codes` with UNDECIDED for the cells that hold several complete values, and these values."""
    places = np.flatnonzero(codes == _NO_VALUE)
    if not len(places):
        return codes, None
    refused = texts.take(arrow_array(places))
    are_asked = matches(refused, MAY_DIVIDE)
    places, asked = places[are_asked], refused.filter(arrow_array(are_asked)).to_pylist()
    parts = [values_in(column.kind, text) for text in asked]
    counts = np.array(list(map(len, parts)), dtype=np.int64)
    if not counts.any():
        return codes, None
    owners = np.repeat(places, counts)
    of_parts = None if countries is None else countries.take(arrow_array(owners))
    decided = VALUE_LOOPS.decide(
        pa.array([part for several in parts for part in several], pa.string()), column, of_parts, rules
    )
    are_valid = decided.codes == VALID
    whole = np.ones(len(texts), dtype=bool)
    whole[owners[~are_valid]] = False
    kept = whole[owners]
    codes = codes.copy()
    codes[owners[kept]] = UNDECIDED
    return codes, _Parts(owners[kept], decided.values.filter(arrow_array(kept[are_valid])))


# Numbers may be valid in several countries: of those that save as many, the one where most lists are from is meant.
LIKELY: Final = (
    *("US", "GB", "DE", "FR", "IT", "ES", "CA", "AU", "NL", "BR", "MX", "IN", "JP", "PL", "SE", "BE", "CH", "AT", "TR"),
    *("KR", "ID", "PH", "SA", "AE", "ZA", "AR", "CO", "CL", "PE", "DK", "NO", "FI", "IE", "PT", "GR", "CZ", "HU", "RO"),
    *("IL", "EG", "NG", "PK", "VN", "MY", "SG", "HK", "NZ", "UA", "RU", "CN"),
)


def _count_elsewhere(tally: ColumnTally, texts: Any, rules: Rules) -> None:
    """Count into `tally` how many of `texts` are valid in the one likely country in which most of them are."""
    in_each = (codes_of(texts, Kind.PHONE_NUMBER, None, replace(rules, default_country=region)) for region in LIKELY)
    tally.tried_elsewhere = len(texts)
    tally.valid_elsewhere = max(int(np.count_nonzero(codes == VALID)) for codes in in_each)


def codes_of(texts: Any, kind: Kind, countries: Any | None = None, rules: Rules = DEFAULT_RULES) -> Codes:
    """The decision on each of `texts` (pa.StringArray, none of them hashed before): VALID, or a place in REASONS.

    Holds raw values: to be called from a guarded function only.
    """
    return VALUE_LOOPS.decide(texts, MappedColumn(kind=kind, position=0, name=kind), countries, rules).codes


def _flatten(texts: Any) -> tuple[Any, npt.NDArray[np.int64] | None]:
    """Return all values and the row of each; None when each row has at most one value."""
    if not (pa.types.is_list(texts.type) or pa.types.is_large_list(texts.type)):
        return texts, None
    return texts.flatten(), texts.value_parent_indices().to_numpy(zero_copy_only=False).astype(np.int64)


def _tally_column(valid: int, rejected: Codes, decided: Decided) -> ColumnTally:
    counts = np.bincount(rejected, minlength=len(REASONS))
    reasons = {str(REASONS[code]): int(counts[code]) for code in np.flatnonzero(counts).tolist()}
    return ColumnTally(
        present=valid + len(rejected),
        valid=valid,
        reasons=Counter(reasons),
        by_definition=decided.by_definition,
        rounded=decided.rounded,
    )


_BROKEN: Final = re.compile("[\ud800-\udfff]")


def likely_kinds(cells: Sequence[tuple[str, str | None]]) -> list[Kind | None]:
    """`likely_kind` of each of `cells`, a text and the country of its row.

    Holds raw values: to be called from a guarded function only.
    """
    trimmed = [(trim(text), country) for text, country in cells]
    whole = {cell for cell in trimmed if _is_whole(cell[0])}
    emails = _are_emails({text for text, _ in whole if "@" in text})
    numbers = _are_numbers(cell for cell in whole if not emails.get(cell[0]))
    in_bulk = Rulings(emails.__getitem__, lambda text, country: numbers[text, country])
    kinds = {
        cell: likely_kind(cell[0], country=cell[1], rulings=in_bulk if cell in whole else None) for cell in set(trimmed)
    }
    return [kinds[cell] for cell in trimmed]


def _is_whole(text: str) -> bool:
    """Whether `text` has no bytes in it that are none of its encoding: only such text is decided in bulk."""
    return text.isascii() or _BROKEN.search(text) is None


def _are_emails(texts: Iterable[str]) -> dict[str, bool]:
    asked = list(texts)
    codes = codes_of(pa.array(asked, pa.string()), Kind.EMAIL)
    have_form = np.array([has_email_form(reason) for reason in REASONS])
    return dict(zip(asked, have_form.take(codes).tolist(), strict=True))


def _are_numbers(cells: Iterable[tuple[str, str | None]]) -> dict[tuple[str, str | None], bool]:
    asked = {cell: numbers_to_ask(*cell) for cell in cells}
    numbers = list({number for several in asked.values() for number in several})
    found = find_countries(country for _, country in numbers if country)
    countries = pa.array([found.get(country or "") for _, country in numbers], pa.string())
    codes = codes_of(pa.array([text for text, _ in numbers], pa.string()), Kind.PHONE_NUMBER, countries)
    valid = set(compress(numbers, codes == VALID))
    return {cell: any(number in valid for number in several) for cell, several in asked.items()}
