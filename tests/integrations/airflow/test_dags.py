"""Airflow's own commands: what it knows of the provider, and DAGs that run against an emulator."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from audiencekit.api.opening import open_client
from audiencekit.audiences.match_rate import read_readiness
from audiencekit.audiences.setups.document import read_setup
from audiencekit.cli.schedule_files import airflow_dag
from audiencekit.pipeline import upload
from audiencekit.runs.reports import list_runs
from generators.schedules import RUN
from tests.integrations.airflow.conftest import (
    ROOT,
    Call,
    Service,
    email_of,
    hashes_of,
    is_installed,
    wait_for,
    write_list,
)
from tests.mirror.servers import state_bucket
from tests.moments import PATIENCE_SECONDS

pytestmark = pytest.mark.integrations
PEOPLE = 150  # 135 of them said yes
YES = {number for number in range(PEOPLE) if number % 10}
FORMER = range(1_000, 1_400)  # people who are in the audience before: enough of them are found to target it
FORGOTTEN = {141, FORMER[0]}  # from here on, by everything that these tests send
MANY = 150_000  # three requests
# The first answer comes late, so that a task can be ended in the middle.
SLOW = {"fault": 1, "where": "after_apply", "delay_seconds": 10, "times": 1, "match": {"path": "*/users"}}


@pytest.fixture(scope="session")
def airflow(home: Path, airflow_environment: dict[str, str]) -> Call:
    """Runs a command of Airflow, whose database is there."""
    shutil.copytree(Path(__file__).parent / "dags", home / "dags")
    shutil.copy(ROOT / "samples/airflow/daily_audience.py", home / "dags")

    def call(*arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "airflow", *arguments],
            env=airflow_environment | more, capture_output=True, text=True, check=False, timeout=PATIENCE_SECONDS,
        )  # fmt: skip

    assert call("db", "migrate").returncode == 0
    return call


@pytest.fixture
def warehouse(home: Path) -> Path:
    """Make a database with people who said yes and people who said no, and no request to be forgotten."""
    path = home / "warehouse.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("DROP TABLE IF EXISTS customers")
        connection.execute("CREATE TABLE customers (id INTEGER, email TEXT, phone TEXT, country TEXT, consent INTEGER)")
        people = [(n, email_of(n), f"+1201555{n:04}", "US", n % 10 > 0) for n in range(PEOPLE)]
        connection.executemany("INSERT INTO customers VALUES (?, ?, ?, ?, ?)", people)
        connection.execute("DROP TABLE IF EXISTS erasure_requests")
        connection.execute("CREATE TABLE erasure_requests (id INTEGER, email TEXT, phone TEXT, country TEXT)")
    connection.close()
    return path


def _is_targetable(service: Service, audience_id: str, state_dir: Path) -> bool:
    async def look() -> bool:
        async with open_client(service.settings(state_dir)) as client:
            return (await read_readiness(client, audience_id)).is_targetable

    return asyncio.run(look())


def _config(**given: Any) -> str:
    return json.dumps(given, default=str)


@pytest.mark.parametrize(
    ("what", "found"),
    [
        ("list", ["audiencekit"]),
        ("hooks", ["hook.AudiencekitHook"]),
        ("triggers", ["airflow.sensor", "airflow.deferral"]),
    ],
)
def test_airflow_knows_the_provider(airflow: Call, what: str, found: list[str]) -> None:
    """A mistake in what the entry point gives shows nowhere else."""
    listed = airflow("providers", what)
    lines = [line for line in listed.stdout.splitlines() if "audiencekit" in line]
    assert len(lines) == len(found), listed.stderr
    assert all(any(one in line for line in lines) for one in found)


def test_the_sample_goes_from_a_query_to_the_audience(
    airflow: Call, service: Service, home: Path, warehouse: Path
) -> None:
    """People who asked are forgotten on the way: one who said yes, and one who is known to the audience alone.

    At the level DEBUG neither a secret of ours nor a person of the warehouse is in the output of Airflow.
    """
    audience_id = service.make_audience("from a query", home / "former")
    former = write_list(home / "former.csv", [*FORGOTTEN, *FORMER])
    upload(former, audience=audience_id, settings=service.settings(home / "former"))
    service.count()
    assert _is_targetable(service, audience_id, home / "former")
    with sqlite3.connect(warehouse) as connection:
        asking = [(n, email_of(n), None, None) for n in FORGOTTEN]
        connection.executemany("INSERT INTO erasure_requests VALUES (?, ?, ?, ?)", asking)
    connection.close()
    done = airflow(
        "dags", "test", "daily_audience", "2026-02-03",
        AIRFLOW__LOGGING__LOGGING_LEVEL="DEBUG", **_daily(warehouse, audience_id, home),
    )  # fmt: skip
    output = done.stdout + done.stderr
    failures = [line[:300] for line in output.splitlines() if "Exception: " in line]
    assert done.returncode == 0, failures
    assert service.emails(audience_id) == hashes_of(YES.union(FORMER) - FORGOTTEN)
    assert [receipt["state"] for receipt in _receipts(home)] == ["complete"]
    assert not [path for path in (home / "exports").rglob("*") if path.is_file()]
    assert [name for name, secret in service.secrets.items() if secret in output] == []
    assert "debug" in output.lower()
    assert "canary" not in output
    assert not re.search(r"\b[0-9a-f]{64}\b", output)


def test_a_day_without_requests_to_be_forgotten(airflow: Call, service: Service, home: Path, warehouse: Path) -> None:
    """The erasure is skipped, and nothing else."""
    if not is_installed("apache-airflow-task-sdk"):
        pytest.skip("the sample is run with its erasure on 2.11; without one, on Airflow 3 alone")
    before = _receipts(home)
    audience_id = service.make_audience("no requests", home / "former")
    done = airflow(
        "dags", "test", "daily_audience", "2026-02-06", "--mark-success-pattern", "ready",
        **_daily(warehouse, audience_id, home),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert hashes_of(YES - FORGOTTEN) <= service.emails(audience_id) <= hashes_of(YES)
    assert _receipts(home) == before
    assert not [path for path in (home / "exports").rglob("*") if path.is_file()]


def _daily(warehouse: Path, audience_id: str, home: Path) -> dict[str, str]:
    """Return the environment of the sample."""
    return {
        "AIRFLOW_CONN_WAREHOUSE": json.dumps({"conn_type": "sqlite", "host": str(warehouse)}),
        "AIRFLOW_VAR_AUDIENCE_ID": audience_id,
        "AUDIENCE_EXPORTS": str(home / "exports"),
    }


def _receipts(home: Path) -> list[dict[str, Any]]:
    paths = sorted((home / "state").glob("erasures/*/receipt.json"))
    return [json.loads(path.read_text(encoding="utf-8")) for path in paths]


def test_a_task_that_is_ended_in_the_middle_goes_on(
    airflow: Call, airflow_environment: dict[str, str], service: Service, home: Path
) -> None:
    """The signal drains, the next try sends what is left: every request is sent once."""
    source, before = write_list(home / "many.csv", range(2_000, 2_000 + MANY)), service.uploads()
    runs = {run["run_id"] for run in list_runs(home / "state")}
    service.ask("/__faults", [SLOW])
    config = _config(source=source, audience=service.audience_id)
    command = [sys.executable, "-m", "airflow", "dags", "test", "trial", "2026-02-05", "-c", config]
    environment = airflow_environment | {"AIRFLOW_CONN_AUDIENCEKIT_DEFAULT": service.connection(concurrency=1)}
    with (home / "killed.log").open("w") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
        wait_for(lambda: process.poll() is not None or service.uploads() > before)
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=PATIENCE_SECONDS)
    assert re.search("interrupted before everything was sent|AirflowTaskTerminated", (home / "killed.log").read_text())
    if process.returncode:  # Airflow 2.11 ends the whole command; the same date is the same DAG run
        assert airflow("dags", "test", "trial", "2026-02-05", "-c", config).returncode == 0
    service.ask("/__faults", [])
    (run,) = [run for run in list_runs(home / "state") if run["run_id"] not in runs]
    assert (run["state"], run["rows"]["sent"]) == ("complete", MANY)
    assert service.uploads() - before == run["requests"]["planned"] == run["requests"]["attempts"] == 3


def test_an_upload_on_empty_machines_is_killed_twice(
    airflow: Call, airflow_environment: dict[str, str], service: Service, home: Path, tmp_path: Path
) -> None:
    """Each time in a new empty directory, with the state in a bucket: each person is in the audience once.

    For Airflow 3 each of these commands is another DAG run, so that it does not go on with the run of the one before.
    """
    source = write_list(home / "empty.csv", range(400_000, 400_000 + MANY))
    with state_bucket() as bucket:
        audience_id = service.make_audience("Machines of a DAG", home / "former")
        config = _config(source=source, audience=audience_id)
        command = ["-m", "airflow", "dags", "test", "trial", "2026-02-10", "-c", config]
        environment = airflow_environment | bucket.env
        environment["AIRFLOW_CONN_AUDIENCEKIT_DEFAULT"] = service.connection(concurrency=1)
        del environment["AUDIENCEKIT_STATE_DIR"]

        def begin(name: str, *words: str) -> subprocess.Popen[str]:
            (tmp_path / name).mkdir()
            own = dict.fromkeys(("HOME", "TMPDIR", "XDG_DATA_HOME"), str(tmp_path / name))
            with (tmp_path / f"{name}.log").open("w") as log:
                return subprocess.Popen(
                    [sys.executable, *words], env=environment | own, cwd=tmp_path / name, stdout=log, stderr=log,
                    text=True, start_new_session=True,
                )  # fmt: skip

        assert begin("first", "-m", "audiencekit", "state", "init").wait(timeout=PATIENCE_SECONDS) == 0
        service.ask("/__faults", [SLOW | {"times": 2}])
        before = service.uploads()
        for number in (1, 2):
            process = begin(f"killed{number}", *command)
            wait_for(lambda: process.poll() is not None or service.uploads() >= before + number)  # noqa: B023
            assert process.poll() is None, (tmp_path / f"killed{number}.log").read_text()[-3_000:]
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        service.ask("/__faults", [])
        assert begin("last", *command).wait(timeout=PATIENCE_SECONDS) == 0
    assert service.emails(audience_id) == hashes_of(range(400_000, 400_000 + MANY))


def test_a_printed_dag_fills_the_audiences_of_its_setup(airflow: Call, service: Service, home: Path) -> None:
    """A sync by the id of its audience and an upload by a name, from lists beside the setup."""
    names = {"synced": service.make_audience("synced", home / "printed"), "by name": ""}
    names["by name"] = service.make_audience("by name", home / "printed")
    setup = home / "printed.toml"
    setup.write_text(
        f'[audiences.one]\nsource = "one.csv"\naudience = "{names["synced"]}"\nmax_rejected_share = 0.6\n'
        '[audiences.two]\nsource = ["two.csv", "three.csv"]\naudience = "by name"\ncommand = "upload"\n'
        'columns = { email = "email" }\nexpires_at = 2100-01-01T00:00:00Z\n'
    )
    write_list(home / "one.csv", range(3_000, 3_100), bad=100)
    write_list(home / "two.csv", range(3_100, 3_110))
    write_list(home / "three.csv", range(3_110, 3_120))
    run = replace(RUN, setup=read_setup(setup))
    (home / "dags" / "printed.py").write_text(airflow_dag(run))
    done = airflow("dags", "test", run.name, "2026-02-08")
    assert done.returncode == 0, done.stderr[-2_000:]
    assert service.emails(names["synced"]) == hashes_of(range(3_000, 3_100))
    assert service.emails(names["by name"]) == hashes_of(range(3_100, 3_120))
