"""The core without Spark: of the same rows, and of the core alone."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from audiencekit.integrations import outcomes
from benchmarks import spark_core
from benchmarks.spark_core import core_processes, seconds_alone, timed_core


@pytest.fixture
def parquet(tmp_path: Path) -> Path:
    """Seven row groups of invented people, which two processes cannot share alike."""
    emails = [f"p{number}@example.com" for number in range(14)]
    table = pa.table({"email": emails, "phone": ["+4930123456"] * 14, "country": ["DE"] * 14})
    pq.write_table(table, tmp_path / "people.parquet", row_group_size=2)
    return tmp_path / "people.parquet"


def test_processes_share_all_rows(parquet: Path) -> None:
    """Each once; they are there for the next time, too."""
    with core_processes(parquet, 2) as processes:
        assert processes.seconds() > 0
        assert processes.seconds() > 0


def test_rows_that_no_process_had_are_noticed(parquet: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A share that is missing would make the core fast."""
    with core_processes(parquet, 2) as processes:
        monkeypatch.setattr(spark_core.pq, "read_metadata", lambda _: pq.ParquetFile(parquet).metadata.row_group(0))
        with pytest.raises(RuntimeError, match="each row once"):
            processes.seconds()


def test_one_process_prepares_all_rows(parquet: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever their batches are."""
    rows: list[int] = []
    prepare = spark_core.prepare_batch

    def noted(batch: Any, *given: Any, **named: Any) -> Any:
        rows.append(batch.columns.unwrap().num_rows)
        return prepare(batch, *given, **named)

    monkeypatch.setattr(spark_core, "prepare_batch", noted)
    assert seconds_alone(parquet) > 0
    assert sum(rows) == 14


def test_the_core_is_timed_where_outcomes_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """For as long as the block lasts."""
    monkeypatch.setattr(spark_core, "prepare_batch", _burn)
    before = outcomes.prepare_batch
    with timed_core() as watch:
        outcomes.prepare_batch()  # type: ignore[call-arg]
        assert outcomes.prepare_batch is not before
    assert outcomes.prepare_batch is before
    assert watch.seconds >= 0.05


def _burn() -> None:
    ended = time.process_time() + 0.05
    while time.process_time() < ended:
        pass
