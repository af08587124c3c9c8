"""Columns are decided alike with kernels and without."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

from audiencekit.identifiers.kinds import DEFAULT_RULES, Kind
from audiencekit.kernels.library import find_library
from audiencekit.preparation import leftvalues
from audiencekit.preparation.batches import MappedColumn
from audiencekit.preparation.columnar import certainvalues, hashing
from audiencekit.preparation.countries import resolve_countries
from audiencekit.preparation.normalisation import ColumnResult, normalize_column
from benchmarks.contacts import contact_blocks

NAMES = {Kind.EMAIL: "email", Kind.PHONE_NUMBER: "phone"}


@pytest.fixture(scope="module")
def contacts() -> dict[str, Any]:
    """Columns of a generated contact list, of which every seventh cell is null."""
    lines = io.StringIO("".join(block.decode() for block in contact_blocks(4_000, 7)), newline="")
    rows = list(csv.DictReader(lines, fieldnames=["email", "phone", "country"]))
    return {
        name: pa.array([None if number % 7 == 0 else row[name] for number, row in enumerate(rows)], pa.string())
        for name in ("email", "phone", "country")
    }


def _normalized(texts: Any, kind: Kind, countries: Any) -> ColumnResult:
    column = MappedColumn(kind=kind, position=0, name="values")
    return normalize_column(texts, column, countries=resolve_countries(countries), rules=DEFAULT_RULES)


def _told(result: ColumnResult) -> list[Any]:
    """All of `result` but the number of values that were left to the definition."""
    rows = [result.value_rows.tolist(), result.rejected_rows.tolist(), result.rejected_codes.tolist()]
    return [result.values.to_pylist(), *rows, replace(result.tally, by_definition=0)]


def _without_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (certainvalues, hashing):
        monkeypatch.setattr(module, "kernels", lambda _: None)


@pytest.mark.skipif(find_library() is None, reason="this installation has no kernels of this version")
@pytest.mark.parametrize("kind", NAMES, ids=lambda kind: kind.value)
@pytest.mark.parametrize("is_list", [False, True], ids=["text", "list"])
@pytest.mark.parametrize("few_left", [leftvalues._FEW_LEFT, {}], ids=["one by one", "by rules"])
def test_the_same_without_kernels(
    kind: Kind, is_list: bool, few_left: dict[Kind, int], contacts: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hashes, rows, reasons and counts, of single values and of several a row."""
    texts, countries = contacts[NAMES[kind]], contacts["country"]
    if is_list:
        texts = pa.ListArray.from_arrays(pa.array(range(0, 4_001, 4), pa.int32()), texts)
        countries = countries.slice(0, 1_000)
    monkeypatch.setattr(leftvalues, "_FEW_LEFT", few_left)
    with_kernels = [_told(_normalized(texts, kind, countries)) for _ in range(2)]  # the second with compiled plans
    _without_kernels(monkeypatch)
    assert with_kernels == [_told(_normalized(texts, kind, countries))] * 2
    assert len(with_kernels[0][0]) > 2_000
    assert len(with_kernels[0][2]) > 100


@pytest.mark.parametrize("kind", NAMES, ids=lambda kind: kind.value)
def test_declared_hashes_are_not_hashed_again(kind: Kind) -> None:
    """A column of hashes is for the rule of hashes, whatever its kind."""
    column = MappedColumn(kind=kind, position=0, name="values", hashed=True)
    result = normalize_column(
        pa.array(["ab" * 32, "anna@larchpost.example"]), column, countries=None, rules=DEFAULT_RULES
    )
    assert result.values.to_pylist() == [bytes.fromhex("ab" * 32)]
    assert result.rejected_rows.tolist() == [1]
