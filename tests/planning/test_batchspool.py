"""Batches in the spool, by their records or by their tags."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from audiencekit.errors import Bug
from audiencekit.identifiers.kinds import Kind
from audiencekit.machine.spool import Spool
from audiencekit.personal import HashedRecords
from audiencekit.planning.batchspool import BatchSpool, WholeBatches
from audiencekit.preparation.batches import ROW
from audiencekit.preparation.chunks import to_chunk
from audiencekit.selection.taggedrows import TaggedRows
from audiencekit.selection.tags import Tagger, slots_of
from tests.preparation.conftest import hashed_records

__all__ = ["hashed_records"]


@pytest.mark.parametrize("keeps_records", [True, False])
def test_the_same_is_seen_in_records_and_in_tags(
    tmp_path: Path, hashed_records: Callable[..., HashedRecords], keeps_records: bool
) -> None:
    """Of tags there is no way back to the records, and no hash is in the file."""
    records = hashed_records(*(("Update", {Kind.EMAIL: [text], Kind.PHONE_NUMBER: ["p"]}) for text in "abc"))
    tagger = Tagger()
    tagged = TaggedRows(records.unwrap().column(ROW).to_numpy(), tagger.tag(records.unwrap()))
    with Spool(tmp_path) as file, Spool(tmp_path) as aside:
        spool = BatchSpool(file, aside, keeps_records=keeps_records)
        spool.seal(0, to_chunk(records), tagged)
        found, _ = spool.look(0, slots_of(tagged.keys.tags), np.array([1, 4]), tagger)
        assert (found["record"].tolist(), found["row"].tolist()) == ([1, 1], [tagged.rows[1]] * 2)
        assert found["low"].tolist() == tagged.keys.tags["low"][[1, 4]].tolist()
        first_hash = records.unwrap().column("email").values[0].as_py()
        assert (first_hash in bytes(file.read(0))) == keeps_records
        if keeps_records:
            assert spool.unseal(0).unwrap().equals(records.unwrap())
        else:
            with pytest.raises(Bug, match="batch 0 were not kept"):
                spool.unseal(0)


def test_nothing_is_written_where_nothing_is_asked(
    tmp_path: Path, hashed_records: Callable[..., HashedRecords]
) -> None:
    """Neither records nor tags: `check --shared-values keep`."""
    with Spool(tmp_path) as file:
        BatchSpool(file, file, keeps_records=False).seal(0, to_chunk(hashed_records(("Update", {Kind.EMAIL: ["a"]}))))
        assert len(file) == 0


def test_values_are_left_out_from_then_on(tmp_path: Path, hashed_records: Callable[..., HashedRecords]) -> None:
    """Of the batch in which they stand, and of no other."""
    records = hashed_records(("Update", {Kind.EMAIL: ["a"], Kind.HANDLE: ["b"]}))
    with Spool(tmp_path) as file, Spool(tmp_path) as aside:
        spool = BatchSpool(file, aside)
        for number in range(2):
            spool.seal(number, to_chunk(records))
        spool.leave_out(1, np.array([0]))
        assert spool.unseal(0).unwrap().equals(records.unwrap())
        left = spool.unseal(1).unwrap()
        assert (left.column("email").null_count, left.column("handle").null_count) == (1, 0)


def test_requests_share_a_batch_that_is_unsealed_once(
    tmp_path: Path, hashed_records: Callable[..., HashedRecords]
) -> None:
    """All of it comes back, and the places as they were asked for."""
    with Spool(tmp_path) as file, Spool(tmp_path) as aside:
        spool = BatchSpool(file, aside)
        spool.seal(0, to_chunk(hashed_records(*(("Update", {Kind.EMAIL: [text]}) for text in "ab"))))
        batches = WholeBatches(spool, 1)
        (first, places), (second, _) = batches.find(0, np.array([1])), batches.find(0, np.array([0]))
        assert first is second
        assert (first.unwrap().num_rows, places.tolist()) == (2, [1])
