"""Batches are prepared side by side and come out in order."""

from __future__ import annotations

from pathlib import Path

import pytest

from audiencekit.delivery.spool import Spool
from audiencekit.planning.options import read_keywords
from audiencekit.planning.reading import read_batches, unseal
from audiencekit.preparation.keysets import KeySets
from audiencekit.profile import SPEC
from audiencekit.sources import delimited
from audiencekit.sources.opening import open_source


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
            for batch in read_batches(source, options, SPEC, keysets, spool, workers=number):
                rejections += batch.rejections.to_pylist()
            records = [entry for at in range(len(spool)) for entry in unseal(at, spool).unwrap().to_pylist()]
        return records, rejections

    expected = read(1)
    monkeypatch.setattr(delimited, "PIECE_BYTES", 3_000)
    monkeypatch.setattr("audiencekit.sources.counting.SCAN_BYTES", 1_000)
    assert read(workers) == expected
    assert len(expected[0]) == 4_000
