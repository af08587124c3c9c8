"""A home for Airflow, an emulator in a process of its own, and a connection between the two."""

from __future__ import annotations

import asyncio
import hashlib
import importlib.util
import json
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.request import Request, urlopen

import pytest

from audiencekit.api.opening import open_client
from audiencekit.integrations.airflow.connection import settings_from
from audiencekit.settings import Settings
from tests.moments import PATIENCE_SECONDS

ROOT = Path(__file__).resolve().parents[3]
NO_SERVICE = "127.0.0.1:9"  # where no service is
SECRETS = ("CONSUMER_KEY", "CONSUMER_SECRET", "ACCESS_TOKEN", "ACCESS_TOKEN_SECRET")
Call = Callable[..., subprocess.CompletedProcess[str]]


class Service:
    """An emulator in another process, as its one line describes it."""

    def __init__(self, ready: dict[str, Any]) -> None:
        self.ads_url: str = ready["ads_url"]
        self.place = self.ads_url.removeprefix("http://")
        self.account_id: str = ready["account_id"]
        self.audience_id: str = ready["audience_id"]
        self.secrets = {name.lower(): ready["env"][f"AUDIENCEKIT_{name}"] for name in SECRETS}

    def connection(self, **extra: Any) -> str:
        """A connection that leads to it, as Airflow reads it from the environment."""
        extra = {"account_id": self.account_id, **self.secrets, **extra}
        return json.dumps({"conn_type": "audiencekit", "host": self.ads_url, "extra": extra})

    def settings(self, state_dir: Path) -> Settings:
        """Settings that lead to it, for work that is done without Airflow."""
        extra = {"account_id": self.account_id, "state_dir": str(state_dir), **self.secrets}
        return settings_from("direct", self.ads_url, extra, {"AUDIENCEKIT_ALLOW_HOST": self.place})

    def make_audience(self, name: str, state_dir: Path) -> str:
        """The id of a new audience."""

        async def make() -> str:
            async with open_client(self.settings(state_dir)) as client:
                return str((await client.create_custom_audience(name=name)).data["id"])

        return asyncio.run(make())

    def ask(self, door: str, order: Any = None) -> str:
        """Return the answer of one of its doors."""
        body = None if order is None else json.dumps(order).encode()
        with urlopen(Request(self.ads_url + door, data=body), timeout=PATIENCE_SECONDS) as answer:
            return str(answer.read().decode())

    def uploads(self) -> int:
        """Requests to the users endpoints so far."""
        return self.ask("/__requests").count("/users")

    def count(self) -> None:
        """Has it count what was uploaded so far, as it does by itself in a second or two."""
        self.ask("/__clock", {"advance": 5})

    def looks(self, audience_id: str) -> int:
        """How often the service was asked for an audience so far."""
        requests = json.loads(self.ask("/__requests"))
        return sum(each["path"].partition("?")[0].endswith(f"/{audience_id}") for each in requests)

    def emails(self, audience_id: str) -> set[str]:
        """The hashes of the addresses in an audience."""
        members = json.loads(self.ask(f"/__members/{audience_id}"))["members"]
        return {email for member in members for email in member["keys"].get("email", [])}


@contextmanager
def emulator(*options: str) -> Iterator[Service]:
    """One that ends with the block."""
    command = [sys.executable, "-m", "audiencekit", "emulator", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        try:
            yield Service(json.loads(process.stdout.readline()))
        finally:
            process.terminate()
    assert process.returncode == 0


@pytest.fixture(scope="session")
def service() -> Iterator[Service]:
    """Ends with the session. What was uploaded is counted within a second or two."""
    with emulator("--processing-time", "1") as running:
        yield running


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory for everything that Airflow keeps; skips where Airflow is missing."""
    if importlib.util.find_spec("airflow") is None:
        pytest.skip("Airflow is not installed here: pip install '.[airflow]', in an environment of its own")
    return tmp_path_factory.mktemp("airflow")


@pytest.fixture(scope="session")
def airflow_environment(home: Path, service: Service) -> dict[str, str]:
    """Return the environment of processes of Airflow."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("AUDIENCEKIT_", "AIRFLOW"))}
    return {
        **kept,
        "AIRFLOW_HOME": str(home),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__CORE__DAGS_FOLDER": str(home / "dags"),
        "AIRFLOW_CONN_AUDIENCEKIT_DEFAULT": service.connection(),
        "AUDIENCEKIT_STATE_DIR": str(home / "state"),
        "AUDIENCEKIT_ALLOW_HOST": f"{service.place} {NO_SERVICE}",
        "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), kept.get("PYTHONPATH")])),
        "PYTHONWARNINGS": "ignore",
        # Otherwise the facts of a state directory there would be those of an earlier run at the same path.
        "XDG_DATA_HOME": str(home / "data"),
    }


@pytest.fixture
def provider(home: Path, airflow_environment: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Any:
    """The modules of the provider that need Airflow, imported into this process."""
    for name, value in airflow_environment.items():
        if name.startswith(("AIRFLOW", "AUDIENCEKIT_")):
            monkeypatch.setenv(name, value)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from audiencekit.integrations.airflow import (
            assets,
            deferral,
            failures,
            hook,
            links,
            operators,
            sensor,
            versions,
        )

        try:
            from airflow.sdk.exceptions import TaskDeferred
        except ImportError:
            from airflow.exceptions import TaskDeferred

    class Provider:
        """Their names in one place."""

        Hook = hook.AudiencekitHook
        Sync = operators.AudienceSyncOperator
        Forget = operators.ForgetOperator
        Upload = operators.AudienceUploadOperator
        DoNotReachUpload = operators.DoNotReachUploadOperator
        Renew = operators.AudienceRenewOperator
        RunSetup = operators.RunSetupOperator
        CreateAudience = operators.CreateAudienceOperator
        CreateFlexible = operators.CreateFlexibleAudiencesOperator
        Asset = versions.Asset
        AssetAlias = versions.AssetAlias
        audience_asset = staticmethod(assets.audience_asset)
        ReportLink = links.ReportLink
        Sensor = sensor.AudienceReadySensor
        Trigger = sensor.AudienceReadyTrigger
        DeferralTrigger = deferral.DeferralTrigger
        Waiting = deferral.Waiting
        describe_failure = staticmethod(failures.describe_failure)
        Deferred = TaskDeferred
        Failed = versions.AirflowException
        FailedForGood = versions.AirflowFailException

    return Provider


def context_of(task: Any, *, run: str = "manual__1", map_index: int = -1) -> dict[str, Any]:
    """Return the part of a context that the operators read."""
    pushed: dict[str, Any] = {}
    ti = SimpleNamespace(
        dag_id="dag", task_id=task.task_id, run_id=run, map_index=map_index, pushed=pushed,
        xcom_push=lambda key, value: pushed.update({key: value}),
    )  # fmt: skip
    try:
        from airflow.sdk.execution_time.context import OutletEventAccessors
    except ImportError:  # Airflow 2.11
        from airflow.utils.context import OutletEventAccessors
    dag_run = SimpleNamespace(run_after=datetime(2026, 11, 21, tzinfo=UTC))
    return {"ti": ti, "dag_run": dag_run, "outlet_events": OutletEventAccessors()}


def run_task(task: Any, context: dict[str, Any] | None = None, **given: Any) -> Any:
    """Return the XCom of one try."""
    # Airflow wraps `execute` so that tasks are not called by tasks; here the test is the runner.
    execute = getattr(type(task).execute, "__wrapped__", type(task).execute)
    return execute(task, context or context_of(task, **given))


def email_of(number: int) -> str:
    """An address of an invented person."""
    return f"canary{number}@example.com"


def hashes_of(numbers: Iterable[int]) -> set[str]:
    """The hashes of their addresses."""
    return {hashlib.sha256(email_of(number).encode()).hexdigest() for number in numbers}


def write_list(path: Path, numbers: Iterable[int], bad: int = 0) -> Path:
    """A list of people, and of `bad` rows."""
    lines = [email_of(number) for number in numbers] + ["invalid"] * bad
    path.write_text("email\n" + "".join(f"{line}\n" for line in lines))
    return path


def wait_for(what: Callable[[], object]) -> None:
    """Return when it is so."""
    # Real time: what runs in processes of Airflow shows in what the service was asked, and nowhere earlier.
    end = time.monotonic() + PATIENCE_SECONDS
    while not what():
        assert time.monotonic() < end
        time.sleep(0.1)


def is_installed(package: str) -> bool:
    """Without an import: this process must not read a configuration of Airflow."""
    return any(each.metadata["Name"] == package for each in metadata.distributions())
