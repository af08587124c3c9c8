"""Work of a task is ended like a command by its first signal: once, and awaited."""

from __future__ import annotations

import asyncio
import json
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from types import FrameType, SimpleNamespace
from typing import Any

import pytest

from audiencekit.destinations.target import Target
from audiencekit.errors import UsageError
from audiencekit.integrations.airflow.operators import Drainage, run_id_of
from audiencekit.runs.store import TargetLock, check_chosen_run_id
from tests.integrations.airflow.conftest import Service, emulator


class TaskEnded(BaseException):
    """Raised by the signal handler of an older Airflow."""


@pytest.fixture
def ended_by_signal() -> Iterator[None]:
    """SIGUSR1 raises TaskEnded in the main thread."""

    def end(number: int, frame: FrameType | None) -> None:
        raise TaskEnded

    before = signal.signal(signal.SIGUSR1, end)
    yield
    signal.signal(signal.SIGUSR1, before)


def test_the_result_of_the_work_comes_back() -> None:
    """From another thread than the task's."""

    async def work() -> threading.Thread:
        return threading.current_thread()

    assert Drainage().run(work()) is not threading.current_thread()


def test_an_exception_of_the_work_is_raised() -> None:
    """As it is."""

    async def work() -> None:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        Drainage().run(work())


def test_a_drain_cancels_once() -> None:
    """A second call is no second interruption: that would stop at once what is under way."""
    drainage, seen = Drainage(), []

    async def work() -> str:
        drainage.drain()
        drainage.drain()
        for _ in range(3):
            try:
                await asyncio.sleep(0)
            except asyncio.CancelledError:
                seen.append("cancelled")
                drainage.drain()
        return "drained"

    assert drainage.run(work()) == "drained"
    assert seen == ["cancelled"]


def test_a_drain_before_the_work_begins_ends_it() -> None:
    """Nothing of it is done."""
    drainage = Drainage()
    drainage.drain()

    async def work() -> None:
        await asyncio.sleep(0)
        raise AssertionError("it went on")

    with pytest.raises(asyncio.CancelledError):
        drainage.run(work())


def test_a_drain_after_the_end_is_none() -> None:
    """The loop is closed by then."""
    drainage = Drainage()

    async def work() -> int:
        return 1

    assert drainage.run(work()) == 1
    drainage.drain()


def test_an_exception_of_a_signal_handler_waits_for_the_end(ended_by_signal: None) -> None:
    """It breaks into the wait, not into the work: what is under way is finished before it is raised."""
    steps: list[str] = []

    async def work() -> None:
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGUSR1)
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await asyncio.sleep(0)
            steps.append("finished")

    with pytest.raises(TaskEnded):
        Drainage().run(work())
    assert steps == ["finished"]


WHEN = datetime(2026, 11, 21, 1, 30, tzinfo=UTC)


def _context(**changed: Any) -> dict[str, Any]:
    names = {"dag_id": "daily", "task_id": "upload", "run_id": "scheduled__1", "map_index": -1, "try_number": 1}
    return {"ti": SimpleNamespace(**names | changed), "dag_run": SimpleNamespace(run_after=WHEN)}


def test_it_is_an_id_that_a_run_may_have() -> None:
    """And sorts by the time of the DAG run, in UTC."""
    run_id = run_id_of(_context())
    check_chosen_run_id(run_id)
    assert run_id.startswith("20261121-013000-")


def test_another_try_has_the_same() -> None:
    """A task that was cleared is another try."""
    assert run_id_of(_context(try_number=2)) == run_id_of(_context())


@pytest.mark.parametrize(
    "changed",
    [{"dag_id": "weekly"}, {"task_id": "upload2"}, {"run_id": "scheduled__2"}, {"map_index": 0}, {"map_index": 1}],
    ids=str,
)
def test_another_task_has_another(changed: dict[str, Any]) -> None:
    """Mapped ones are others."""
    assert run_id_of(_context(**changed)) != run_id_of(_context())


def test_names_that_read_alike_in_a_row_are_told_apart() -> None:
    """Where one ends and the next begins counts."""
    assert run_id_of(_context(dag_id="a", task_id="bc")) != run_id_of(_context(dag_id="ab", task_id="c"))


def test_older_airflow_knows_the_logical_date_only() -> None:
    """It stands in for the time to run after."""
    local = WHEN.astimezone(timezone(timedelta(hours=9)))
    context = _context() | {"dag_run": SimpleNamespace(logical_date=local)}
    assert run_id_of(context) == run_id_of(_context())


pytestmark = [pytest.mark.integrations, pytest.mark.filterwarnings("ignore")]
PEOPLE = 120


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "list.csv"
    path.write_text("email\n" + "".join(f"canary{number}@example.com\n" for number in range(PEOPLE)))
    return path


def _operators_context(task: Any, *, run: str = "manual__1", map_index: int = -1) -> dict[str, Any]:
    """Return the part of a context that the operators read."""
    ti = SimpleNamespace(dag_id="dag", task_id=task.task_id, run_id=run, map_index=map_index)
    return {"ti": ti, "dag_run": SimpleNamespace(run_after=datetime(2026, 11, 21, tzinfo=UTC))}


def _execute(task: Any, **given: Any) -> Any:
    # Airflow wraps `execute` so that tasks are not called by tasks; here the test is the runner.
    execute = getattr(type(task).execute, "__wrapped__", type(task).execute)
    return execute(task, _operators_context(task, **given))


def test_the_report_has_no_identifier(provider: Any, service: Service, source: Path, request: Any) -> None:
    """It can be an XCom: it is JSON, and counts."""
    task = provider.Upload(task_id=request.node.name, source=str(source), audience_id=service.audience_id)
    report = _execute(task)
    assert (report["state"], report["rows"]["sent"]) == ("complete", PEOPLE)
    assert report["run_id"].startswith("20261121-000000-")
    assert "@" not in json.dumps(report)


def test_a_task_that_was_cleared_sends_nothing_twice(provider: Any, service: Service, source: Path) -> None:
    """Another DAG run and another mapped task are others."""
    task = provider.Upload(task_id="cleared", source=str(source), audience_id=service.audience_id)
    first, sent = _execute(task), service.uploads()
    assert _execute(task) == first
    assert service.uploads() == sent
    others = [_execute(task, run="manual__2"), _execute(task, map_index=0), _execute(task, map_index=1)]
    assert len({report["run_id"] for report in [first, *others]}) == 4


def test_a_dry_run_sends_nothing(provider: Any, service: Service, source: Path) -> None:
    """Its XCom is the plan; what would be refused fails."""
    sent = service.uploads()
    given = {"audience_id": service.audience_id, "dry_run": True}
    plan = _execute(provider.Upload(task_id="dry", source=str(source), **given))
    assert (plan["verdict"], plan["plan"]["records"]) == ("ready", PEOPLE)
    source.write_text("email\nnobody\nnobody\n")
    with pytest.raises(provider.FailedForGood, match="rejected"):
        _execute(provider.Upload(task_id="dry2", source=str(source), **given))
    assert service.uploads() == sent


def test_people_are_put_on_the_list_of_the_account(provider: Any, source: Path) -> None:
    """It is created when it is missing; a second try sends nothing."""
    task = provider.DoNotReachUpload(task_id="keep_out", source=str(source))
    report = _execute(task)
    assert (report["state"], report["rows"]["sent"]) == ("complete", PEOPLE)
    assert _execute(task) == report


def test_an_audience_is_made_equal_to_a_source(provider: Any, service: Service, source: Path, tmp_path: Path) -> None:
    """A dry run counts the changes and sends none; a second try finds nothing left to change."""
    given = {"source": str(source), "audience_id": service.make_audience("made equal", tmp_path)}
    sent = service.uploads()
    plan = _execute(provider.Sync(task_id="look", dry_run=True, **given))
    assert (plan["verdict"], plan["plan"]["records"], service.uploads()) == ("ready", PEOPLE, sent)
    report = _execute(provider.Sync(task_id="sync", **given))
    assert (report["state"], report["rows"]["sent"]) == ("complete", PEOPLE)
    sent = service.uploads()
    assert _execute(provider.Sync(task_id="sync", **given))["rows"]["unchanged"] == PEOPLE
    assert service.uploads() == sent


@pytest.fixture
def asked(tmp_path: Path) -> Path:
    """People of this test only: they are remembered from then on."""
    path = tmp_path / "asked.csv"
    path.write_text(f"email,phone\n{_asked(tmp_path)},\nsecond.{_asked(tmp_path)},+12015550199\n")
    return path


def _asked(tmp_path: Path) -> str:
    return f"canary.{tmp_path.name}@example.org"


def test_people_are_forgotten(provider: Any, service: Service, asked: Path, tmp_path: Path, capsys: Any) -> None:
    """They are out of the audience, and stay out of it; neither receipt nor output names them."""
    audience_id = service.make_audience("with people who ask", tmp_path)
    both = tmp_path / "both.csv"
    both.write_text(f"email\ncanary.stays@example.org\n{_asked(tmp_path)}\n")
    assert _execute(provider.Upload(task_id="before", source=str(both), audience_id=audience_id))["rows"]["sent"] == 2
    receipt = _execute(provider.Forget(task_id="forget", source=str(asked), options={"do_not_reach": True}))
    assert (receipt["state"], receipt["asked"]) == ("complete", 2)
    assert receipt["do_not_reach"]["state"] == "confirmed"
    assert len(service.emails(audience_id)) == 1
    again = _execute(provider.Upload(task_id="after", source=str(both), audience_id=audience_id))
    assert (again["rows"]["sent"], again["rows"]["suppressed"]) == (1, 1)
    output = capsys.readouterr()
    assert not any("canary" in text for text in (json.dumps(receipt), output.out, output.err))


def test_an_erasure_that_ended_early_is_finished_by_the_next_try(
    provider: Any, service: Service, asked: Path, home: Path
) -> None:
    """While another run is at work on an audience it may be tried again; then it goes on where it was."""
    task = provider.Forget(task_id="forget", source=str(asked))
    with (
        TargetLock(home / "state", service.account_id, Target.audience(service.audience_id), "other"),
        pytest.raises(provider.Failed, match="a retry of this task goes on") as caught,
    ):
        _execute(task)
    assert not isinstance(caught.value, provider.FailedForGood)
    receipt = _execute(task)
    assert receipt["state"] == "complete"
    assert receipt["erasure_id"] in str(caught.value)


def test_people_are_not_named_in_the_options_of_a_task(provider: Any) -> None:
    """Airflow would keep them: the DAG cannot be read with them in it."""
    with pytest.raises(UsageError, match="'forget' cannot have identifiers") as caught:
        provider.Forget(task_id="forget", source="asked.csv", options={"identifiers": ["canary@example.org"]})
    assert "canary" not in str(caught.value) + caught.value.hint


def test_mapped_tasks_share_the_pace(
    provider: Any, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two at once, each slow enough for the quota alone: together they stay within it, too."""
    options = {"max_body_bytes": 8_000}
    with emulator("--rate", "3/2") as slow:
        monkeypatch.setenv("AIRFLOW_CONN_SLOW", slow.connection(requests_per_minute=60))
        monkeypatch.setenv("AUDIENCEKIT_ALLOW_HOST", slow.place)
        audiences = [slow.audience_id, slow.make_audience("second", tmp_path)]
        task = provider.Upload.partial(task_id="mapped", source=str(source), conn_id="slow", options=options)
        assert task.expand(audience_id=audiences).task_id == "mapped"
        tasks = [
            provider.Upload(task_id="mapped", source=str(source), audience_id=each, conn_id="slow", options=options)
            for each in audiences
        ]
        with ThreadPoolExecutor() as pool:
            reports = list(pool.map(lambda index: _execute(tasks[index], map_index=index), range(2)))
        sent = [each for each in json.loads(slow.ask("/__requests")) if each["path"].endswith("/users")]
    assert [report["rows"]["sent"] for report in reports] == [PEOPLE, PEOPLE]
    assert len(sent) == sum(report["requests"]["planned"] for report in reports) >= 4
    assert {each["status"] for each in sent} == {200}


CLEAR: dict[str, tuple[dict[str, Any], str]] = {
    "no such connection": ({"conn_id": "nowhere"}, "there is no connection 'nowhere'; make one of type audiencekit"),
    "another type": ({"conn_id": "database"}, "connection 'database' is not of type audiencekit"),
    "wrong account": ({"conn_id": "wrong_account"}, "; check the account id, and that the user"),
    "an unknown audience": ({"audience_id": "zzzz"}, "has no audience zzzz: nothing was sent"),
    "what is no id": ({"audience_id": "../x"}, "audience"),
    "an empty audience": ({"audience_id": ""}, "the field 'audience_id' of task 'clear' is empty"),
    "an XCom that was not there": ({"audience_id": "None"}, "the field 'audience_id' of task 'clear' is empty"),
    "an empty source": ({"source": " "}, "the field 'source' of task 'clear' is empty"),
    "an empty place in a list": ({"source": ["a.csv", None]}, "the field 'source' of task 'clear' is empty"),
    "an empty option": ({"options": {"expires_at": ""}}, "the field 'options' of task 'clear' is empty"),
    "an option of the task's own": ({"options": {"run_id": "1"}}, "the options of task 'clear' cannot have run_id"),
    "options as text": ({"options": "{'country': 'DE'}"}, "it takes a DAG with render_template_as_native_obj=True"),
    "an unknown option": ({"options": {"colour": "red"}}, "there is no `colour`; perhaps `country`"),
    "a share as text": ({"options": {"max_rejected_share": "0.1"}}, "a share must be from 0 to 1"),
    "a source that is not there": ({"source": "/nowhere.csv"}, "nowhere.csv"),
}


@pytest.mark.parametrize("case", CLEAR)
def test_a_fault_that_no_retry_can_mend_is_one_clear_error(
    provider: Any, service: Service, source: Path, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    """It fails the task for good, says what to do, shows no secret, and nothing was sent."""
    monkeypatch.setenv("AIRFLOW_CONN_DATABASE", json.dumps({"conn_type": "sqlite", "host": "x"}))
    monkeypatch.setenv("AIRFLOW_CONN_WRONG_ACCOUNT", service.connection(account_id="1abc"))
    changed, message = CLEAR[case]
    task = provider.Upload(task_id="clear", source=str(source), audience_id=service.audience_id)
    for name, value in changed.items():  # as rendering does
        setattr(task, name, value)
    sent = service.uploads()
    with pytest.raises(provider.FailedForGood) as caught:
        _execute(task, run=case)
    assert message in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert not any(secret in str(caught.value) for secret in service.secrets.values())
    assert service.uploads() == sent


OF_ALL = ("no such connection", "wrong account", "an empty source")


@pytest.mark.parametrize(
    ("operator", "case"),
    [(operator, case) for operator in ("Sync", "DoNotReachUpload", "Forget") for case in OF_ALL]
    + [("Sync", "an unknown audience")],
)
def test_every_task_says_so(
    provider: Any, service: Service, asked: Path, monkeypatch: pytest.MonkeyPatch, operator: str, case: str
) -> None:
    """The same words whichever the task."""
    monkeypatch.setenv("AIRFLOW_CONN_WRONG_ACCOUNT", service.connection(account_id="1abc"))
    changed, message = CLEAR[case]
    audience = {"audience_id": service.audience_id} if operator == "Sync" else {}
    sent = service.uploads()
    with pytest.raises(provider.FailedForGood) as caught:
        _execute(getattr(provider, operator)(**{"task_id": "clear", "source": str(asked)} | audience | changed))
    assert message in str(caught.value)
    assert service.uploads() == sent


def test_a_service_that_is_away_may_be_tried_again(
    provider: Any, service: Service, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The failure is of the kind that Airflow retries."""
    connection = json.loads(service.connection()) | {"host": "http://127.0.0.1:9"}
    monkeypatch.setenv("AIRFLOW_CONN_AWAY", json.dumps(connection))
    task = provider.Upload(task_id="away", source=str(source), audience_id=service.audience_id, conn_id="away")
    with pytest.raises(provider.Failed, match="a retry of this task goes on") as caught:
        _execute(task)
    assert not isinstance(caught.value, provider.FailedForGood)


def test_the_test_button(provider: Any, service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """Says whether the account answers, and why not."""
    good, told = provider.Hook().test_connection()
    assert good
    assert service.account_id in told
    monkeypatch.setenv("AIRFLOW_CONN_WRONG", service.connection(access_token_secret="another"))
    good, told = provider.Hook("wrong").test_connection()
    assert not good
    assert not any(secret in told for secret in service.secrets.values())


def test_a_mapped_task_takes_every_argument(provider: Any, source: Path) -> None:
    """Airflow looks at the names of the arguments before it maps them."""
    partial = provider.Upload.partial(task_id="mapped", options={"country": "DE"}, dry_run=True, conn_id="x")
    assert partial.expand(source=["a.csv"], audience_id=["1", "2"]).task_id == "mapped"
