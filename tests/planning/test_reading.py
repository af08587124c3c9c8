"""Batches are prepared side by side and come out in order."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from audiencekit.destinations.requests.operations import OperationsForm
from audiencekit.machine.spool import Spool
from audiencekit.planning.batchspool import BatchSpool
from audiencekit.planning.options import read_keywords
from audiencekit.planning.reading import read_batches
from audiencekit.preparation.chunks import RecordChunk
from audiencekit.preparation.plantimes import pin_times
from audiencekit.profile import SPEC
from audiencekit.selection.keysets import KeySets
from audiencekit.sources.delimited import delimitedfile as delimited
from audiencekit.sources.sourceopening import open_source

FORM = OperationsForm(pin_times(datetime(2026, 11, 21, tzinfo=UTC)), SPEC)


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_the_same_bytes_whatever_the_number_of_workers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: int
) -> None:
    """Records and rejections are equal to those of one worker and one batch."""
    path = tmp_path / "list.csv"
    path.write_text(
        "email,phone\n" + "".join(f"p{n}@example.com,{'+4930' if n % 3 else 'x'}{n}\n" for n in range(4000))
    )
    options = read_keywords({}, SPEC)

    def read(number: int) -> tuple[list[object], list[object]]:
        source = open_source(path, options.source)
        with Spool(tmp_path) as aside, Spool(tmp_path) as spool:
            keysets = KeySets(aside, mixed=False)
            rejections = []
            batches = BatchSpool(spool, aside)
            for batch in read_batches(source, options, FORM, keysets, batches, workers=number):
                rejections += batch.rejections.to_pylist()
            records = [entry for at in range(len(spool)) for entry in batches.unseal(at).unwrap().to_pylist()]
        return records, rejections

    expected = read(1)
    monkeypatch.setattr(delimited, "PIECE_BYTES", 3_000)
    monkeypatch.setattr("audiencekit.sources.delimited.pieces.HEAD_BYTES", 1_000)
    assert read(workers) == expected
    assert len(expected[0]) == 4_000


def test_records_go_with_a_batch_only_where_they_are_wanted(tmp_path: Path) -> None:
    """They are what the spool has; for others the spool is enough."""
    path = tmp_path / "list.csv"
    path.write_text("email\n" + "".join(f"p{n}@example.com\n" for n in range(50)))
    options = read_keywords({}, SPEC)
    source = open_source(path, options.source)

    def chunks(*, with_chunks: bool) -> list[RecordChunk | None]:
        with Spool(tmp_path) as aside, Spool(tmp_path) as spool:
            keysets = KeySets(aside, mixed=False)
            read = read_batches(source, options, FORM, keysets, BatchSpool(spool, aside), with_chunks=with_chunks)
            found = [batch.chunk for batch in read]
            if with_chunks:
                assert [chunk and bytes(chunk.unwrap()) for chunk in found] == [*map(bytes, spool.chunks())]
        return found

    assert len(chunks(with_chunks=True)) == 1
    assert chunks(with_chunks=False) == [None]
