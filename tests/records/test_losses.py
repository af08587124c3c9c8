"""Values that no kernel decides."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pyarrow as pa
import pytest

from audiencekit.identifiers import email
from audiencekit.identifiers.kinds import DEFAULT_RULES, Kind, Reason
from audiencekit.records.batches import ColumnMapping, MappedColumn
from audiencekit.records.by_definition import Decided, decide_by_rules, decide_one_by_one
from audiencekit.records.columns.arrays import VALID, code_of
from audiencekit.records.losses import find_losses, remedy_of
from audiencekit.records.plain_values import PlainValues
from audiencekit.records.tally import ColumnTally, Tally

TEXTS = [
    "anna@larchpost.example",
    "b\u00fcro@larchpost.example",
    "anna@larchpost..example",
    "",
    "b\u00fcro@larchpost.example",
]


def _column(kind: Kind, **more: Any) -> MappedColumn:
    return MappedColumn(kind=kind, position=0, name="values", **more)


def _told(decided: Decided) -> tuple[list[int], list[bytes]]:
    return decided.codes.tolist(), decided.values.to_pylist()


def test_one_by_one_as_in_bulk() -> None:
    """The way changes no decision."""
    texts, column = pa.array(TEXTS), _column(Kind.EMAIL)
    decided = decide_one_by_one(texts, column, None, DEFAULT_RULES)
    assert _told(decided) == _told(PlainValues().decide(texts, column, None, DEFAULT_RULES))
    assert decided.codes.tolist()[0] == VALID
    assert decided.codes.tolist()[2:4] == [code_of(Reason.INVALID_SYNTAX), code_of(Reason.EMPTY)]


def test_ids_that_a_spreadsheet_has_rounded_are_counted() -> None:
    """They are valid, and may be of other people."""
    texts = pa.array(["1234567890123450000", "1234567890123456789"])
    assert decide_by_rules(texts, _column(Kind.PLATFORM_ID), None, DEFAULT_RULES).rounded == 1


def test_declared_hashes_stay_as_they_are() -> None:
    """And what is none is rejected."""
    texts = pa.array(["AB" * 32, "anna@larchpost.example"])
    decided = decide_by_rules(texts, _column(Kind.EMAIL, hashed=True), None, DEFAULT_RULES)
    assert decided.values.to_pylist() == [bytes.fromhex("ab" * 32)]
    assert decided.codes.tolist() == [VALID, code_of(Reason.WRONG_HASH)]


@pytest.mark.parametrize("decide", [decide_one_by_one, PlainValues().decide])
def test_addresses_in_quotes_of_a_text_processor_do_not_go_through_the_library(
    decide: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It takes several times as long to refuse one, however many there are."""
    monkeypatch.setattr(email, "_library_domain", None)
    texts = pa.array([f"“anna{number}@larchpost.example”" for number in range(3)])
    decided = decide(texts, _column(Kind.EMAIL), None, DEFAULT_RULES)
    assert decided.codes.tolist() == [code_of(Reason.INVALID_SYNTAX)] * 3


MAPPING = ColumnMapping(
    columns=(
        MappedColumn(kind=Kind.EMAIL, position=0, name="email"),
        MappedColumn(kind=Kind.PHONE_NUMBER, position=3, name="phone"),
    )
)


def _tally(present: int, rows: dict[str, int] | None = None, **reasons: int) -> Tally:
    """Of a list of a thousand addresses, all of them good, and so many phone numbers."""
    phones = ColumnTally(present=present, valid=present - sum(reasons.values()), reasons=Counter(reasons))
    columns = {"0 email": ColumnTally(present=1_000, valid=1_000), "3 phone_number": phones}
    return Tally(rows_read=1_000, records=1_000, columns=columns, reasons=Counter(reasons) + Counter(rows or {}))


def _found(tally: Tally) -> list[tuple[str, str | None, int]]:
    return [(loss.code, loss.column, loss.count) for loss in find_losses(tally, MAPPING)]


@pytest.mark.parametrize(
    ("present", "reasons", "found"),
    [
        (1_000, {}, []),
        (0, {}, []),
        (999, {"no_country": 999}, [("no_country", "phone", 999)]),
        (4, {"no_country": 4}, [("no_country", "phone", 4)]),
        (4, {"no_country": 3}, []),
        (1_000, {"no_country": 50}, []),
        (1_000, {"no_country": 51}, [("no_country", "phone", 51)]),
        (100, {"not_valid": 9}, []),
        (100, {"not_valid": 10}, [("not_valid", "phone", 10)]),
        (1_000, {"extension": 100, "not_valid": 200}, [("not_valid", "phone", 200), ("extension", "phone", 100)]),
        (100, {"placeholder": 100}, []),
        (100, {"zeroed": 60, "empty": 40}, []),
        (100, {"placeholder": 95, "not_valid": 5}, [("not_valid", "phone", 5)]),
        (100, {"shared": 100}, [("shared", "phone", 100)]),
    ],
)
def test_losses_of_a_column(present: int, reasons: dict[str, int], found: list[Any]) -> None:
    """More than a twentieth, and at least ten; of a column without a valid value any loss at all."""
    assert _found(_tally(present, **reasons)) == found


def test_losses_of_rows() -> None:
    """Rows that could not be read, or name no one; the most first."""
    tally = _tally(500, {"ragged": 60, "no_identifier": 300, "encoding": 50}, not_valid=100)
    assert _found(tally) == [("no_identifier", None, 300), ("not_valid", "phone", 100), ("ragged", None, 60)]


def test_a_loss_is_told_with_counts_share_and_remedy() -> None:
    """Counts, share, and the option that would save it; never a value."""
    (loss,) = find_losses(_tally(999, no_country=999), MAPPING)
    assert loss.message == "999 of 999 values of column phone are not sent: no country"
    assert loss.share == 1.0
    assert "`country=`" in (loss.remedy or "")
    assert "numbers with +" in (loss.remedy or "")  # of rows whose country is known, and whose digits have two readings
    (hashes,) = find_losses(_tally(999, already_hashed=400), MAPPING)
    assert "`hashed=['phone_number']`" in (hashes.remedy or "")


@pytest.mark.parametrize(
    ("separator", "is_divided", "advice"),
    [(None, False, "or give `split_cells="), (";", False, None), (None, True, "leave `split_cells=` out")],
)
def test_cells_that_are_divided_need_no_advice_to_divide_them(
    separator: str | None, is_divided: bool, advice: str | None
) -> None:
    """The rejections are named in any case."""
    column = MappedColumn(kind=Kind.EMAIL, position=0, name="email", separator=separator, is_divided=is_divided)
    remedy = remedy_of(Reason.INVALID_SYNTAX, column)
    assert remedy is not None
    assert "rejections=" in remedy
    assert advice in remedy if advice else "split_cells=" not in remedy
