"""Records and rejections in one stream are those of the core, however the rows are divided."""

from __future__ import annotations

import hashlib
import pickle
from collections import Counter
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st

from audiencekit.errors import AudiencekitError, SourceRefused
from audiencekit.identifiers.kinds import Kind, Rules
from audiencekit.integrations import outcomes
from audiencekit.integrations.outcomes import PartitionWork
from audiencekit.integrations.tallies import read_tally
from audiencekit.records.batches import ColumnMapping, MappedColumn
from audiencekit.records.records import UPDATE
from audiencekit.records.tally import Tally
from audiencekit.sources.arrow import TypedColumns
from tests.cases import each_case

EMAILS = ["ann@example.com", "no address", None, "Bob@Example.com ", "ann@example.com", "test@"]
ANN, BOB = "ann@example.com", "bob@example.com"
MAPPING = ColumnMapping(columns=(MappedColumn(kind=Kind.EMAIL, position=1, name="mail"),))


def _hash(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


def _work(*, names_rows: bool = False) -> PartitionWork:
    return PartitionWork(
        mapping=MAPPING,
        typed=TypedColumns((pa.int64(), pa.string()), None),
        rules=Rules(),
        operation_type=UPDATE,
        names_rows=names_rows,
    )


def _outcomes(batches: list[Any], work: PartitionWork, *, before: int = 0) -> tuple[list[dict[str, Any]], list[Tally]]:
    told = [row for batch in work.outcomes(batches, before=before) for row in batch.to_pylist()]
    found = [row for row in told if row["tally"] is None]
    counted = [read_tally(row["tally"]) for row in told if row["tally"] is not None]
    return sorted(found, key=lambda row: (row["row"], row["reason"] or "")), counted


def _batches(sizes: list[int]) -> list[Any]:
    column, batches = pa.array(EMAILS), []
    for size in [*sizes, len(EMAILS)]:
        batches.append(pa.record_batch([column.slice(0, size)], names=["c1"]))
        column = column.slice(size)
    return batches


def test_a_row_is_a_record_or_a_rejection() -> None:
    """By its number, with the counts of both at the end."""
    found, (tally,) = _outcomes(_batches([]), _work(), before=100)
    assert [(row["row"], row["operation"], row["column"], row["reason"]) for row in found] == [
        (101, "Update", None, None),
        (102, None, "mail", "invalid_syntax"),
        (103, None, None, "no_identifier"),
        (104, "Update", None, None),
        (105, "Update", None, None),
        (106, None, "mail", "invalid_syntax"),
    ]
    assert (tally.rows_read, tally.rows_rejected, tally.records) == (6, 3, 3)
    assert tally.reasons == Counter({"invalid_syntax": 2, "no_identifier": 1})


@settings(deadline=None)
@given(st.lists(st.integers(0, 4), max_size=5))
def test_how_rows_are_divided_changes_nothing(sizes: list[int]) -> None:
    """Neither outcomes nor counts."""
    assert _outcomes(_batches(sizes), _work()) == _outcomes(_batches([]), _work())


def test_rows_may_have_numbers_of_their_own() -> None:
    """In the first column; a row without one cannot be told from others."""
    batch = pa.record_batch([pa.array([70, 5], pa.int32()), pa.array(EMAILS[:2])], names=["c0", "c1"])
    found, _ = _outcomes([batch], _work(names_rows=True))
    assert [row["row"] for row in found] == [5, 70]
    without = pa.record_batch([pa.array([None, 5], pa.int64()), pa.array(EMAILS[:2])], names=["c0", "c1"])
    with pytest.raises(SourceRefused, match="no number in some row"):
        _outcomes([without], _work(names_rows=True))


@pytest.mark.parametrize("names_rows", [False, True])
def test_digests_of_rows_are_added(names_rows: bool) -> None:
    """Whatever their sign and size; they stand before all other columns, and change no record."""
    digests = [2**63 - 1, 2**63 - 1, -(2**63), -1, 5, -(2**63)]
    numbers = [pa.array(range(1, 7), pa.int64())] if names_rows else []
    whole = pa.record_batch([pa.array(digests), *numbers, pa.array(EMAILS)], names=["d", *["n"] * names_rows, "c1"])
    work = replace(_work(names_rows=names_rows), has_digests=True)
    for batches in ([whole], [whole.slice(0, 1), whole.slice(1, 0), whole.slice(1)]):
        *_, counts = work.outcomes(batches, before=0)
        assert counts["digest_sum"].to_pylist() == [str(sum(digests))]
        assert _outcomes(batches, work) == _outcomes(_batches([]), _work())


@each_case(
    "types, split_cells, columns, cells, expected",
    [
        ((pa.string(),), None, {0: Kind.EMAIL}, [[ANN, None, BOB]], {"email": [_hash(ANN), None, _hash(BOB)]}),
        (
            (pa.string(), pa.string()),
            None,
            {0: Kind.EMAIL, 1: Kind.EMAIL},
            [[ANN, None, BOB], [ANN, BOB, None]],
            {"email": [[_hash(ANN)], [_hash(BOB)], [_hash(BOB)]]},
        ),
        ((pa.string(),), ";", {0: Kind.EMAIL}, [[f"{ANN};{ANN}", None]], {"email": [[_hash(ANN)], None]}),
        (
            (pa.list_(pa.string()), pa.string()),
            None,
            {0: Kind.EMAIL, 1: Kind.PARTNER_USER_ID},
            [[[ANN], [], None], ["a-1", None, "b-22"]],
            {"email": [[_hash(ANN)], None, None], "partner_user_id": ["a-1", None, "b-22"]},
        ),
        ((pa.string(),), None, {0: Kind.EMAIL}, [["no address"]], {"email": [None]}),
        (
            (pa.string(), pa.string()),
            None,
            {0: Kind.EMAIL, 1: Kind.PARTNER_USER_ID},
            [[ANN, None, BOB, None], [None, "a-1", "b-22", "c"]],
            {"email": [_hash(ANN), None, _hash(BOB), None], "partner_user_id": [None, "a-1", "b-22", "c"]},
        ),
    ],
)
def test_only_what_can_have_several_values_is_a_list(
    types: tuple[Any, ...],
    split_cells: str | None,
    columns: dict[int, Kind],
    cells: list[Any],
    expected: dict[str, Any],
) -> None:
    """Hashes are bytes; kinds that are not mapped have no column."""
    mapped = tuple(MappedColumn(kind=kind, position=place, name=f"n{place}") for place, kind in columns.items())
    work = PartitionWork(
        mapping=ColumnMapping(columns=mapped),
        typed=TypedColumns(types, split_cells),
        rules=Rules(),
        operation_type=UPDATE,
        names_rows=False,
    )
    arrays = [pa.array(column, kind) for column, kind in zip(cells, types, strict=True)]
    found, _ = _outcomes([pa.record_batch(arrays, names=[f"c{place}" for place in columns])], work)
    by_row = {row["row"]: row for row in found}
    assert set(found[0]) == {"row", "operation", "column", "reason", "tally", "digest_sum", *expected}
    assert {kind: [by_row[row][kind] for row in sorted(by_row)] for kind in expected} == expected


@each_case("words", [["update", "DELETE", "Delete"], ["delete"] * 3, ["update"] * 3])
def test_rows_may_say_what_becomes_of_them(words: list[str]) -> None:
    """All of a batch the same, or each another thing."""
    mapping = replace(MAPPING, operation=0, operation_name="verb")
    work = replace(_work(), mapping=mapping, typed=TypedColumns((pa.string(), pa.string()), None))
    found, _ = _outcomes([pa.record_batch([pa.array(words), pa.array(EMAILS[3:])], names=["c0", "c1"])], work)
    told = {row["row"]: row["operation"] for row in found if row["reason"] is None}
    assert told == {1: words[0].capitalize(), 2: words[1].capitalize()}


def test_batches_of_a_cluster_are_its_own_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small ones are gathered up to it, and larger ones are cut."""
    monkeypatch.setattr(outcomes, "CLUSTER_BATCH_ROWS", 4)
    emails = [f"p{number}@example.com" for number in range(13)]
    batches = [pa.record_batch([pa.array(part)], names=["c1"]) for part in (emails[:1], emails[1:2], emails[2:])]
    made = list(_work().outcomes(batches, before=0))
    assert [batch.num_rows for batch in made] == [2, 4, 4, 3, 1]
    assert [row for batch in made[:-1] for row in batch["email"].to_pylist()] == [_hash(email) for email in emails]


def test_every_batch_has_the_schema() -> None:
    """Also where there are only records, or only rejections; of no rows there are the counts."""
    for emails in (EMAILS[:1], EMAILS[1:2]):
        made = list(_work().outcomes([pa.record_batch([pa.array(emails)], names=["c1"])], before=0))
        assert [batch.schema for batch in made] == [_work().schema] * 2
    assert _outcomes([], _work()) == ([], [Tally()])


def test_an_error_shows_no_cell() -> None:
    """An executor writes what it raises into its log."""
    batch = pa.record_batch([pa.array(["ann@example.com"]), pa.array(["x"])], names=["c1", "c2"])
    with pytest.raises(AudiencekitError) as caught:
        _outcomes([batch], _work())
    assert "ann" not in f"{caught.value} {caught.value.__context__}"


def test_the_work_can_be_shipped() -> None:
    """And is the same when it arrives."""
    assert pickle.loads(pickle.dumps(_work())) == _work()
