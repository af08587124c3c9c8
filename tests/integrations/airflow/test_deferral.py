"""Tasks that are put off: when, for how long, and what is left of them meanwhile."""

from __future__ import annotations

import asyncio
import functools
import json
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from audiencekit.destinations.target import Target
from audiencekit.errors import AudienceBusy, LongWait
from audiencekit.pipeline import upload
from audiencekit.runs.reports import list_runs
from audiencekit.runs.store import TargetLock
from tests.integrations.airflow.conftest import Service, context_of, emulator, run_task

pytestmark = [pytest.mark.integrations, pytest.mark.filterwarnings("ignore")]
PEOPLE = 300
SMALL = {"max_body_bytes": 15_000}  # some requests
TO_USERS = {"path": "*/users"}
# Each from the second request on.
AWAY = {
    "429": {"fault": 4, "nth": 2, "times": 2, "reset": 1, "match": TO_USERS},
    "503": {"fault": 10, "nth": 2, "times": 8, "match": TO_USERS},
}


@pytest.fixture
def own(provider: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    """An emulator and a state directory of this test only, with a connection that sends one request at a time."""
    with emulator("--processing-time", "1") as running:
        monkeypatch.setenv("AIRFLOW_CONN_OWN", running.connection(concurrency=1, state_dir=str(tmp_path / "state")))
        monkeypatch.setenv("AUDIENCEKIT_ALLOW_HOST", running.place)
        yield running


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "list.csv"
    path.write_text("email\n" + "".join(f"canary{number}@example.com\n" for number in range(PEOPLE)))
    return path


def _deferred(provider: Any, attempt: Callable[[], Any]) -> Any:
    with pytest.raises(provider.Deferred) as caught:
        attempt()
    return caught.value


def _go_on(task: Any, deferral: Any) -> Any:
    """Wait as the triggerer does, and return the XCom of the next try, in which the task may be put off again."""
    _, arguments = deferral.trigger.serialize()
    event = asyncio.run(anext(type(deferral.trigger)(**arguments).run()))  # type: ignore[arg-type]
    return getattr(task, deferral.method_name)(context_of(task), event.payload)


def _to_its_end(provider: Any, task: Any, attempt: Callable[[], Any] | None = None) -> tuple[Any, int]:
    """Return the XCom, and how often the task was deferred."""
    attempt, times = attempt or functools.partial(run_task, task), 0
    while True:
        try:
            return attempt(), times
        except provider.Deferred as deferral:
            times += 1
            assert times < 20
            attempt = functools.partial(_go_on, task, deferral)


TASKS = ("Upload", "Sync", "DoNotReachUpload")


@pytest.mark.parametrize("away", AWAY)
@pytest.mark.parametrize("kind", TASKS)
def test_a_task_that_has_to_wait_gives_its_worker_back(
    provider: Any, own: Service, source: Path, tmp_path: Path, kind: str, away: str
) -> None:
    """Confirmed requests are not sent again; the database gets numbers only, and the log no person."""
    audience = {} if kind == "DoNotReachUpload" else {"audience": own.make_audience("waits", tmp_path)}
    task = getattr(provider, kind)(
        task_id=f"wait_{kind}_{away}", source=str(source), conn_id="own", options=SMALL,
        deferrable=True, defer_after=0.3, timeout=timedelta(minutes=10), **audience,
    )  # fmt: skip
    own.ask("/__faults", [AWAY[away]])
    deferral = _deferred(provider, lambda: run_task(task))
    path, arguments = deferral.trigger.serialize()
    assert path == "audiencekit.integrations.airflow.deferral.DeferralTrigger"
    assert {name: type(value) for name, value in arguments.items()} == {"until": float, "since": float, "times": int}
    own.ask("/__faults", [])
    report, _ = _to_its_end(provider, task)
    assert (report["state"], report["rows"]["pending"]) == ("complete", 0)
    taken = [each for each in json.loads(own.ask("/__requests")) if each["path"].endswith("/users")]
    assert sum(each["status"] == 200 for each in taken) >= 3
    if kind != "DoNotReachUpload":
        assert len(own.emails(audience["audience"])) == PEOPLE


@pytest.mark.parametrize("away", [*AWAY, "busy"])
def test_an_erasure_that_has_to_wait_gives_its_worker_back(
    provider: Any, own: Service, source: Path, tmp_path: Path, away: str
) -> None:
    """Also for another run on one of the audiences; then it goes on with those that are left."""
    audiences = [own.make_audience(f"of people who ask {number}", tmp_path) for number in range(3)]
    for audience in audiences:
        upload(source, audience=audience, settings=own.settings(tmp_path / "elsewhere"))
    task = provider.Forget(
        task_id=f"forget_{away}", source=str(source), conn_id="own", deferrable=True, defer_after=0.3,
        timeout=timedelta(minutes=10),
    )  # fmt: skip
    if away == "busy":
        with TargetLock(tmp_path / "state", own.account_id, Target.audience(audiences[1]), "other"):
            deferral = _deferred(provider, lambda: run_task(task))
    else:
        own.ask("/__faults", [AWAY[away]])
        deferral = _deferred(provider, lambda: run_task(task))
        own.ask("/__faults", [])
    receipt, _ = _to_its_end(provider, task, functools.partial(_go_on, task, deferral))
    assert (receipt["state"], receipt["asked"]) == ("complete", PEOPLE)
    assert [own.emails(audience) for audience in audiences] == [set()] * 3


def test_a_task_that_is_put_off_again_and_again_goes_on(
    provider: Any, own: Service, source: Path, tmp_path: Path, capsys: Any
) -> None:
    """Also in another instance of the operator, as on another worker."""
    audience_id = own.make_audience("Again and again", tmp_path)
    given = {"source": str(source), "audience": "Again and again", "conn_id": "own", "options": SMALL}
    task = provider.Upload(task_id="again", deferrable=True, defer_after=0.2, **given)
    own.ask("/__faults", [{"fault": 4, "times": 3, "reset": 1, "match": TO_USERS}])
    report, times = _to_its_end(provider, task)
    assert times >= 3
    assert (report["state"], report["rows"]["sent"]) == ("complete", PEOPLE)
    assert report["requests"]["attempts"] == report["requests"]["planned"] + 3
    assert len(own.emails(audience_id)) == PEOPLE
    output = capsys.readouterr()
    assert "canary" not in output.out + output.err


def test_a_short_upload_is_never_deferred(provider: Any, own: Service, source: Path) -> None:
    """Nor one whose waits are short."""
    own.ask("/__faults", [{"fault": 10, "times": 2, "match": TO_USERS}])
    task = provider.Upload(
        task_id="short", source=str(source), audience=own.audience_id, conn_id="own", deferrable=True
    )
    assert run_task(task)["state"] == "complete"


def test_a_task_waits_for_another_run_on_its_audience(
    provider: Any, own: Service, source: Path, tmp_path: Path
) -> None:
    """One that is not deferrable fails, and is retried."""
    given = {"source": str(source), "audience": own.audience_id, "conn_id": "own"}
    task = provider.Upload(task_id="busy", deferrable=True, **given)
    with TargetLock(tmp_path / "state", own.account_id, Target.audience(own.audience_id), "other"):
        deferral = _deferred(provider, lambda: run_task(task))
        with pytest.raises(provider.Failed, match="a retry of this task goes on"):
            run_task(provider.Upload(task_id="busy", deferrable=False, **given))
    assert getattr(task, deferral.method_name)(context_of(task), {"since": 0.0, "times": 1})["state"] == "complete"


def test_a_service_that_is_away_from_the_first_look_is_waited_for(
    provider: Any, own: Service, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No run is begun. After the timeout the task fails, and can be retried."""
    connection = json.loads(own.connection(state_dir=str(tmp_path / "state"))) | {"host": "http://127.0.0.1:9"}
    monkeypatch.setenv("AIRFLOW_CONN_AWAY", json.dumps(connection))
    monkeypatch.setenv("AUDIENCEKIT_ALLOW_HOST", "127.0.0.1:9")
    before = len(list_runs(tmp_path / "state"))
    task = provider.Sync(
        task_id="away", source=str(source), audience=own.audience_id, conn_id="away",
        deferrable=True, defer_after=0.3, timeout=timedelta(minutes=10),
    )  # fmt: skip
    deferral = _deferred(provider, lambda: run_task(task))
    with pytest.raises(provider.Failed, match="a retry of this task goes on") as caught:
        getattr(task, deferral.method_name)(context_of(task), {"since": time.time() - 601, "times": 9})
    assert not isinstance(caught.value, provider.FailedForGood)
    assert len(list_runs(tmp_path / "state")) == before


def test_a_fault_that_no_time_mends_is_not_waited_for(provider: Any, own: Service, source: Path) -> None:
    """The task fails for good, deferrable or not."""
    task = provider.Upload(task_id="wrong", source=str(source), audience="zzzz", conn_id="own", deferrable=True)
    with pytest.raises(provider.FailedForGood):
        run_task(task)


def test_the_trigger_gives_back_what_it_was_given(provider: Any) -> None:
    """At its moment, also after the database has had it."""
    moment = time.time() + 0.2
    _, arguments = provider.DeferralTrigger(until=moment, since=5.0, times=2).serialize()

    async def wait() -> Any:
        return await anext(provider.DeferralTrigger(**arguments).run())

    event = asyncio.run(wait())
    assert event.payload == {"since": 5.0, "times": 2}
    assert time.time() >= moment


LIMITED = LongWait("wait", seconds=100.0)
AHEAD = LongWait("wait", seconds=5.0, has_progress=True)
BUSY = AudienceBusy("busy")


@pytest.mark.parametrize(
    ("since", "times", "error", "expected"),
    [
        (None, 0, LIMITED, (1_000.0, 1, 100.0)),  # as long as the service asks for
        (None, 0, BUSY, (1_000.0, 1, 60.0)),  # as long as a wait must be to be worth it
        (400.0, 1, BUSY, (400.0, 2, 120.0)),  # twice as long each time
        (400.0, 99, BUSY, (400.0, 100, 900.0)),
        (400.0, 7, AHEAD, (1_000.0, 1, 60.0)),  # what was confirmed begins anew
    ],
)
def test_a_wait_grows_without_progress(
    provider: Any, since: float | None, times: int, error: Any, expected: tuple[float, int, float]
) -> None:
    """Up to a quarter of an hour: each try reads the source again."""
    remembered, seconds = provider.Waiting(since, times).put_off(error, now=1_000.0, least_seconds=60.0)
    assert (remembered.since, remembered.times, seconds) == expected
