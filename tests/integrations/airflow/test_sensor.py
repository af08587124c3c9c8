"""The wait for an audience: on a worker, and in the triggerer."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

import pytest

from tests.integrations.airflow.conftest import Service

pytestmark = [pytest.mark.integrations, pytest.mark.filterwarnings("ignore")]
MANY = 1_000_000.0  # seconds that are not waited


def _event(trigger: Any) -> dict[str, Any]:
    async def first() -> dict[str, Any]:
        async for event in trigger.run():
            payload: dict[str, Any] = event.payload
            return payload
        raise AssertionError("the trigger ended without an event")

    return asyncio.run(first())


def _wait(provider: Any, sensor: Any) -> Any:
    """Run a sensor as Airflow does: its trigger takes over, and hands back."""
    # Airflow wraps `execute` so that tasks are not called by tasks.
    execute = getattr(type(sensor).execute, "__wrapped__", type(sensor).execute)
    try:
        return execute(sensor, {})
    except provider.Deferred as deferred:
        return sensor.execute_complete({}, _event(deferred.trigger))


def _trigger(provider: Any, service: Service, **changed: Any) -> Any:
    given = {"conn_id": "audiencekit_default", "audience": service.audience_id, "poke_interval": MANY, "until": 0.0}
    return provider.Trigger(**given | changed)


def test_a_trigger_is_stored_without_secrets(provider: Any, service: Service) -> None:
    """The stored form makes the same trigger again."""
    path, arguments = _trigger(provider, service, until=time.time()).serialize()
    assert path == f"{provider.Trigger.__module__}.AudienceReadyTrigger"
    assert not any(secret in json.dumps(arguments) for secret in service.secrets.values())
    assert provider.Trigger(**arguments).serialize() == (path, arguments)


def test_events_say_how_the_wait_ended(provider: Any, service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """Late, refused, or without a connection: each in words, and as JSON."""
    late = _event(_trigger(provider, service, audience=service.audience_id))
    assert late["state"] in ("late", "ready")
    refused = _event(_trigger(provider, service, audience="zzzz"))
    assert refused["state"] == "refused"
    assert "has no audience zzzz" in refused["message"]
    assert _event(_trigger(provider, service, conn_id="nowhere"))["state"] == "refused"
    json.dumps([late, refused])


def test_the_worker_completes_what_the_trigger_saw(provider: Any, service: Service) -> None:
    """A refusal fails for good, a service that is away may be tried again, lateness is a timeout."""
    sensor = provider.Sensor(task_id="ready", audience=service.audience_id)
    seen = {"audience_id": "1", "is_targetable": True, "reasons": [], "size": 100}
    assert sensor.execute_complete({}, {"state": "ready", "readiness": seen})["targetable"] is True
    with pytest.raises(provider.FailedForGood, match="gone"):
        sensor.execute_complete({}, {"state": "refused", "message": "gone"})
    with pytest.raises(provider.Failed, match="away; a retry") as away:
        sensor.execute_complete({}, {"state": "away", "message": "away"})
    assert not isinstance(away.value, provider.FailedForGood)
    with pytest.raises(provider.Failed, match="late") as late:
        sensor.execute_complete({}, {"state": "late", "message": "late"})
    assert type(late.value).__name__ == "AirflowSensorTimeout"


WRONG = {
    "no such connection": ({"conn_id": "nowhere"}, "there is no connection 'nowhere'; make one of type audiencekit"),
    "wrong account": ({"conn_id": "wrong_account"}, "; check the account id, and that the user"),
    "an unknown audience": ({"audience": "zzzz"}, "has no audience zzzz"),
    "an empty template": ({"audience": ""}, "the field 'audience' of task 'ready' is empty"),
}


@pytest.mark.parametrize("deferrable", [False, True], ids=["on a worker", "in the triggerer"])
@pytest.mark.parametrize("case", WRONG)
def test_an_audience_that_will_never_be_ready_fails_for_good(
    provider: Any, service: Service, monkeypatch: pytest.MonkeyPatch, case: str, deferrable: bool
) -> None:
    """At the first look, wherever that is, and with a word on what to do."""
    monkeypatch.setenv("AIRFLOW_CONN_WRONG_ACCOUNT", service.connection(account_id="1abc"))
    changed, message = WRONG[case]
    given = {"audience": service.audience_id, "deferrable": deferrable, **changed}
    sensor = provider.Sensor(task_id="ready", poke_interval=MANY, timeout=MANY, **given)
    with pytest.raises(provider.FailedForGood, match=message):
        _wait(provider, sensor)


def test_a_poke_says_whether_it_is_ready(provider: Any, service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """A service that is away is not ready; an audience that is not there fails for good."""
    poked = provider.Sensor(task_id="poke", audience=service.audience_id).poke({})
    assert poked.xcom_value["audience_id"] == service.audience_id
    monkeypatch.setenv(
        "AIRFLOW_CONN_AWAY", json.dumps(json.loads(service.connection()) | {"host": "http://127.0.0.1:9"})
    )
    assert not provider.Sensor(task_id="away", audience="1a", conn_id="away").poke({}).is_done
    with pytest.raises(provider.FailedForGood, match="has no audience zzzz"):
        provider.Sensor(task_id="none", audience="zzzz").poke({})
