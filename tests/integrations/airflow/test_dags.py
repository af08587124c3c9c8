"""Airflow's own commands: what it knows of the provider, and DAGs that run against an emulator."""

from __future__ import annotations

import json
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from audiencekit.runs.kept import list_runs

from .conftest import ROOT, Call, Service

pytestmark = pytest.mark.airflow
PEOPLE = 150
MANY = 150_000  # three requests
SLOW = {"fault": 1, "where": "after_apply", "delay_seconds": 1, "times": 100, "match": {"path": "*/users"}}


@pytest.fixture(scope="session")
def airflow(home: Path, airflow_environment: dict[str, str]) -> Call:
    """Runs a command of Airflow, whose database is there."""
    shutil.copytree(Path(__file__).parent / "dags", home / "dags")
    shutil.copy(ROOT / "samples/airflow/daily_audience.py", home / "dags")

    def call(*arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "airflow", *arguments],
            env=airflow_environment | more, capture_output=True, text=True, check=False, timeout=900,
        )  # fmt: skip

    assert call("db", "migrate").returncode == 0
    return call


@pytest.fixture
def warehouse(home: Path) -> Path:
    """A database with people who said yes, and people who said no."""
    path = home / "warehouse.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("DROP TABLE IF EXISTS customers")
        connection.execute("CREATE TABLE customers (id INTEGER, email TEXT, phone TEXT, country TEXT, consent INTEGER)")
        people = [(n, f"canary{n}@example.com", f"+1201555{n:04}", "US", n % 10 > 0) for n in range(PEOPLE * 10 // 9)]
        connection.executemany("INSERT INTO customers VALUES (?, ?, ?, ?, ?)", people)
    connection.close()
    return path


def _write(path: Path, good: int, bad: int = 0) -> Path:
    lines = [f"canary{n}@example.com" for n in range(good)] + ["nobody"] * bad
    path.write_text("email\n" + "".join(f"{line}\n" for line in lines))
    return path


def _config(**given: Any) -> str:
    return json.dumps(given, default=str)


@pytest.mark.parametrize(
    ("what", "found"), [("list", "audiencekit"), ("hooks", "hook.AudiencekitHook"), ("triggers", "airflow.trigger")]
)
def test_airflow_knows_the_provider(airflow: Call, what: str, found: str) -> None:
    """A mistake in what the entry point gives shows nowhere else."""
    listed = airflow("providers", what)
    lines = [line for line in listed.stdout.splitlines() if "audiencekit" in line]
    assert len(lines) == 1, listed.stderr
    assert found in lines[0]


def test_the_sample_goes_from_a_query_to_the_audience(
    airflow: Call, service: Service, home: Path, warehouse: Path
) -> None:
    """At the level DEBUG no secret of ours and nobody of the warehouse is in the output of Airflow.

    The last task is left out: the emulator counts people after six hours, further from our clock than is believed.
    """
    before = service.members(service.audience_id)
    done = airflow(
        "dags", "test", "daily_audience", "2026-02-03", "--mark-success-pattern", "ready",
        AIRFLOW__LOGGING__LOGGING_LEVEL="DEBUG",
        AIRFLOW_CONN_WAREHOUSE=json.dumps({"conn_type": "sqlite", "host": str(warehouse)}),
        AIRFLOW_VAR_AUDIENCE_ID=service.audience_id,
        AUDIENCE_EXPORTS=str(home / "exports"),
    )  # fmt: skip
    output = done.stdout + done.stderr
    failures = [line[:300] for line in output.splitlines() if "Exception: " in line]
    assert done.returncode == 0, failures
    assert service.members(service.audience_id) == before + PEOPLE - 1
    assert not [path for path in (home / "exports").rglob("*") if path.is_file()]
    assert [name for name, secret in service.secrets.items() if secret in output] == []
    assert "debug" in output.lower()
    assert "canary" not in output
    assert not re.search(r"\b[0-9a-f]{64}\b", output)


def test_a_task_over_the_threshold_fails_for_good(airflow: Call, service: Service, home: Path) -> None:
    """Nothing was sent, and no second try is made, although the task has one."""
    before = service.uploads()
    source = _write(home / "bad.csv", good=100, bad=50)
    config = _config(source=source, audience=service.audience_id)
    done = airflow("dags", "test", "trial", "2026-02-04", "-c", config)
    assert done.returncode != 0
    assert "AirflowFailException" in done.stdout + done.stderr
    assert (done.stdout + done.stderr).count("runs are kept in") == done.stdout.count("runs are kept in") == 1
    assert service.uploads() == before


def test_a_task_that_is_ended_in_the_middle_goes_on(
    airflow: Call, airflow_environment: dict[str, str], service: Service, home: Path
) -> None:
    """The signal drains, the next try sends what is left: every request is sent once."""
    source, before = _write(home / "many.csv", good=MANY), service.uploads()
    runs = {run["run_id"] for run in list_runs(home / "state")}
    service.ask("/__faults", [SLOW])
    config = _config(source=source, audience=service.audience_id)
    command = [sys.executable, "-m", "airflow", "dags", "test", "trial", "2026-02-05", "-c", config]
    environment = airflow_environment | {"AIRFLOW_CONN_AUDIENCEKIT_DEFAULT": service.connection(concurrency=1)}
    with (home / "killed.log").open("w") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
        while process.poll() is None and service.uploads() == before:
            time.sleep(0.1)
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=900)
    assert re.search(
        "was interrupted before everything was sent|AirflowTaskTerminated", (home / "killed.log").read_text()
    )
    if process.returncode:  # Airflow 2.11 ends the whole command; the same date is the same DAG run
        assert airflow("dags", "test", "trial", "2026-02-05", "-c", config).returncode == 0
    service.ask("/__faults", [])
    (run,) = [run for run in list_runs(home / "state") if run["run_id"] not in runs]
    assert (run["state"], run["rows"]["sent"]) == ("complete", MANY)
    assert service.uploads() - before == run["requests"]["planned"] == run["requests"]["attempts"] == 3
