"""Where a rejected row ends and a refused source begins."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import pyarrow as pa
import pytest

from audiencekit.errors import MappingRefused, PlanRefused
from audiencekit.identifiers.kinds import Kind
from audiencekit.records.batches import ColumnMapping, MappedColumn
from audiencekit.records.columns.suspicions import count_bare_numbers
from audiencekit.records.refusal_bounds import Bounds, PhoneShare, find_phone_share, judge, judge_partner_ids
from audiencekit.records.tally import ColumnTally, PaymentNumbers, Tally
from tests.cases import each_case
from tests.numberlists import IDS, PHONES

BOUNDS = Bounds(max_rejected_share=0.5)


def _mapping(kind: Kind = Kind.EMAIL) -> ColumnMapping:
    return ColumnMapping(columns=(MappedColumn(kind=kind, position=0, name="email"),))


def _tally(rows: int, rejected: int, likely: Kind | None = None, **reasons: int) -> Tally:
    counts = Counter(reasons)
    column = ColumnTally(present=rows, valid=rows - sum(reasons.values()), reasons=counts)
    if likely:
        column.likely[likely] = 1
    return Tally(
        rows_read=rows,
        rows_rejected=rejected,
        records=rows - rejected,
        columns={f"0 {kind}": column for kind in Kind},
        reasons=Counter(reasons),
    )


def test_a_good_source_may_be_sent() -> None:
    """A few rejections forbid nothing."""
    assert judge(_tally(1000, 20, invalid_syntax=20), _mapping(), BOUNDS) == []


@each_case(
    "tally, error, words",
    [
        (_tally(0, 0), PlanRefused, "no rows"),
        (_tally(4, 4, placeholder=4), PlanRefused, "4 of 4 rows were rejected (placeholder 4)"),
        (_tally(1000, 501, placeholder=501), PlanRefused, "501 of 1,000"),
        (
            _tally(10, 6, invalid_syntax=6),
            MappingRefused,
            "6 of 10 values of column email (email) are not of that kind",
        ),
        (_tally(1, 0, Kind.PHONE_NUMBER, invalid_syntax=1), MappingRefused, "are not of that kind"),
        (_tally(4, 3, already_hashed=3), MappingRefused, "holds 3 hashes"),
        (_tally(10_000, 51, already_hashed=51), MappingRefused, "holds 51 hashes"),
        (_tally(10_000, 51, excel_mangled=51), PlanRefused, "51 values of column email"),
        (_tally(100, 1, looks_personal=1), MappingRefused, "look like emails, phones, names or IP addresses"),
    ],
)
def test_a_list_that_must_not_be_sent_is_refused(tally: Tally, error: type[Exception], words: str) -> None:
    """The first problem says what, where and how many."""
    problem = judge(tally, _mapping(), BOUNDS)[0]
    assert type(problem) is error
    assert words in str(problem)


@each_case(
    "tally",
    [
        _tally(1000, 500, placeholder=500),
        _tally(10_000, 50, excel_mangled=50),
        _tally(10_000, 50, already_hashed=50),
        _tally(1000, 5, looks_personal=5),
        _tally(2, 0, invalid_syntax=2),
        _tally(1000, 0, no_country=1000),
    ],
)
def test_bounds_are_met_exactly(tally: Tally) -> None:
    """At the bound the rows are rejected; only above it the source is refused."""
    assert judge(tally, _mapping(), BOUNDS) == []


@each_case(
    "reasons, words",
    [
        ({"encoding": 4}, "`encoding="),
        ({"placeholder": 4, "no_country": 2}, "`country=`"),
        ({"placeholder": 4}, "`rejections="),
    ],
)
@each_case("share", [0.5, 1.0])
def test_the_remedy_that_would_save_the_rows_is_said(reasons: dict[str, int], words: str, share: float) -> None:
    """The remedy of the most frequent reason that has one, before the loss of rows is allowed."""
    tally = _tally(6, 6, **reasons)
    [problem] = judge(tally, _mapping(), Bounds(max_rejected_share=share))
    assert problem.hint is not None
    assert words in problem.hint
    assert problem.hint.count("`rejections=") == (share < 1 or words == "`rejections=")


def test_a_remedy_is_said_once() -> None:
    """That of addresses of another form is to read the rejections, which comes before the loss is allowed."""
    *_, problem = judge(_tally(6, 6, invalid_syntax=4), _mapping(), BOUNDS)
    assert problem.hint is not None
    said = [problem.hint.count(words) for words in ("`rejections=", "`split_cells=", "`max_rejected_share=`")]
    assert said == [1, 1, 1]


def test_the_likely_kind_is_named() -> None:
    """The hint says what the values look like."""
    (problem, *_) = judge(_tally(10, 10, Kind.PHONE_NUMBER, invalid_syntax=10), _mapping(), BOUNDS)
    assert "phone_number" in problem.hint


@each_case("kind, words", [(Kind.DEVICE_ID, "dashes"), (Kind.EMAIL, "not SHA-256")])
def test_hex_digits_that_are_no_sha_256_are_named(kind: Kind, words: str) -> None:
    """Of a device id they are more likely one that has lost its dashes."""
    tally = _tally(4, 0, invalid_syntax=4)
    tally.columns[f"0 {kind}"].other_hashes = 4
    [problem] = judge(tally, _mapping(kind), BOUNDS)
    assert words in (problem.hint or "")


def test_a_source_without_rows_can_be_allowed() -> None:
    """`allow_empty=True`."""
    assert judge(_tally(0, 0), _mapping(), Bounds(max_rejected_share=0.5, allow_empty=True)) == []


def test_a_source_without_columns_is_refused_with_the_notes() -> None:
    """The notes say what was seen."""
    (problem,) = judge(_tally(5, 5), ColumnMapping(columns=()), BOUNDS, notes=("column2 looks like dates",))
    assert isinstance(problem, MappingRefused)
    assert "column2 looks like dates" in problem.hint


def test_all_rows_rejected_is_refused_whatever_is_allowed() -> None:
    """A run that would send nothing is no success."""
    (problem,) = judge(_tally(5, 5, placeholder=5), _mapping(), Bounds(max_rejected_share=1.0))
    assert "every one of 5 rows" in str(problem)


@each_case(
    "reasons, words",
    [
        ({"not_valid": 90}, "numbers may lack their area code, be of another country"),
        ({"not_possible": 80, "invalid_syntax": 10}, "numbers may lack their area code"),
        ({"invalid_syntax": 90}, "`split_cells=`"),
        ({"already_hashed": 90}, "`hashed=['phone_number']`"),
        ({"excel_mangled": 90}, "format the column as text in the spreadsheet, or read it as text"),
    ],
)
def test_a_column_can_be_left_out_or_taken_as_it_is(reasons: dict[str, int], words: str) -> None:
    """The hint says what is likely wrong, and the option that goes on without the column."""
    mapping = ColumnMapping(columns=(MappedColumn(kind=Kind.PHONE_NUMBER, position=0, name="main phone"),))
    (problem,) = judge(_tally(100, 0, **reasons), mapping, BOUNDS)
    assert words in (problem.hint or "")
    assert "`ignore=['main phone']`" in (problem.hint or "")


def test_the_bound_of_a_column_is_an_option() -> None:
    """Values that are not of the kind refuse from so many on, and not at all with the whole as bound."""
    tally = _tally(100, 0, not_valid=60)
    assert judge(tally, _mapping(), replace(BOUNDS, max_rejected_column_share=0.6)) == []
    (problem,) = judge(tally, _mapping(), replace(BOUNDS, max_rejected_column_share=0.59))
    assert "`max_rejected_column_share=1`" in (problem.hint or "")
    assert judge(_tally(100, 0, not_valid=100), _mapping(), replace(BOUNDS, max_rejected_column_share=1)) == []


def test_extensions_and_shared_values_are_of_the_kind() -> None:
    """However many: the column is the right one."""
    assert judge(_tally(100, 0, extension=95), _mapping(Kind.PHONE_NUMBER), BOUNDS) == []
    assert judge(_tally(100, 0, shared=100), _mapping(Kind.PHONE_NUMBER), BOUNDS) == []


@each_case("reasons", [{"invalid_syntax": 99}, {"already_hashed": 99}, {"excel_mangled": 50}])
def test_a_guess_refuses_nothing(reasons: dict[str, int]) -> None:
    """Nothing but its name spoke for the column: its values are rejected, and the list goes on."""
    guess = MappedColumn(kind=Kind.DEVICE_ID, position=0, name="Maiden Name", is_guess=True)
    tally = _tally(100, 0, **reasons)
    assert judge(tally, ColumnMapping(columns=(guess,)), BOUNDS) == []
    assert judge(tally, ColumnMapping(columns=(replace(guess, is_guess=False),)), BOUNDS) != []


COLUMN = MappedColumn(kind=Kind.PARTNER_USER_ID, position=0, name="id")


def _is_refused(numbers: list[str], others: int = 0) -> bool:
    counted = count_bare_numbers(pa.array(numbers), None, None)
    return bool(judge_partner_ids(COLUMN, ColumnTally(valid=len(numbers) + others, bare_numbers=counted)))


def test_a_few_numbers_among_other_ids_are_chance() -> None:
    """Of hexadecimal ids some have no letter; hundreds that are all of one country are no chance."""
    american = PHONES["American and Indian"](random.Random(1), 200)
    assert _is_refused(american, others=100_000)
    assert not _is_refused(american[:3], others=400)
    assert _is_refused(american[:3])


@each_case("looked_at, right, valid, expected", [
    (100, 60, 100, True), (100, 50, 100, False), (3, 3, 3, True), (3, 3, 100, False), (30, 20, 9_000, True),
])  # fmt: skip
def test_accounts_by_their_share(looked_at: int, right: int, valid: int, expected: bool) -> None:
    """Of what is written so, and ten at least, or most of the column."""
    seen = ColumnTally(valid=valid, payment_numbers=PaymentNumbers(looked_at, right))
    assert bool(judge_partner_ids(COLUMN, seen)) is expected


def test_batches_are_judged_together() -> None:
    """The counts of two add up to those of the whole."""
    values = PHONES["of the world"](random.Random(2), 400) + IDS["random, 9 digits"](random.Random(2), 400)
    whole = count_bare_numbers(pa.array(values), None, None)
    added = count_bare_numbers(pa.array(values[:100]), None, None)
    added.add(count_bare_numbers(pa.array(values[100:]), None, None))
    assert added == whole


def test_times_are_not_of_bangladesh() -> None:
    """A third of its numbers begin later than any time does."""
    assert not _is_refused(IDS["Unix times"](random.Random(1), 300))
    numbers = [f"1{start}{n:08}" for n in range(1_000_000, 1_000_060) for start in "35789"]
    assert _is_refused(numbers)


def _found(values: list[str]) -> PhoneShare:
    return find_phone_share(count_bare_numbers(pa.array(values), None, None))


@each_case("share", [0.0, 0.25, 0.5, 0.75, 1.0])
def test_the_share_is_found(share: float) -> None:
    """Of a list of which it is known, within a fifth: nearly each number of ten digits is one of some country."""
    chance = random.Random(4)
    phones = PHONES["American, British, Indian, Australian"](chance, int(2_000 * share))
    ids = IDS["random, 10 digits"](chance, 2_000 - len(phones))
    assert _found(phones + ids).share == pytest.approx(share, abs=0.2)


def test_evidence_grows_with_the_list() -> None:
    """And there is none of ids."""
    make = PHONES["German, British and French"]
    few, many = (_found(make(random.Random(1), size)).evidence for size in (50, 500))
    assert many > few > 10
    assert _found(IDS["random, 9 digits"](random.Random(1), 500)).evidence < 10
