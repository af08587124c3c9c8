"""Figures of Spark: every kind of difference from one machine is seen, and no row is left out of the core's time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import audiencekit
from benchmarks import spark_core
from benchmarks.spark_core import core_processes, seconds_alone
from benchmarks.spark_equality import Comparison, compare

pytestmark = pytest.mark.slow

RECORDS = pa.schema(
    {"row": pa.int64(), "operation": pa.string(), "email": pa.binary(), "phone_number": pa.list_(pa.binary())}
)
LIST = "email,phone\nann@example.com,+493012345601\nbob@example.com,\nann@example.com,+493012345601\nno address,\n"
OPTIONS: dict[str, Any] = {"columns": {"email": "email", "phone_number": "phone"}}


@pytest.fixture
def alone(tmp_path: Path) -> Path:
    """Prepare a list with a duplicate and a rejected row on one machine."""
    (tmp_path / "list.csv").write_text(LIST)
    audiencekit.prepare(tmp_path / "list.csv", out=tmp_path / "alone", **OPTIONS)
    return tmp_path / "alone"


def _compared(alone: Path, records: list[dict[str, Any]], rejections: list[dict[str, Any]]) -> Comparison:
    paths = [alone.with_name("records"), alone.with_name("rejections")]
    for path in paths:
        path.mkdir()
    pq.write_table(pa.Table.from_pylist(records, schema=RECORDS), paths[0] / "part-0.parquet")
    told = pa.schema({"row": pa.int64(), "column": pa.string(), "reason": pa.string()})
    pq.write_table(pa.Table.from_pylist(rejections, schema=told), paths[1] / "part-0.parquet")
    return compare(alone, *paths)


def _in_bytes(record: dict[str, Any]) -> dict[str, Any]:
    emails, numbers = ([bytes.fromhex(text) for text in record[kind] or ()] for kind in ("email", "phone_number"))
    return {"row": record["row"], "operation": record["operation"], "email": emails[0], "phone_number": numbers or None}


def _cluster(alone: Path) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the cluster's output for the same list, in another order: bytes, in lists or not."""
    first, second = map(_in_bytes, pq.read_table(alone / "records.parquet").to_pylist())
    return [{**first, "row": 3}, second, first], [{"row": 4, "column": "email", "reason": "invalid_syntax"}]


def test_the_same_is_the_same(alone: Path) -> None:
    """In any order, with the duplicates that only the cluster has."""
    found = _compared(alone, *_cluster(alone))
    assert (found.records, found.duplicates, found.rejections, found.differences) == (2, 1, 1, 0)


def test_every_kind_of_difference_is_seen(alone: Path, tmp_path: Path) -> None:
    """A missing record, another record, a record of a stranger, and rejections."""
    (duplicate, second, first), (rejection,) = _cluster(alone)
    other = {**second, "email": first["email"]}
    cases: dict[str, tuple[list[Any], list[Any]]] = {
        "missing_records": ([duplicate, first], [rejection]),
        "other_records": ([duplicate, other, first], [rejection]),
        "invented_records": ([{**duplicate, "email": None}, second, first], [rejection]),
        "other_rejections": ([duplicate, second, first], []),
    }
    for number, (name, (records, rejections)) in enumerate(cases.items()):
        place = tmp_path / str(number) / "alone"
        place.parent.mkdir()
        place.symlink_to(alone)
        found = _compared(place, records, rejections)
        assert (getattr(found, name), found.differences) == (1, 1), name


def test_processes_share_all_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Seven row groups, which two processes cannot share alike; rows that none had would make the core fast."""
    path = tmp_path / "people.parquet"
    emails = [f"p{number}@example.com" for number in range(14)]
    table = pa.table({"email": emails, "phone": ["+4930123456"] * 14, "country": ["DE"] * 14})
    pq.write_table(table, path, row_group_size=2)
    assert seconds_alone(path) > 0
    with core_processes(path, 2) as processes:
        assert processes.seconds() > 0
        monkeypatch.setattr(spark_core.pq, "read_metadata", lambda _: pq.ParquetFile(path).metadata.row_group(0))
        with pytest.raises(RuntimeError, match="each row once"):
            processes.seconds()
