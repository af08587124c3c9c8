"""Rejected rows with the tags of their records, and the proofs that a row is one of them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
from hypothesis import HealthCheck, given, settings, strategies as st

from audiencekit.identifiers.kinds import Kind
from audiencekit.personal import HashedRecords
from audiencekit.records.batches import REJECTION_SCHEMA
from audiencekit.selection.row_tags import (
    MOST_IDENTIFIERS,
    RowProofs,
    RowTags,
    find_new,
    have_records,
    row_tagger,
    tag_rejected,
)
from audiencekit.state.keys import StateKey
from tests.cases import each_case
from tests.examples import examples

Make = Callable[..., HashedRecords]
KEY = StateKey(b"k" * 32).derive("digests", "a run")
VALUES = st.dictionaries(
    st.sampled_from(list(Kind)), st.lists(st.integers(0, 99), min_size=1, max_size=4, unique=True), min_size=1
)


def _texts(values: dict[Kind, list[int]]) -> dict[Kind, list[str]]:
    return {kind: [f"{kind} {number}" for number in numbers] for kind, numbers in values.items()}


@settings(max_examples=examples(50), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(VALUES, VALUES, st.data())
def test_the_identifiers_of_then_are_found_among_those_of_now(
    hashed_records: Make, now: dict[Kind, list[int]], others: dict[Kind, list[int]], data: st.DataObject
) -> None:
    """Without them exactly the new ones are left; if one is gone, none is found. The record may be any of a batch."""
    every = [(kind, number) for kind, numbers in now.items() for number in numbers]
    kept = data.draw(st.lists(st.sampled_from(every), min_size=1, unique=True))
    then = {kind: [number for each, number in kept if each is kind] for kind, _ in kept}
    gone = {**then, Kind.EMAIL: [*then.get(Kind.EMAIL, []), 1_000]}
    batch = hashed_records(("Update", _texts(others)), ("Update", _texts(now)), ("Update", _texts(others)))
    tagged = row_tagger(KEY).tag(batch.unwrap())

    def tag(values: dict[Kind, list[int]]) -> np.void:
        found: np.void = row_tagger(KEY).tag(hashed_records(("Update", _texts(values))).unwrap()).of_sets()[0]
        return found

    if len(every) <= MOST_IDENTIFIERS:
        new = find_new(tagged, 1, tag(then))
        assert new is not None
        assert len(new) == len(every) - len(kept)
        left = np.delete(tagged.tags, new)[np.delete(tagged.owners(), new) == 1]
        assert sum(int(each) for each in left["high"]) % 2**64 == int(tag(then)["high"])
    assert find_new(tagged, 1, tag(gone)) is None


def test_rejected_rows_have_the_tags_of_their_records(hashed_records: Make) -> None:
    """Rows without a record have none; and the bytes come back."""
    records = hashed_records(*(("Update", {Kind.EMAIL: [f"a{number}"]}) for number in range(4)))
    rows = records.unwrap().column(0).to_pylist()
    listed = [rows[1], rows[1], rows[3], rows[3] + 5]
    rejections = {"row": listed, "column": ["email"] * 4, "reason": ["empty"] * 4}
    found = tag_rejected(records, pa.RecordBatch.from_pydict(rejections, schema=REJECTION_SCHEMA), row_tagger(KEY))
    assert found.rows.tolist() == [rows[1], rows[3], rows[3] + 5]
    assert have_records(found.tags).tolist() == [True, True, False]
    assert found.tags[:2].tolist() == row_tagger(KEY).tag(records.unwrap()).of_sets()[[1, 3]].tolist()
    again = RowTags.from_bytes(found.to_bytes())
    assert (again.rows.tolist(), again.tags.tolist()) == (found.rows.tolist(), found.tags.tolist())


@each_case(
    "proof",
    [None, "", "13", "13.", ".AAAA", "x.AAAA", "-1.AAAA", "13.????", RowProofs(KEY).of(14).replace("14.", "13."),
     RowProofs(StateKey(b"o" * 32).derive("digests", "a run")).of(13), f"{RowProofs(KEY).of(13)}A", "1" * 30 + ".A"],
)  # fmt: skip
def test_a_text_of_others_is_no_proof(proof: str | None) -> None:
    """The number of a row counts only together with the digest under the key of the run."""
    assert RowProofs(KEY).row_of(proof) is None


@each_case("row", [1, 13, 10**15])
def test_a_proof_is_of_its_row(row: int) -> None:
    assert RowProofs(KEY).row_of(f" {RowProofs(KEY).of(row)} ") == row
