"""Tasks against an emulator: what comes back, what fails for good, what a second try does."""

from __future__ import annotations

import json
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from audiencekit.destinations.target import Target
from audiencekit.errors import UsageError
from audiencekit.mirror import opening
from audiencekit.runs.store import TargetLock
from tests.integrations.airflow.conftest import Service, emulator, run_task
from tests.mirror.stores import MemoryObjects

pytestmark = [pytest.mark.integrations, pytest.mark.filterwarnings("ignore")]
PEOPLE = 120


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "list.csv"
    path.write_text("email\n" + "".join(f"canary{number}@example.com\n" for number in range(PEOPLE)))
    return path


def test_an_audience_is_given_by_its_name(provider: Any, service: Service, source: Path, tmp_path: Path) -> None:
    """The service says which one it is, also to a dry run of a sync; its id is in the report."""
    audience_id = service.make_audience("By its name", tmp_path)
    given = {"source": str(source), "audience": "By its name"}
    planned = run_task(provider.Sync(task_id="plan", dry_run=True, **given))
    report = run_task(provider.Upload(task_id="named", **given))
    assert (planned["verdict"], report["audience_id"]) == ("ready", audience_id)


def test_the_report_has_no_identifier(provider: Any, service: Service, source: Path, request: Any) -> None:
    """It can be an XCom: it is JSON, and counts."""
    task = provider.Upload(task_id=request.node.name, source=str(source), audience=service.audience_id)
    report = run_task(task)
    assert (report["state"], report["rows"]["sent"]) == ("complete", PEOPLE)
    assert report["run_id"].startswith("20261121-000000-")
    assert "@" not in json.dumps(report)


def test_a_task_that_was_cleared_sends_nothing_twice(provider: Any, service: Service, source: Path) -> None:
    """Another DAG run and another mapped task are others."""
    task = provider.Upload(task_id="cleared", source=str(source), audience=service.audience_id)
    first, sent = run_task(task), service.uploads()
    assert run_task(task) == first
    assert service.uploads() == sent
    others = [run_task(task, run="manual__2"), run_task(task, map_index=0), run_task(task, map_index=1)]
    assert len({report["run_id"] for report in [first, *others]}) == 4


def test_a_dry_run_sends_nothing(provider: Any, service: Service, source: Path) -> None:
    """Its XCom is the plan; what would be refused fails."""
    sent = service.uploads()
    given = {"audience": service.audience_id, "dry_run": True}
    plan = run_task(provider.Upload(task_id="dry", source=str(source), **given))
    assert (plan["verdict"], plan["plan"]["records"]) == ("ready", PEOPLE)
    source.write_text("email\nnobody\nnobody\n")
    with pytest.raises(provider.FailedForGood, match="rejected"):
        run_task(provider.Upload(task_id="dry2", source=str(source), **given))
    assert service.uploads() == sent


def test_people_are_put_on_the_list_of_the_account(provider: Any, source: Path) -> None:
    """It is created when it is missing; a second try sends nothing."""
    task = provider.DoNotReachUpload(task_id="keep_out", source=str(source))
    report = run_task(task)
    assert (report["state"], report["rows"]["sent"]) == ("complete", PEOPLE)
    assert run_task(task) == report


def test_an_audience_is_made_equal_to_a_source(provider: Any, service: Service, source: Path, tmp_path: Path) -> None:
    """A dry run counts the changes and sends none; a second try finds nothing left to change."""
    given = {"source": str(source), "audience": service.make_audience("made equal", tmp_path)}
    sent = service.uploads()
    plan = run_task(provider.Sync(task_id="look", dry_run=True, **given))
    assert (plan["verdict"], plan["plan"]["records"], service.uploads()) == ("ready", PEOPLE, sent)
    report = run_task(provider.Sync(task_id="sync", **given))
    assert (report["state"], report["rows"]["sent"]) == ("complete", PEOPLE)
    sent = service.uploads()
    assert run_task(provider.Sync(task_id="sync", **given))["rows"]["unchanged"] == PEOPLE
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
    assert run_task(provider.Upload(task_id="before", source=str(both), audience=audience_id))["rows"]["sent"] == 2
    receipt = run_task(provider.Forget(task_id="forget", source=str(asked), options={"do_not_reach": True}))
    assert (receipt["state"], receipt["asked"]) == ("complete", 2)
    assert receipt["do_not_reach"]["state"] == "confirmed"
    assert len(service.emails(audience_id)) == 1
    again = run_task(provider.Upload(task_id="after", source=str(both), audience=audience_id))
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
        run_task(task)
    assert not isinstance(caught.value, provider.FailedForGood)
    receipt = run_task(task)
    assert receipt["state"] == "complete"
    assert receipt["erasure_id"] in str(caught.value)


def test_people_are_not_named_in_the_options_of_a_task(provider: Any) -> None:
    """Airflow would keep them: the DAG cannot be read with them in it."""
    with pytest.raises(UsageError, match="'forget' cannot have identifiers") as caught:
        provider.Forget(task_id="forget", source="asked.csv", options={"identifiers": ["canary@example.org"]})
    assert "canary" not in str(caught.value) + caught.value.hint


@pytest.fixture
def files(provider: Any, service: Service, source: Path, tmp_path: Path) -> dict[str, str]:
    """A setup and a flexible audience, both of a new audience, whose entries expire soon."""
    audience_id = service.make_audience(f"Of {tmp_path.name}", tmp_path)
    setup, flexible = tmp_path / "setup.toml", tmp_path / "flexible.json"
    setup.write_text(f'[audiences.one]\nsource = "{source.name}"\naudience = "{audience_id}"\nttl_days = 5\n')
    leaf = {"audience": audience_id, "lookback": 7}
    flexible.write_text(json.dumps({"audiences": [{"name": f"Of both {tmp_path.name}", "segments": {"and": [leaf]}}]}))
    return {"setup": str(setup), "file": str(flexible), "audience": audience_id, "name": f"New {tmp_path.name}"}


OTHERS: dict[str, tuple[str, dict[str, str], dict[str, Any], dict[str, Any]]] = {
    "a setup": ("RunSetup", {"setup": "setup"}, {}, {"state": "complete", "exit_code": 0}),
    "a part of a setup": ("RunSetup", {"setup": "setup"}, {"names": ["one"]}, {"state": "complete"}),
    "a renewal": ("Renew", {"audience": "audience"}, {"options": {"before": "30d"}}, {"operation": "renew"}),
    "a renewal that is only planned": ("Renew", {"audience": "audience"}, {"dry_run": True}, {"verdict": "ready"}),
    "an audience": ("CreateAudience", {"audience_name": "name"}, {"description": "invented"}, {"state": "created"}),
    "a flexible audience": ("CreateFlexible", {"file": "file"}, {}, {"state": "complete"}),
}


@pytest.mark.parametrize("case", OTHERS)
def test_each_function_is_a_task(provider: Any, service: Service, files: dict[str, str], case: str) -> None:
    """Its XCom is the document that the command prints with --json; it names no one."""
    kind, named, more, expected = OTHERS[case]
    if kind == "Renew":
        run_task(provider.RunSetup(task_id="before", setup=files["setup"]))
    given = {argument: files[name] for argument, name in named.items()}
    result = run_task(getattr(provider, kind)(task_id="each", **given, **more))
    assert {name: result[name] for name in expected} == expected
    assert "canary" not in json.dumps(result)
    if case == "a setup":
        assert result["audiences"][0]["report"]["rows"]["sent"] == PEOPLE
    elif case == "a renewal":
        assert result["rows"]["sent"] == PEOPLE


def test_an_audience_is_created_once(provider: Any, files: dict[str, str]) -> None:
    """A second try finds it; a flexible one is refused, and a name of a person is."""
    task = provider.CreateAudience(task_id="create", audience_name=files["name"])
    first, again = run_task(task), run_task(task)
    assert (first["state"], again["state"], again["id"]) == ("created", "found", first["id"])
    flexible = provider.CreateFlexible(task_id="flexible", file=files["file"])
    run_task(flexible)
    with pytest.raises(provider.FailedForGood, match=r"audience .* of this name is there"):
        run_task(flexible)
    with pytest.raises(provider.FailedForGood) as caught:
        run_task(provider.CreateAudience(task_id="person", audience_name="canary@example.com"))
    assert "canary" not in str(caught.value)


def test_a_setup_says_which_audience_failed(provider: Any, files: dict[str, str], tmp_path: Path, capsys: Any) -> None:
    """The others are filled."""
    with (tmp_path / "setup.toml").open("a") as file:
        file.write(f'[audiences.two]\nsource = "missing.csv"\naudience = "{files["audience"]}"\ncommand = "upload"\n')
    with pytest.raises(provider.FailedForGood, match=r"missing\.csv"):
        run_task(provider.RunSetup(task_id="both", setup=files["setup"]))
    output = capsys.readouterr().out
    assert "two: " in output
    assert "sending: 1 of 1 requests" in output


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
        assert task.expand(audience=audiences).task_id == "mapped"
        tasks = [
            provider.Upload(task_id="mapped", source=str(source), audience=each, conn_id="slow", options=options)
            for each in audiences
        ]
        with ThreadPoolExecutor() as pool:
            reports = list(pool.map(lambda index: run_task(tasks[index], map_index=index), range(2)))
        sent = [each for each in json.loads(slow.ask("/__requests")) if each["path"].endswith("/users")]
    assert [report["rows"]["sent"] for report in reports] == [PEOPLE, PEOPLE]
    assert len(sent) == sum(report["requests"]["planned"] for report in reports) >= 4
    assert {each["status"] for each in sent} == {200}


CLEAR: dict[str, tuple[dict[str, Any], str]] = {
    "no such connection": ({"conn_id": "nowhere"}, "there is no connection 'nowhere'; make one of type audiencekit"),
    "another type": ({"conn_id": "database"}, "connection 'database' is not of type audiencekit"),
    "wrong account": ({"conn_id": "wrong_account"}, "; check the account id, and that the user"),
    "an unknown audience": ({"audience": "zzzz"}, "has no audience zzzz: nothing was read, and nothing was sent"),
    "what is no id": ({"audience": "../x"}, "audience"),
    "an empty audience": ({"audience": ""}, "the field 'audience' of task 'clear' is empty"),
    "an XCom that was not there": ({"audience": "None"}, "the field 'audience' of task 'clear' is empty"),
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
    task = provider.Upload(task_id="clear", source=str(source), audience=service.audience_id)
    for name, value in changed.items():  # as rendering does
        setattr(task, name, value)
    sent = service.uploads()
    with pytest.raises(provider.FailedForGood) as caught:
        run_task(task, run=case)
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
    audience = {"audience": service.audience_id} if operator == "Sync" else {}
    sent = service.uploads()
    with pytest.raises(provider.FailedForGood) as caught:
        run_task(getattr(provider, operator)(**{"task_id": "clear", "source": str(asked)} | audience | changed))
    assert message in str(caught.value)
    assert service.uploads() == sent


def test_a_service_that_is_away_may_be_tried_again(
    provider: Any, service: Service, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The failure is of the kind that Airflow retries."""
    connection = json.loads(service.connection()) | {"host": "http://127.0.0.1:9"}
    monkeypatch.setenv("AIRFLOW_CONN_AWAY", json.dumps(connection))
    task = provider.Upload(task_id="away", source=str(source), audience=service.audience_id, conn_id="away")
    with pytest.raises(provider.Failed, match="a retry of this task goes on") as caught:
        run_task(task)
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
    assert partial.expand(source=["a.csv"], audience=["1", "2"]).task_id == "mapped"


def test_each_try_on_an_empty_machine_goes_on_with_its_run(
    provider: Any, service: Service, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the state is in a bucket: a cleared task sends nothing twice, and an erased person stays out."""
    monkeypatch.delenv("AUDIENCEKIT_STATE_DIR")
    monkeypatch.setenv("AUDIENCEKIT_STATE", "s3://lists/acme")
    monkeypatch.setenv("AUDIENCEKIT_KEY", "1f" * 32)
    objects = MemoryObjects()
    monkeypatch.setattr(opening, "BucketObjects", lambda _: objects)
    opening.begin_state("s3://lists/acme")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    audience_id = service.make_audience("Empty machines", tmp_path / "direct")
    given = {"source": str(source), "audience": audience_id}
    first = run_task(provider.Upload(task_id="empty", **given))
    uploads = service.uploads()
    again = run_task(provider.Upload(task_id="empty", **given))
    assert (again["run_id"], service.uploads()) == (first["run_id"], uploads)
    (tmp_path / "asked.csv").write_text("email\ncanary7@example.com\n")
    run_task(provider.Forget(task_id="forget", source=str(tmp_path / "asked.csv")))
    synced = run_task(provider.Sync(task_id="sync", **given))
    assert (synced["rows"]["suppressed"], len(service.emails(audience_id))) == (1, PEOPLE - 1)
    provider.Sensor(task_id="ready", audience=audience_id).poke({})
    assert list((tmp_path / "tmp").iterdir()) == []
    objects.losses = 1.0
    with pytest.raises(provider.Failed, match="the bucket of the state cannot be used"):
        run_task(provider.Upload(task_id="away", **given))
