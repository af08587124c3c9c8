"""Spark: the same hashes, row for row, whatever happens to an executor."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import audiencekit
from audiencekit.errors import MappingRefused, Refused, SourceRefused, UsageError
from audiencekit.integrations.spark import PARTITION_ROWS, prepare
from audiencekit.testing import run_emulator
from benchmarks.contacts import write_contacts
from tests.integrations.conftest import as_written, records_alone, rejections_alone, spark_home
from tests.moments import PATIENCE_SECONDS

pytestmark = [
    pytest.mark.integrations,
    # Spark and pandas have deprecations of their own.
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::ResourceWarning"),
]

ROOT = Path(__file__).resolve().parents[2]
ROWS = 20_000
COLUMNS = {"email": "email", "phone_number": "phone"}
OPTIONS: dict[str, Any] = {"columns": COLUMNS, "country_column": "country"}


@pytest.fixture(scope="module")
def contacts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A list of invented people, a fifth of its rows dirty, with the number of each row."""
    directory = tmp_path_factory.mktemp("contacts")
    write_contacts(directory / "contacts.csv", rows=ROWS)
    text = pa.csv.ConvertOptions(column_types={name: pa.string() for name in ("email", "phone", "country")})
    table = pa.csv.read_csv(directory / "contacts.csv", convert_options=text)
    table = table.append_column("number", pa.array(range(1, table.num_rows + 1), pa.int64()))
    pq.write_table(table, directory / "contacts.parquet", row_group_size=2_500)
    return directory / "contacts.parquet"


@pytest.fixture(scope="module")
def expected(contacts: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the records that one machine makes of the list."""
    out = tmp_path_factory.mktemp("expected")
    audiencekit.prepare(contacts, out=out, **OPTIONS)
    return out


def _rows(frame: Any) -> list[dict[str, Any]]:
    return [row.asDict() for row in frame.orderBy("row").collect()]


def test_records_and_rejections_are_those_of_one_machine(spark: Any, contacts: Path, expected: Path) -> None:
    """Row for row; the counts of both jobs are those of one."""
    prepared = prepare(spark.read.parquet(str(contacts)).repartition(5), row_column="number", **OPTIONS)
    records = {row["row"]: row for row in _rows(prepared.records)}
    rejections = sorted((row["row"], row["column"] or "", row["reason"]) for row in prepared.rejections.collect())
    plan = audiencekit.check(contacts, **OPTIONS)
    report = prepared.report()
    # One machine leaves duplicates out, which no executor can see.
    alone = {row: record for row, record in records_alone(expected).items() if row in records}
    assert len(alone) == plan.records
    assert {row: as_written(records[row]) for row in alone} == alone
    assert rejections == rejections_alone(expected)
    assert report["rows"] == {"read": ROWS, "rejected": plan.rows.rejected, "records": len(records)}
    assert report["identifiers"] == plan.identifiers
    assert report["rejections"] == plan.rejections
    assert report["problems"] == []


def _die_once(marker: str) -> Any:
    """A step that passes rows on, and takes its executor with it where it comes first."""

    def step(batches: Iterator[Any]) -> Iterator[Any]:
        from pyspark import TaskContext

        yield from batches
        if TaskContext.get().partitionId() == 1:
            try:
                os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                return
            daemon = Path(f"/proc/{os.getppid()}/stat").read_text("ascii").rpartition(")")[2].split()
            os.kill(int(daemon[1]), signal.SIGKILL)

    return step


def test_a_killed_executor_changes_nothing(spark: Any, contacts: Path, tmp_path: Path) -> None:
    """Not a record, and not a count."""
    frame = spark.read.parquet(str(contacts)).repartition(4, "number")
    calm = prepare(frame, row_column="number", **OPTIONS)
    undisturbed = _rows(calm.records)
    dying = frame.mapInArrow(_die_once(str(tmp_path / "died")), frame.schema)
    prepared = prepare(dying, row_column="number", **OPTIONS)
    assert _rows(prepared.records) == undisturbed
    assert (tmp_path / "died").exists()
    assert prepared.report() == calm.report()


def test_the_written_directory_is_a_source(spark: Any, contacts: Path, expected: Path, tmp_path: Path) -> None:
    """The directory, as Spark leaves it; every record of one machine is in it."""
    prepared = prepare(spark.read.parquet(str(contacts)), **OPTIONS)
    assert prepared.write(f"{tmp_path}/place/") == prepared.report()
    again = audiencekit.prepare(tmp_path / "place", out=tmp_path / "again")
    assert again.source["format"] == "prepared"
    assert again.rows.rejected == 0
    columns = [name for name in pq.read_schema(expected / "records.parquet").names if name != "row"]

    def contents(path: Path) -> set[str]:
        return {repr(record) for record in pq.read_table(path / "records.parquet", columns=columns).to_pylist()}

    assert contents(tmp_path / "again") == contents(expected)


def _files(place: Path) -> dict[str, float]:
    return {str(path): path.stat().st_mtime_ns for path in place.rglob("*") if path.is_file()}


def test_a_job_that_runs_again_changes_nothing(spark: Any, tmp_path: Path) -> None:
    """The same rows are there already, in any order; others and other options are refused; a killed job begins anew."""
    people = [(f"p{n}@example.com",) for n in range(40)] + [("no address",)]
    frame, place = spark.createDataFrame(people, "email STRING"), tmp_path / "place"
    given: dict[str, Any] = {"columns": {"email": "email"}}
    first = prepare(frame, **given).write(str(place))
    assert first["rows"] == {"read": 41, "rejected": 1, "records": 40}
    before = _files(place)
    assert prepare(frame.orderBy("email").repartition(3), **given).write(str(place)) == first
    for other, options in (
        (frame.limit(40), given),
        (frame, {**given, "operation": "delete"}),
        (frame, {**given, "country": "US"}),
    ):
        with pytest.raises(UsageError, match="another list"):
            prepare(other, **options).write(str(place))
    assert _files(place) == before
    shutil.rmtree(place / "manifest")
    (place / "records/part-of-a-killed-job.parquet").write_bytes(b"")
    assert prepare(frame.where("email LIKE '%@%'"), **given).write(str(place))["rows"]["records"] == 40
    assert pq.read_table(place / "records").num_rows == 40
    assert sum(pq.read_table(path).num_rows for path in (place / "outcomes").glob("*.parquet")) == 0


def test_the_manifest_is_of_the_rows_that_were_written(spark: Any, tmp_path: Path) -> None:
    """A table that others change is read once, so that no rows are named that were not prepared."""
    reads = tmp_path / "reads"

    def step(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            with open(reads, "a", encoding="ascii") as file:
                file.write("x")
                rows = [f"read{file.tell()}.{number}@example.com" for number in range(batch.num_rows)]
            yield pa.record_batch({"email": rows})

    changing = spark.range(30).coalesce(1).mapInArrow(step, "email STRING")
    prepare(changing, columns={"email": "email"}).write(str(tmp_path / "place"))
    assert reads.read_text("ascii") == "x"
    first = spark.createDataFrame([(f"read1.{number}@example.com",) for number in range(30)], "email STRING")
    prepare(first, columns={"email": "email"}).write(str(tmp_path / "place"))
    with pytest.raises(UsageError, match="another list"):
        prepare(changing, columns={"email": "email"}).write(str(tmp_path / "place"))


def test_a_list_that_must_not_be_sent_has_rejections_alone(spark: Any, tmp_path: Path) -> None:
    """As on one machine: no records that could be sent, and no manifest."""
    frame = spark.createDataFrame([(f"no address {n}",) for n in range(20)], "email STRING")
    for _ in range(2):
        with pytest.raises(Refused, match="20 of 20"):
            prepare(frame, columns={"email": "email"}).write(str(tmp_path))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["outcomes", "rejections"]
    assert not list((tmp_path / "outcomes").glob("*.parquet")) or not pq.read_table(tmp_path / "outcomes").num_rows
    told = "".join(path.read_text("utf-8") for path in (tmp_path / "rejections").glob("*.csv"))
    assert told.count("invalid_syntax") == 20


def test_a_damaged_manifest_is_refused(spark: Any, tmp_path: Path) -> None:
    """It is no reason to write over what may be there."""
    frame = spark.createDataFrame([("ann@example.com",)], "email STRING")
    (tmp_path / "manifest").mkdir()
    (tmp_path / "manifest/part-0.txt").write_text('{"format":"audiencekit-spark/1"')
    with pytest.raises(SourceRefused, match="manifest of the place is damaged"):
        prepare(frame, columns={"email": "email"}).write(str(tmp_path))


def test_a_kind_is_a_list_where_a_row_can_have_several_values(spark: Any, tmp_path: Path) -> None:
    """Of bytes in any case; other kinds have no column. Both are sources."""
    rows = [(["ann@example.com", "bob@example.com"], "crm-1"), (None, "crm-2")]
    frame = spark.createDataFrame(rows, "mails ARRAY<STRING>, id STRING")
    records = prepare(frame, columns={"email": "mails", "partner_user_id": "id"}).records
    types = {field.name: field.dataType.simpleString() for field in records.schema}
    assert types == {"row": "bigint", "operation": "string", "email": "array<binary>", "partner_user_id": "string"}
    records.write.parquet(str(tmp_path / "records"))
    assert audiencekit.check(tmp_path / "records").identifiers["email"]["valid"] == 2


HASHED_BY_SPARK = {
    "digits": "sha2(lower(trim(email)), 256)",
    "digits of bytes": "lower(hex(unhex(sha2(lower(trim(email)), 256))))",
    "capital digits": "upper(sha2(lower(trim(email)), 256))",
    "bytes": "unhex(sha2(lower(trim(email)), 256))",
    "digits as bytes": "CAST(sha2(lower(trim(email)), 256) AS BINARY)",
}


@pytest.mark.parametrize("expression", HASHED_BY_SPARK.values(), ids=HASHED_BY_SPARK)
def test_values_that_spark_has_hashed_are_not_hashed_again(spark: Any, expression: str) -> None:
    """With `hashed`, whether it stands as text or as bytes; null is no value, and what is no hash is rejected."""
    emails = [" Ann@example.com", "bob@example.com", None]
    frame = spark.createDataFrame([(email,) for email in emails], "email STRING").coalesce(1)
    prepared = prepare(frame.selectExpr(f"{expression} AS email"), columns={"email": "email"}, hashed=["email"])
    assert [row["email"] for row in _rows(prepared.records)] == [
        hashlib.sha256(b"ann@example.com").digest(),
        hashlib.sha256(b"bob@example.com").digest(),
    ]
    assert [row["reason"] for row in prepared.rejections.collect()] == ["no_identifier"]
    prepared.require_sound()


@pytest.mark.parametrize(
    ("expression", "hashed", "reason"),
    [
        ("sha2(email, 256)", [], "already_hashed"),
        ("email", ["email"], "wrong_hash"),
        ("CAST(email AS BINARY)", ["email"], "wrong_hash"),
        ("md5(email)", ["email"], "wrong_hash"),
        ("unhex(sha1(email))", ["email"], "wrong_hash"),
    ],
)
def test_a_column_is_hashed_only_where_that_is_said(
    spark: Any, expression: str, hashed: list[str], reason: str
) -> None:
    """A hash in a column of addresses, an address or another hash in one of hashes: nothing of it is sent."""
    frame = spark.createDataFrame([(f"p{number}@example.com",) for number in range(5)], "email STRING")
    prepared = prepare(frame.selectExpr(f"{expression} AS email"), columns={"email": "email"}, hashed=hashed)
    assert [row["reason"] for row in prepared.rejections.collect()] == [reason] * 5
    with pytest.raises(Refused):
        prepared.require_sound()


def test_rows_are_numbered_by_partition(spark: Any) -> None:
    """From 1 in each, far apart."""
    frame = spark.createDataFrame([(f"p{n}@example.com",) for n in range(6)], "email STRING").coalesce(2)
    rows = [row["row"] for row in _rows(prepare(frame, columns={"email": "email"}).records)]
    assert rows == sorted(rows)
    assert {row // PARTITION_ROWS for row in rows} <= {0, 1}
    assert [row % PARTITION_ROWS for row in rows if row < PARTITION_ROWS] == list(
        range(1, 1 + sum(row < PARTITION_ROWS for row in rows))
    )


def test_the_list_as_a_whole_is_judged(spark: Any) -> None:
    """After the job, since no executor sees all of it; no value is told."""
    frame = spark.createDataFrame([(f"no address {n}",) for n in range(20)], "email STRING")
    prepared = prepare(frame, columns={"email": "email"})
    assert prepared.records.count() == 0
    with pytest.raises(Refused, match="20 of 20"):
        prepared.require_sound()
    assert "no address" not in str(prepared.report()) + repr(prepared)


def test_the_sample_job_prepares_and_uploads(tmp_path: Path) -> None:
    """As `spark-submit` would run it, on one machine; run again for the same audience, it sends nothing twice."""
    spark_home()
    settings = {"spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    submitted = " ".join(f"--conf {name}={value}" for name, value in settings.items())
    environment = {name: text for name, text in os.environ.items() if not name.startswith("AUDIENCEKIT_")}
    environment |= {
        "PYTHONPATH": str(ROOT),
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_SUBMIT_ARGS": f"--master local[1] {submitted} pyspark-shell",
        "AUDIENCEKIT_STATE_DIR": str(tmp_path / "state"),
    }
    told_each_time = ["prepared: 11 rows read, 2 rejected", "complete: 9 records read, 6 sent"]
    pq.write_table(pa.csv.read_csv(ROOT / "samples/changes.csv"), tmp_path / "customers.parquet")
    with run_emulator() as emulator:
        to_one_audience = [str(tmp_path / "customers.parquet"), emulator.audience_id]
        for place, more in (("out", []), ("place", to_one_audience), ("place", to_one_audience)):
            done = subprocess.run(
                [sys.executable, str(ROOT / "samples/spark_job.py"), str(tmp_path / place), *more],
                cwd=tmp_path, env={**environment, **emulator.env}, capture_output=True, text=True, check=False,
                timeout=PATIENCE_SECONDS,
            )  # fmt: skip
            assert done.returncode == 0, done.stderr[-2_000:]
            assert done.stdout.splitlines() == told_each_time
        with urllib.request.urlopen(f"{emulator.ads_url}/__requests") as answer:
            paths = [request["path"] for request in json.load(answer)]
    # The second run of the job reads all of it again, and sends nothing: there are two waves.
    assert sum(path.endswith("/users") for path in paths) == 2
    told = "".join(path.read_text("utf-8") for path in (tmp_path / "out/rejections").glob("part-*.csv"))
    assert "operation,unknown_operation" in told


def test_other_frames_are_refused() -> None:
    """Those of pandas have a library of their own, and pandas on Spark a way to ours."""
    with pytest.raises(UsageError, match="the source must be a Spark DataFrame") as caught:
        prepare(pa.table({"email": ["ann@example.com"]}), columns={"email": "email"})  # type: ignore[arg-type]
    assert "to_spark()" in caught.value.hint


@pytest.mark.parametrize(
    ("keywords", "error", "message"),
    [
        ({}, UsageError, "columns is required"),
        ({"columns": {"email": "mail"}}, MappingRefused, "there is no column 'mail'"),
        ({"columns": {"platform_id": "share"}}, SourceRefused, "floating-point"),
        ({"columns": {"email": "email"}, "sheet": "People"}, UsageError, "sheet: not an option"),
        ({"columns": {"email": "email"}, "row_column": "email"}, MappingRefused, "whole numbers"),
        ({"columns": {"email": "when"}}, SourceRefused, "neither text nor whole numbers"),
    ],
)
def test_invalid_options_are_refused_before_a_job_runs(
    spark: Any, keywords: dict[str, Any], error: type[Exception], message: str
) -> None:
    """Columns that are missing or no text, options of other places."""
    frame = spark.createDataFrame([], "email STRING, share DOUBLE, `when` INTERVAL DAY TO SECOND")
    with pytest.raises(error, match=message):
        prepare(frame, **keywords)
