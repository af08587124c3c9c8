"""Airflow as it runs at night: a scheduler, a triggerer and what belongs to them, on loopback, with kills.

OPENLINEAGE_SPEC names the folder `spec` of a copy of the repository OpenLineage/OpenLineage, for the published schemas.
"""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from audiencekit.destinations.target import Target
from audiencekit.errors import AudienceBusy
from audiencekit.runs.reports import list_runs
from audiencekit.runs.store import TargetLock
from tests.browser import MISSING, Browser
from tests.integrations.airflow.conftest import Service, emulator, hashes_of, is_installed, wait_for, write_list
from tests.integrations.airflow.lineageschemas import LineageSchemas
from tests.moments import PATIENCE_SECONDS
from tests.ports import kept_port

pytestmark = pytest.mark.integrations
NAME = "Of the night"  # as the DAG calls the audience
FIRST, SECOND = range(300_000, 390_000), range(390_000, 450_000)  # three requests
OVER = {"success", "failed", "upstream_failed", "skipped"}
TO_USERS = {"path": "*/users"}
SLOW = {"fault": 1, "where": "after_apply", "delay_seconds": 30, "times": 1, "match": TO_USERS}
LIMITED = {"fault": 4, "times": 1, "reset": 20, "match": TO_USERS}
# Deaths are noticed within some seconds.
SOON = {
    "AIRFLOW__SCHEDULER__TASK_INSTANCE_HEARTBEAT_SEC": "1",
    "AIRFLOW__SCHEDULER__TASK_INSTANCE_HEARTBEAT_TIMEOUT": "60",
    "AIRFLOW__SCHEDULER__TASK_INSTANCE_HEARTBEAT_TIMEOUT_DETECTION_INTERVAL": "5",
    "AIRFLOW__TRIGGERER__JOB_HEARTBEAT_SEC": "1",
    "AIRFLOW__TRIGGERER__TRIGGERER_HEALTH_CHECK_THRESHOLD": "10",
}


class Nightly:
    """The processes of one installation, and its database."""

    def __init__(self, home: Path, environment: dict[str, str], stack: ExitStack) -> None:
        self.home, self.port, self._stack = home, stack.enter_context(kept_port()), stack
        self.is_new = is_installed("apache-airflow-task-sdk")  # Airflow 3
        address = f"http://127.0.0.1:{self.port}"
        ours = {"CORE__EXECUTION_API_SERVER_URL": f"{address}/execution/", "API_AUTH__JWT_SECRET": "invented " * 8}
        ours |= {"API__BASE_URL": address, "CORE__SIMPLE_AUTH_MANAGER_ALL_ADMINS": "True", "CORE__PARALLELISM": "2"}
        if not self.is_new:
            ours = {"CORE__EXECUTOR": "SequentialExecutor"}
        self.environment = environment | SOON | {f"AIRFLOW__{name}": value for name, value in ours.items()}
        self.environment["PATH"] = f"{Path(sys.executable).parent}:{environment['PATH']}"  # 2.11 calls `airflow`
        self._processes: list[subprocess.Popen[bytes]] = []

    def call(self, *arguments: str) -> None:
        done = subprocess.run(
            [sys.executable, "-m", "airflow", *arguments],
            env=self.environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr[-2_000:]

    def begin(self, *arguments: str) -> subprocess.Popen[bytes]:
        """A process of it, which is killed with its children at the end."""
        log = self._stack.enter_context((self.home / f"{arguments[0]}.log").open("ab"))
        process = subprocess.Popen(
            [sys.executable, "-m", "airflow", *arguments],
            env=self.environment, stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip
        self._stack.callback(kill, process)
        self._processes.append(process)
        return process

    def begin_all(self) -> subprocess.Popen[bytes]:
        """All that it needs; return the triggerer."""
        self.call("db", "migrate")
        if self.is_new:
            self.begin("api-server", "--host", "127.0.0.1", "--port", str(self.port), "--workers", "1")
            self.begin("dag-processor")
        self.begin("scheduler", "--skip-serve-logs")
        return self.begin_triggerer()

    def begin_triggerer(self) -> subprocess.Popen[bytes]:
        return self.begin("triggerer", "--skip-serve-logs")

    def end(self, process: subprocess.Popen[bytes]) -> None:
        """Kill one of its processes."""
        self._processes.remove(process)
        kill(process)

    def wait_for(self, what: Callable[[], object]) -> None:
        """Return when it is so. Fails when one of its processes has ended by itself."""
        wait_for(lambda: any(each.poll() is not None for each in self._processes) or what())
        assert [each.args for each in self._processes if each.poll() is not None] == []

    def ask(self, query: str) -> list[tuple[str, ...]]:
        """The rows of its database."""
        with closing(sqlite3.connect(self.home / "airflow.db", timeout=PATIENCE_SECONDS)) as database:
            return database.execute(query).fetchall()

    @property
    def states(self) -> dict[str, str]:
        return dict(self.ask("SELECT task_id, state FROM task_instance WHERE dag_id = 'night'"))  # type: ignore[arg-type]


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kill it with its children."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@dataclass(frozen=True)
class Night:
    """The installation and the service after it."""

    airflow: Nightly
    service: Service
    audience_id: str
    synced_id: str


@pytest.fixture(scope="module")
def night(home: Path, airflow_environment: dict[str, str]) -> Iterator[Night]:
    """The upload is killed in a request, by its worker's process, and the triggerer while the upload is deferred."""
    home = home / "night"
    home.mkdir()
    with ExitStack() as stack:
        service = stack.enter_context(emulator("--processing-time", "1"))
        synced_id = service.make_audience("Synced", home / "elsewhere")
        state_dir, transport = home / "state", {"type": "file", "log_file_path": str(home / "lineage"), "append": True}
        airflow = Nightly(
            home,
            airflow_environment
            | {
                "AIRFLOW_HOME": str(home),
                "AIRFLOW__CORE__DAGS_FOLDER": str(Path(__file__).parent / "dags"),
                "AIRFLOW_CONN_AUDIENCEKIT_DEFAULT": service.connection(concurrency=1, state_dir=str(state_dir)),
                "AUDIENCEKIT_ALLOW_HOST": service.place,
                "AIRFLOW__OPENLINEAGE__TRANSPORT": json.dumps(transport),
            },
            stack,
        )
        write_list(home / "first.csv", FIRST)
        write_list(home / "second.csv", SECOND)
        write_list(home / "bad.csv", range(10), bad=90)
        triggerer = airflow.begin_all()
        airflow.wait_for(lambda: airflow.ask("SELECT dag_id FROM serialized_dag WHERE dag_id = 'night'"))
        service.ask("/__faults", [SLOW])
        config = {"lists": str(home), "page": str(home / "page.html"), "synced": synced_id}
        airflow.call("dags", "trigger", "night", "-r", "night-1", "-c", json.dumps(config))
        airflow.wait_for(service.uploads)
        paths = [request["path"].split("/") for request in json.loads(service.ask("/__requests"))]
        (audience_id,) = {path[-2] for path in paths if path[-1] == "users"}
        service.ask("/__faults", [LIMITED])
        with pytest.raises(AudienceBusy) as busy:
            TargetLock(state_dir, service.account_id, Target.audience(audience_id), "other").__enter__()
        os.kill(busy.value.process_id or 0, signal.SIGKILL)
        airflow.wait_for(lambda: airflow.states["upload"] == "deferred")
        airflow.end(triggerer)
        airflow.begin_triggerer()
        airflow.wait_for(lambda: set(airflow.states.values()) <= OVER)
        yield Night(airflow, service, audience_id, synced_id)


def test_a_night_with_kills_ends_with_the_right_members(night: Night) -> None:
    """One run, which three tries and a deferral share; what a list of bad rows would send is not sent."""
    assert night.airflow.states == dict.fromkeys(("create", "upload", "sync", "ready"), "success") | {"bad": "failed"}
    assert night.service.emails(night.audience_id) == hashes_of([*FIRST, *SECOND])
    assert night.service.emails(night.synced_id) == hashes_of(FIRST)
    found = [run for run in list_runs(night.airflow.home / "state") if run["operation"] == "update"]
    (complete,) = [run for run in found if run["state"] == "complete"]
    assert complete["rows"]["sent"] == len(FIRST) + len(SECOND)
    assert complete["requests"]["attempts"] == complete["requests"]["planned"] + 2  # one killed, one limited


def test_a_list_over_the_threshold_fails_for_good(night: Night) -> None:
    """No second try is made, although the task has one."""
    assert night.airflow.ask("SELECT try_number, max_tries FROM task_instance WHERE task_id = 'bad'") == [(1, 1)]
    told = "".join(path.read_text() for path in (night.airflow.home / "logs").rglob("task_id=bad/**/*.log"))
    assert "AirflowFailException" in told


def test_a_wait_ends_when_the_audience_is_ready(night: Night) -> None:
    """The task is deferred, its trigger looks, looks again, and brings the task back to success."""
    told = "".join(path.read_text() for path in (night.airflow.home / "logs").rglob("task_id=ready/**/*.log*"))
    assert f"audience {night.synced_id} is not targetable yet" in told
    assert f"audience {night.synced_id} is targetable; " in told


def test_its_traces_are_there(night: Night) -> None:
    """The event of the outlet has the counts; the page and its address are there."""
    event = "asset_event" if night.airflow.is_new else "dataset_event"
    ((extra,),) = night.airflow.ask(f"SELECT extra FROM {event} WHERE source_task_id = 'upload'")
    assert json.loads(extra)["rows"]["sent"] == len(FIRST) + len(SECOND)
    assert (night.airflow.home / "page.html").read_text().startswith("<!doctype html>")
    assert "https://pages.example/night-1.html" in str(night.airflow.ask("SELECT value FROM xcom"))
    logs = [path.read_text() for path in (night.airflow.home / "logs").rglob("*.log")]
    assert any("without a worker until then" in log for log in logs)
    assert not any("canary" in log for log in logs)


def test_its_lineage_fits_the_published_schemas(night: Night) -> None:
    """Of tries that were killed, deferred, complete, and failed; the failed one has its audience, too."""
    if not is_installed("apache-airflow-providers-openlineage"):
        pytest.skip("the extra `openlineage` is not installed")
    if not (spec := os.environ.get("OPENLINEAGE_SPEC")):
        pytest.skip("OPENLINEAGE_SPEC does not name the folder `spec` of a copy of OpenLineage/OpenLineage")
    pytest.importorskip("jsonschema")
    schemas = LineageSchemas(Path(spec))
    events = schemas.check((night.airflow.home / "lineage").read_text())
    assert {"START", "COMPLETE", "FAIL", "inputStatistics", "outputStatistics", "errorMessage"} <= set(schemas.valid)
    last = {each["job"]["name"].removeprefix("night."): each for each in events}
    assert [last[name]["eventType"] for name in ("upload", "sync", "bad")] == ["COMPLETE", "COMPLETE", "FAIL"]
    named = {name: [each["name"].rpartition("/")[2] for each in last[name]["outputs"]] for name in last}
    assert (named["upload"], named["sync"]) == ([night.audience_id], [night.synced_id])
    assert named["bad"] == [night.audience_id]
    assert last["upload"]["outputs"][0]["outputFacets"]["outputStatistics"]["rowCount"] == len(FIRST) + len(SECOND)
    assert NAME not in json.dumps(last["upload"]["outputs"])
    print(dict(schemas.valid))  # noqa: T201


@pytest.mark.skipif(bool(MISSING), reason=f"missing: {', '.join(MISSING)}")
def test_the_button_of_a_task_leads_to_its_page(night: Night) -> None:
    """As a person sees it."""
    if not night.airflow.is_new:
        pytest.skip("the web server of Airflow 2.11 asks for a login")
    with Browser() as browser:
        browser.open(f"http://127.0.0.1:{night.airflow.port}/dags/night/runs/night-1/tasks/upload/details")
        assert browser.shows("Report")
        links = browser.run("return [...document.querySelectorAll('a')].map(each => [each.innerText, each.href])")
    assert ["Report", "https://pages.example/night-1.html"] in links
