"""A home for Airflow, an emulator in a process of its own, and a connection between the two."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

ROOT = Path(__file__).resolve().parents[3]
SECRETS = ("CONSUMER_KEY", "CONSUMER_SECRET", "ACCESS_TOKEN", "ACCESS_TOKEN_SECRET")
Call = Callable[..., subprocess.CompletedProcess[str]]


class Service:
    """An emulator in another process, as its one line describes it."""

    def __init__(self, ready: dict[str, Any]) -> None:
        self.ads_url: str = ready["ads_url"]
        self.account_id: str = ready["account_id"]
        self.audience_id: str = ready["audience_id"]
        self.secrets = {name.lower(): ready["env"][f"AUDIENCEKIT_{name}"] for name in SECRETS}

    def connection(self, **extra: Any) -> str:
        """A connection that leads to it, as Airflow reads it from the environment."""
        extra = {"account_id": self.account_id, **self.secrets, **extra}
        return json.dumps({"conn_type": "audiencekit", "host": self.ads_url, "extra": extra})

    def ask(self, door: str, order: Any = None) -> str:
        """What one of its doors answers."""
        body = None if order is None else json.dumps(order).encode()
        with urlopen(Request(self.ads_url + door, data=body), timeout=30) as answer:
            return str(answer.read().decode())

    def uploads(self) -> int:
        """Requests to the users endpoints so far."""
        return self.ask("/__requests").count("/users")

    def members(self, audience_id: str) -> int:
        """People in an audience."""
        return len(json.loads(self.ask(f"/__members/{audience_id}"))["members"])


@pytest.fixture(scope="session")
def service() -> Iterator[Service]:
    """Ends with the session."""
    command = [sys.executable, "-m", "audiencekit", "emulator"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    assert process.stdout is not None
    yield Service(json.loads(process.stdout.readline()))
    process.terminate()
    assert process.wait(timeout=20) == 0
    process.stdout.close()


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory for everything that Airflow keeps; skips where Airflow is missing."""
    if importlib.util.find_spec("airflow") is None:
        pytest.skip("Airflow is not installed here: pip install '.[airflow]', in an environment of its own")
    return tmp_path_factory.mktemp("airflow")


@pytest.fixture(scope="session")
def airflow_environment(home: Path, service: Service) -> dict[str, str]:
    """What processes of Airflow see."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("AUDIENCEKIT_", "AIRFLOW"))}
    return {
        **kept,
        "AIRFLOW_HOME": str(home),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__CORE__DAGS_FOLDER": str(home / "dags"),
        "AIRFLOW_CONN_AUDIENCEKIT_DEFAULT": service.connection(),
        "AUDIENCEKIT_STATE_DIR": str(home / "state"),
        "PYTHONPATH": str(ROOT),
        "PYTHONWARNINGS": "ignore",
    }


@pytest.fixture
def provider(home: Path, airflow_environment: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Any:
    """The modules of the provider that need Airflow, imported into this process."""
    for name, value in airflow_environment.items():
        if name.startswith(("AIRFLOW", "AUDIENCEKIT_")):
            monkeypatch.setenv(name, value)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from audiencekit.integrations.airflow import hook, operators, sensor, trigger, versions

    class Provider:
        """Their names in one place."""

        Hook = hook.AudiencekitHook
        Sync = operators.AudienceSyncOperator
        Upload = operators.AudienceUploadOperator
        DoNotReachUpload = operators.DoNotReachUploadOperator
        Sensor = sensor.AudienceReadySensor
        Trigger = trigger.AudienceReadyTrigger
        Failed = versions.AirflowException
        FailedForGood = versions.AirflowFailException

    return Provider
