"""Values that no kernel decides."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from audiencekit.identifiers import email
from audiencekit.identifiers.kinds import DEFAULT_RULES, Kind, Reason
from audiencekit.preparation import leftvalues
from audiencekit.preparation.batches import MappedColumn
from audiencekit.preparation.columnar.decisions import VALID, code_of
from audiencekit.preparation.leftvalues import Decided, decide_by_rules, decide_left

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


@pytest.mark.parametrize("few", [leftvalues._FEW_LEFT, {}], ids=["one by one", "in bulk"])
def test_few_are_decided_as_many(few: dict[Kind, int], monkeypatch: pytest.MonkeyPatch) -> None:
    """The number of values that are left changes no decision."""
    monkeypatch.setattr(leftvalues, "_FEW_LEFT", few)
    texts, column = pa.array(TEXTS), _column(Kind.EMAIL)
    decided = decide_left(texts, column, None, DEFAULT_RULES)
    assert _told(decided) == _told(decide_by_rules(texts, column, None, DEFAULT_RULES))
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


@pytest.mark.parametrize("decide", [decide_left, decide_by_rules])
def test_addresses_in_quotes_of_a_text_processor_do_not_go_through_the_library(
    decide: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It takes several times as long to refuse one, however many there are."""
    monkeypatch.setattr(email, "_library_domain", None)
    texts = pa.array([f"“anna{number}@larchpost.example”" for number in range(3)])
    decided = decide(texts, _column(Kind.EMAIL), None, DEFAULT_RULES)
    assert decided.codes.tolist() == [code_of(Reason.INVALID_SYNTAX)] * 3
