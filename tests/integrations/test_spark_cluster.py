"""Spark: a standalone cluster, of which executors and workers are lost, and tasks run twice: the same records, once.

`SPARK_TRIALS` says how many executors are killed, `SPARK_FIRST` the number of the first trial.
"""

from __future__ import annotations

import csv
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import audiencekit
from audiencekit.errors import SourceRefused
from audiencekit.integrations.spark import prepare
from audiencekit.integrations.tallies import read_tally
from tests.integrations.conftest import (
    as_written,
    free_port,
    records_alone,
    rejections_alone,
    spark_home,
    spark_session,
    wait_for_port,
)
from tests.moments import PATIENCE_SECONDS

pytestmark = [
    pytest.mark.integrations,
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::ResourceWarning"),
]

TRIALS = int(os.environ.get("SPARK_TRIALS", "2"))
FIRST = int(os.environ.get("SPARK_FIRST", "0"))
ROWS = 6_000
PARTITIONS = 6
HOSTS = ("127.0.0.1", "127.0.0.2")  # a speculative task runs on another host than the first
MASTER, WORKER = "org.apache.spark.deploy.master.Master", "org.apache.spark.deploy.worker.Worker"
EXECUTOR = b"CoarseGrainedExecutorBackend"
SETTINGS = {
    "spark.executor.memory": "768m",
    "spark.locality.wait": "0",
    "spark.shuffle.io.retryWait": "100ms",  # of what a lost executor held
    "spark.speculation": "true",
    "spark.speculation.interval": "50ms",
    "spark.speculation.quantile": "0.5",
    "spark.speculation.multiplier": "1.1",
}
COLUMNS = {
    "email": "mail",
    "phone_number": "mobile",
    "device_id": "device",
    "handle": "handle",
    "partner_user_id": "customer",
}
OPTIONS: dict[str, Any] = {"columns": COLUMNS, "country": "DE"}


@dataclass(slots=True)
class Cluster:
    """One master and its workers, by host."""

    home: Path
    here: Path
    port: int = field(default_factory=free_port)
    workers: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    started: list[subprocess.Popen[bytes]] = field(default_factory=list)
    logs: list[Path] = field(default_factory=list)

    @property
    def address(self) -> str:
        return f"spark://127.0.0.1:{self.port}"

    def start_master(self) -> None:
        """Start the master, and wait until it listens."""
        master = self._start(MASTER, "127.0.0.1", "--port", str(self.port))
        wait_for_port(self.port, master, self.logs[-1])

    def start_worker(self, host: str) -> None:
        """A worker of one core; it tells the master by itself."""
        given = ("--cores", "1", "--memory", "1g", "--work-dir", str(self.here / f"work-{host}"))
        self.workers[host] = self._start(WORKER, host, *given, self.address)

    def executors(self) -> list[int]:
        """The processes of the executors that live."""
        workers = {worker.pid for worker in self.workers.values()}
        return [process for process in map(int, _numbers("/proc")) if _is_executor(process, workers)]

    def tell_logs(self) -> None:
        """Print the end of each log, for a test that failed."""
        of_executors = self.here.glob("work-*/*/*/stderr")
        for log in (*self.logs, *of_executors):
            sys.stdout.write(f"== {log.relative_to(self.here)}\n{log.read_text('utf-8', 'replace')[-1_500:]}\n")

    def _start(self, program: str, host: str, *given: str) -> subprocess.Popen[bytes]:
        options = "-Dspark.master.rest.enabled=false"
        environment = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
        environment |= {"SPARK_HOME": str(self.home), "SPARK_LOCAL_IP": host, "SPARK_DAEMON_MEMORY": "256m"}
        environment |= {"SPARK_DAEMON_JAVA_OPTS": options, "SPARK_LOCAL_DIRS": str(self.here / "local")}
        command = [self.home / "bin/spark-class", program, "--host", host, "--webui-port", "0", *given]
        self.logs.append(self.here / f"log-{len(self.logs)}-{program.rpartition('.')[2]}")
        with self.logs[-1].open("wb") as log:
            process = subprocess.Popen(
                command, cwd=self.here, env=environment, stdout=log, stderr=log, start_new_session=True
            )
        self.started.append(process)
        return process


def _numbers(directory: str) -> list[str]:
    return [name for name in os.listdir(directory) if name.isdigit()]


def _is_executor(process: int, workers: set[int]) -> bool:
    try:
        status = Path(f"/proc/{process}/stat").read_text("ascii", "replace").rpartition(")")[2].split()
        return int(status[1]) in workers and EXECUTOR in Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return False  # it has just ended


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A master and two workers on loopback."""
    if not Path("/proc/self/stat").exists():
        pytest.skip("the executors are found by /proc, and a second host by 127.0.0.2: both are of Linux")
    cluster = Cluster(spark_home(), tmp_path_factory.mktemp("cluster"))
    try:
        cluster.start_master()
        for host in HOSTS:
            cluster.start_worker(host)
        yield cluster
    finally:
        for process in reversed(cluster.started):
            process.terminate()
            process.wait()


@pytest.fixture(autouse=True)
def told_logs(cluster: Cluster) -> Iterator[None]:
    """Print logs, which pytest shows when the test fails."""
    yield
    cluster.tell_logs()


@pytest.fixture(scope="module")
def session(cluster: Cluster, shipped_code: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A driver in this process."""
    here = tmp_path_factory.mktemp("driver")
    with spark_session(cluster.address, here, shipped_code, **SETTINGS) as session:
        yield session


def _row(number: int) -> tuple[str, ...]:
    """Identifiers of an invented person: of each kind in some rows, of none or a wrong one in others."""
    if number % 11 == 0:
        return "no address", "", "", "", ""
    return (
        f"Person{number}@Example.com" if number % 3 else "",
        f"0151 2{number:07d}" if number % 4 == 1 else "",
        str(uuid.uuid5(uuid.NAMESPACE_DNS, f"device {number}")) if number % 5 == 2 else "",
        f"@person_{number}" if number % 6 == 3 else "",
        f"crm-{number}" if number % 7 == 4 else "",
    )


@dataclass(frozen=True, slots=True)
class Expected:
    """The list at `path`, and the results of one machine for it."""

    path: Path
    plan: Any
    records: dict[int, dict[str, Any]]
    rejections: list[tuple[int, str, str]]


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> Expected:
    """A list without duplicates, which no executor would see, as one machine prepares it."""
    here = tmp_path_factory.mktemp("alone")
    with (here / "people.csv").open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file)
        lines.writerow(["number", *COLUMNS.values()])
        lines.writerows((number, *_row(number)) for number in range(1, ROWS + 1))
    plan = audiencekit.prepare(here / "people.csv", out=here / "out", **OPTIONS)
    return Expected(here / "people.csv", plan, records_alone(here / "out"), rejections_alone(here / "out"))


@dataclass(frozen=True, slots=True)
class Written:
    """The manifest of a written place: a digest of the rows that were read, and their counts."""

    fingerprint: dict[str, Any]
    tally: Any


def _frame(session: Any, expected: Expected, step: Callable[..., Any] | None = None) -> Any:
    """The list, dealt out again by a shuffle, so that a lost executor takes rows with it that others wait for."""
    columns = ", ".join(f"{name} STRING" for name in COLUMNS.values())
    frame = session.read.csv(str(expected.path), header=True, schema=f"number BIGINT, {columns}")
    dealt = frame.repartition(PARTITIONS, "number")
    return dealt if step is None else dealt.mapInArrow(step, dealt.schema)


def _write(frame: Any, place: Path, expected: Expected) -> Written:
    """Write the list to `place`, and hold all that is there to what one machine makes of it."""
    report = prepare(frame, row_column="number", **OPTIONS).write(str(place))
    plan = expected.plan
    assert report["rows"] == {"read": ROWS, "rejected": plan.rows.rejected, "records": plan.records}
    assert report["identifiers"] == plan.identifiers
    assert report["rejections"] == plan.rejections
    written = _whole(place, expected)
    assert written is not None
    return written


def _whole(place: Path, expected: Expected) -> Written | None:
    """The manifest, once the place is held to it; None for a place without one, which is no source."""
    texts = list(place.glob("manifest/*.txt"))
    if not texts:
        with pytest.raises(SourceRefused):
            audiencekit.check(place)
        return None
    assert audiencekit.check(place).records == len(expected.records)
    records = pq.read_table(place / "records").to_pylist()
    assert len(records) == len(expected.records)
    assert {record["row"]: as_written(record) for record in records} == expected.records
    assert _rejections(place) == expected.rejections
    assert sum(pq.read_metadata(path).num_rows for path in place.glob("outcomes/*.parquet")) == 0
    (text,) = texts
    manifest = json.loads(text.read_text("utf-8"))
    return Written(manifest["fingerprint"], read_tally(manifest["tally"]))


def _rejections(place: Path) -> list[tuple[int, str, str]]:
    found = []
    for path in place.glob("rejections/*.csv"):
        with path.open(encoding="utf-8", newline="") as file:
            found += [(int(line["row"]), line["column"], line["reason"]) for line in csv.DictReader(file)]
    return sorted(found)


@pytest.fixture(scope="module")
def calm(session: Any, expected: Expected, tmp_path_factory: pytest.TempPathFactory) -> tuple[Written, int]:
    """A place that was written without any trouble, and the number of jobs that Spark runs for it."""
    session.sparkContext.setJobGroup("calm", "")
    written = _write(_frame(session, expected), tmp_path_factory.mktemp("calm") / "place", expected)
    return written, len(session.sparkContext.statusTracker().getJobIdsForGroup("calm"))


def test_two_workers_make_what_one_machine_makes(calm: tuple[Written, int], cluster: Cluster) -> None:
    """Records, rejections and counts, of all kinds of identifiers."""
    written, _ = calm
    assert written.fingerprint["rows"] == written.tally.rows_read == ROWS
    assert len(cluster.executors()) == len(HOSTS)


def _when_tasks_run(session: Any, group: str, jobs: int, ended: threading.Event, kill: Callable[[], bool]) -> bool:
    """Whether `kill` did it before the write ended, while tasks ran of job `jobs` of `group`, or of a later one."""
    tracker = session.sparkContext.statusTracker()
    while not ended.wait(0.002):
        stages = map(tracker.getStageInfo, tracker.getActiveStageIds())
        are_running = any(stage is not None and stage.numActiveTasks for stage in stages)
        if are_running and len(tracker.getJobIdsForGroup(group)) >= jobs and kill():
            return True
    return False


def _write_while(session: Any, frame: Any, place: Path, expected: Expected, jobs: int, kill: Callable[[], bool]) -> Any:
    """Write to `place`; the manifest, and whether `kill` did it meanwhile."""
    ended = threading.Event()
    group = str(place)
    session.sparkContext.setJobGroup(group, "")
    with ThreadPoolExecutor(1) as pool:
        killing = pool.submit(_when_tasks_run, session, group, jobs, ended, kill)
        try:
            written = _write(frame, place, expected)
        finally:
            ended.set()
        return written, killing.result()


def test_killed_executors_change_nothing(
    calm: tuple[Written, int], cluster: Cluster, session: Any, expected: Expected, tmp_path: Path
) -> None:
    """In whatever job of a write, the first one or the last; the records, the counts and the manifest are the same."""
    written, jobs = calm
    kills = 0
    for trial in range(FIRST, FIRST + TRIALS):
        chance = random.Random(trial)

        def kill_executor(chance: random.Random = chance) -> bool:
            executors = cluster.executors()
            if executors:
                os.kill(chance.choice(executors), signal.SIGKILL)
            return bool(executors)

        number = chance.randrange(1, jobs)
        found, was_killed = _write_while(
            session, _frame(session, expected), tmp_path / str(trial), expected, number, kill_executor
        )
        assert found == written, f"trial {trial}, in job {number}"
        kills += was_killed
    assert kills


def _slow_and_failing(marks: Path) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """A step of which partition 1 waits for a second attempt, and partitions 2 and 3 fail once, after their rows."""
    patience = PATIENCE_SECONDS

    def step(batches: Iterator[Any]) -> Iterator[Any]:
        from pyspark import TaskContext

        context: Any = TaskContext.get()
        partition, stage, attempt = context.partitionId(), context.stageId(), context.attemptNumber()
        yield from batches
        (marks / f"{stage}-{partition}-{attempt}").touch()
        if partition in (2, 3) and attempt == 0:
            raise RuntimeError("a task that fails once")
        end = time.monotonic() + patience
        # Both attempts go on at the same time, and write the same rows.
        while partition == 1 and not (marks / f"{stage}-1-1").exists() and time.monotonic() < end:
            time.sleep(0.01)

    return step


def test_tasks_that_run_twice_leave_nothing_twice(
    calm: tuple[Written, int], session: Any, expected: Expected, tmp_path: Path
) -> None:
    """Speculative tasks and failed ones, in the written place and in the counts of a report without one."""
    written, _ = calm
    marks = tmp_path / "marks"
    marks.mkdir()
    frame = _frame(session, expected, _slow_and_failing(marks))
    assert _write(frame, tmp_path / "place", expected) == written
    attempts = {tuple(map(int, mark.name.split("-"))) for mark in marks.iterdir()}
    repeated = {(stage, partition) for stage, partition, attempt in attempts if attempt == 1}
    assert len({stage for stage, _ in repeated}) == 1
    assert {partition for _, partition in repeated} >= {1, 2, 3}
    report = prepare(frame, row_column="number", **OPTIONS).report()
    assert report["rows"]["read"] == ROWS
    assert report["rows"]["records"] == len(expected.records)


def test_a_lost_worker_changes_nothing(
    calm: tuple[Written, int], cluster: Cluster, session: Any, expected: Expected, tmp_path: Path
) -> None:
    """With its executor, as when its machine is lost: the other worker ends the job."""
    written, jobs = calm
    lost, kept = HOSTS

    def kill_worker() -> bool:
        worker = cluster.workers.pop(lost)
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait()
        return True

    frame = _frame(session, expected)
    try:
        assert _write_while(session, frame, tmp_path / "place", expected, jobs // 2, kill_worker) == (written, True)
        assert list(cluster.workers) == [kept]
        assert len(cluster.executors()) == 1
    finally:
        cluster.start_worker(lost)
