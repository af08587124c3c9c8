"""Tasks against an emulator: what comes back, what fails for good, what a second try does."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from .conftest import Service

pytestmark = [pytest.mark.airflow, pytest.mark.filterwarnings("ignore")]
PEOPLE = 120


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "list.csv"
    path.write_text("email\n" + "".join(f"canary{number}@example.com\n" for number in range(PEOPLE)))
    return path


def _context(task: Any, *, run: str = "manual__1", map_index: int = -1) -> dict[str, Any]:
    """What the operators read of a context."""
    ti = SimpleNamespace(dag_id="dag", task_id=task.task_id, run_id=run, map_index=map_index)
    return {"ti": ti, "dag_run": SimpleNamespace(run_after=datetime(2026, 11, 21, tzinfo=UTC))}


def _execute(task: Any, **given: Any) -> Any:
    # Airflow wraps `execute` so that tasks are not called by tasks; here the test is the runner.
    execute = getattr(type(task).execute, "__wrapped__", type(task).execute)
    return execute(task, _context(task, **given))


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


async def _new_audience(provider: Any) -> str:
    async with provider.Hook().get_conn() as client:
        created = await client.create_custom_audience(name="made equal")
    return str(created.data["id"])


def test_an_audience_is_made_equal_to_a_source(provider: Any, service: Service, source: Path) -> None:
    """A dry run counts the changes and sends none; a second try finds nothing left to change."""
    given = {"source": str(source), "audience_id": asyncio.run(_new_audience(provider))}
    sent = service.uploads()
    plan = _execute(provider.Sync(task_id="look", dry_run=True, **given))
    assert (plan["verdict"], plan["plan"]["records"], service.uploads()) == ("ready", PEOPLE, sent)
    report = _execute(provider.Sync(task_id="sync", **given))
    assert (report["state"], report["rows"]["sent"]) == ("complete", PEOPLE)
    sent = service.uploads()
    assert _execute(provider.Sync(task_id="sync", **given))["rows"]["unchanged"] == PEOPLE
    assert service.uploads() == sent


CLEAR: dict[str, tuple[dict[str, Any], str]] = {
    "no such connection": ({"conn_id": "nowhere"}, "there is no connection 'nowhere'; make one of type audiencekit"),
    "another type": ({"conn_id": "database"}, "connection 'database' is not of type audiencekit"),
    "wrong account": ({"conn_id": "wrong_account"}, "permission"),
    "an audience of nobody": ({"audience_id": "zzzz"}, "has no audience zzzz: nothing was sent"),
    "what is no id": ({"audience_id": "../x"}, "audience"),
    "an empty audience": ({"audience_id": ""}, "the field 'audience_id' of task 'clear' is empty"),
    "an XCom that was not there": ({"audience_id": "None"}, "the field 'audience_id' of task 'clear' is empty"),
    "an empty source": ({"source": " "}, "the field 'source' of task 'clear' is empty"),
    "an empty place in a list": ({"source": ["a.csv", None]}, "the field 'source' of task 'clear' is empty"),
    "an empty option": ({"options": {"expires_at": ""}}, "the field 'options' of task 'clear' is empty"),
    "an unknown option": ({"options": {"colour": "red"}}, "there is no option colour"),
    "a share as text": ({"options": {"max_rejected_share": "0.1"}}, "the share of rejected rows must be"),
    "a source that is not there": ({"source": "/nowhere.csv"}, "nowhere.csv"),
}


@pytest.mark.parametrize("case", CLEAR)
def test_what_no_retry_can_mend_is_one_clear_error(
    provider: Any, service: Service, source: Path, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    """It fails the task for good, says what to do, shows no secret, and nothing was sent."""
    monkeypatch.setenv("AIRFLOW_CONN_DATABASE", json.dumps({"conn_type": "sqlite", "host": "x"}))
    monkeypatch.setenv("AIRFLOW_CONN_WRONG_ACCOUNT", service.connection(account_id="1abc"))
    changed, message = CLEAR[case]
    given = {"task_id": "clear", "source": str(source), "audience_id": service.audience_id} | changed
    sent = service.uploads()
    with pytest.raises(provider.FailedForGood) as caught:
        _execute(provider.Upload(**given), run=case)
    assert message in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert not any(secret in str(caught.value) for secret in service.secrets.values())
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
