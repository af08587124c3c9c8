"""`purge` and the setting `retention`, on the command line, with runs that a service has seen."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from audiencekit.delivery.limiter import Unlimited
from audiencekit.destinations.target import Target
from audiencekit.errors import CredentialsRefused
from audiencekit.runs.uploads import upload_to
from audiencekit.settings import load_settings
from tests.cases import each_case
from tests.cli.conftest import Begin, Run, Service, write_list
from tests.destinations.jsonlines import REVOKED, registered
from tests.moments import PATIENCE_SECONDS
from tests.processes import PIPE

LIST = "email\nzz.a@canarymail.com\nzz.b@canarymail.com\n"
DAY = 86_400
Upload = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def upload(run: Run, service: Service, tmp_path: Path) -> Upload:
    """Uploads the list; with `is_cut` its token is not taken once, so that the run can be resumed."""

    def call(*options: str, is_cut: bool = False, **more: str) -> subprocess.CompletedProcess[str]:
        (tmp_path / "list.csv").write_text(LIST)
        if is_cut:
            service.order({"fault": 22, "times": 1, "match": {"path": "*/users"}})
        done = run("upload", "list.csv", "--audience", service.audience_id, *options, **service.env, **more)
        assert done.returncode == (77 if is_cut else 0), done.stderr
        return done

    return call


def _age(state: Path, days: int = 40) -> None:
    """Everything that is there last changed so long ago."""
    moment = time.time() - days * DAY
    for path in (*state.glob("runs/*"), *state.glob("erasures/*"), *state.glob("erasures/*/*")):
        os.utime(path, (moment, moment))


def _listed(run: Run, **env: str) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = json.loads(run("runs", "--json", **env).stdout)
    return listed


def test_ended_runs_go_and_resumable_runs_can_be_resumed(
    run: Run, upload: Upload, service: Service, tmp_path: Path
) -> None:
    """`report`, `last` and `resume` of the others work; the receipt is kept, and is what `--json` shows."""
    state = tmp_path / "state"
    upload()
    upload(is_cut=True)
    _age(state)
    upload()
    planned = run("purge", "--older-than", "30d", "--dry-run", "--json")
    assert json.loads(planned.stdout)["expired"]["complete"] == 1
    assert (len(_listed(run)), list(state.glob("purges/*"))) == (3, [])

    done = run("purge", "--older-than", "30d", "--yes", "--json")
    receipt = json.loads(done.stdout)
    assert (done.returncode, receipt["state"], receipt["by"]) == (0, "complete", "command")
    assert (receipt["removed"]["complete"], receipt["kept"]["resumable"]) == (1, 1)
    kept = json.loads((state / "purges" / f"{receipt['purge_id']}.json").read_text())
    assert {key: kept[key] for key in receipt} == receipt
    last, cut = _listed(run)
    assert [(one["state"], one["resumable"]) for one in (last, cut)] == [("complete", False), ("incomplete", True)]
    assert json.loads(run("report", "--json").stdout)["run_id"] == last["run_id"]
    resumed = run("resume", cut["run_id"], "--json", **service.env)
    assert json.loads(resumed.stdout)["state"] == "complete", resumed.stderr


def test_unfinished_runs_go_when_they_are_asked_for(run: Run, upload: Upload, service: Service, tmp_path: Path) -> None:
    """And can be resumed no more."""
    upload(is_cut=True)
    _age(tmp_path / "state")
    done = run("purge", "--older-than", "4w", "--unfinished", "--yes")
    assert (done.returncode, "runs that can be resumed" in done.stdout) == (0, True)
    assert _listed(run) == []
    assert run("resume", **service.env).returncode == 2


def test_a_run_at_work_is_never_purged(run: Run, begin: Begin, service: Service, tmp_path: Path) -> None:
    """However old its directory looks; it goes on to its end."""
    options = ("--audience", service.audience_id, "--json")
    working = begin("upload", "-", *options, stdin=PIPE, **service.env)
    while not list(tmp_path.glob("state/runs/*/journal.sqlite")):
        assert working.poll() is None
        time.sleep(0.01)
    for _ in range(50):  # its journal may be written once more after it was aged
        _age(tmp_path / "state")
        done = run("purge", "--older-than", "1h", "--unfinished", "--yes", "--json")
        receipt = json.loads(done.stdout)
        assert sum(receipt["removed"].values()) == 0
        if receipt["kept"]["running"]:
            break
    assert receipt["kept"]["running"] == 1
    out, err = working.communicate(LIST, timeout=PATIENCE_SECONDS)
    assert json.loads(out)["state"] == "complete", err


@pytest.mark.slow
def test_an_erasure_leaves_its_receipt_and_its_memory(
    run: Run, upload: Upload, service: Service, tmp_path: Path
) -> None:
    """The memory for good; receipts go when they are asked for, apart from the last; one not finished never."""
    state = tmp_path / "state"
    upload()
    for name in ("zz.a", "zz.b"):
        assert run("forget", text=f"{name}@canarymail.com\n", **service.env).returncode == 0
    service.order({"fault": 22, "times": 1, "match": {"path": "*/users"}})
    assert run("forget", text="zz.c@canarymail.com\n", **service.env).returncode == 77
    _age(state)
    memory = (state / "forgotten").read_bytes()
    first = json.loads(run("purge", "--older-than", "30d", "--yes", "--json").stdout)
    assert (first["kept"]["receipts"], first["kept"]["erasures"], first["removed"]["complete"]) == (2, 1, 1)
    _age(state)
    second = json.loads(run("purge", "--older-than", "30d", "--receipts", "--unfinished", "--yes", "--json").stdout)
    assert (second["removed"]["receipts"], second["kept"]["receipts"], second["kept"]["erasures"]) == (1, 1, 1)
    assert (state / "forgotten").read_bytes() == memory
    assert json.loads(run("check", "list.csv", "--json", "--allow-empty").stdout)["rows"]["suppressed"] == 2
    assert run("resume", "forget-", **service.env).returncode == 2  # of two
    (unfinished,) = [one["run_id"] for one in _listed(run) if one["state"] == "incomplete"]
    assert run("resume", unfinished, **service.env).returncode == 0
    (state / "forgotten").unlink()
    (state / "forgotten.serial").unlink()
    assert run("check", "list.csv").returncode == 3


@pytest.mark.slow
def test_a_snapshot_is_no_run(run: Run, service: Service, tmp_path: Path) -> None:
    """After a purge of all of its runs a sync sends what has changed, and nothing else; also of one cut short."""
    (tmp_path / "list.csv").write_text(LIST)
    sync = ("sync", "list.csv", "--audience", service.audience_id, "--replace", "--json")
    assert run(*sync, **service.env).returncode == 0
    (tmp_path / "list.csv").write_text(LIST.replace("zz.b", "zz.c"))
    service.order({"fault": 22, "times": 1, "match": {"path": "*/users"}})
    assert run(*sync, **service.env).returncode == 77
    _age(tmp_path / "state")
    receipt = json.loads(run("purge", "--older-than", "30d", "--yes", "--json").stdout)
    assert (receipt["removed"]["complete"], receipt["removed"]["not_resumable"]) == (1, 1)
    assert _listed(run) == []
    done = run(*sync, **service.env)
    assert json.loads(done.stdout)["state"] == "complete", done.stderr
    assert service.members() == 2
    again = json.loads(run(*sync, **service.env).stdout)
    assert (again["rows"]["unchanged"], again["requests"]["planned"]) == (2, 0)


def test_it_asks_first(run: Run, answer: Run, upload: Upload, tmp_path: Path) -> None:
    """At a terminal, with the counts; without one `--yes` is needed."""
    upload()
    _age(tmp_path / "state")
    refused = run("purge", "--older-than", "30d")
    assert (refused.returncode, "give --yes" in refused.stderr) == (2, True)
    for typed, code, left in (("n", 0, 1), ("y", 0, 0)):
        done = answer(typed, "purge", "--older-than", "30d")
        assert (done.returncode, len(_listed(run))) == (code, left), done.stderr
        assert "complete runs" in done.stderr
        assert "Destroy this for good?" in done.stderr
        assert ("nothing was changed" in done.stderr) == bool(left)


@each_case("age", ["30", "0d", "59m", "a month", ""])
def test_an_age_is_a_number_and_a_unit(run: Run, age: str) -> None:
    """Of an hour at least; the same for the setting, of every command."""
    refused = run("purge", "--older-than", age, "--yes")
    assert (refused.returncode, "--older-than" in refused.stderr) == (2, True)
    if age:
        refused = run("runs", AUDIENCEKIT_RETENTION=age)
        assert (refused.returncode, "AUDIENCEKIT_RETENTION" in refused.stderr) == (2, True)


def test_the_retention_is_told_and_heeded(run: Run, upload: Upload, tmp_path: Path) -> None:
    """`runs` says until when each is kept; the next run takes those that are past it, in one line on stderr."""
    upload()
    upload(is_cut=True)
    assert "kept_until" not in _listed(run, AUDIENCEKIT_RETENTION="never")[0]
    assert "kept_until" in _listed(run)[0]
    _age(tmp_path / "state", days=29)
    cut, ended = _listed(run, AUDIENCEKIT_RETENTION="30d")
    changed_at = (tmp_path / "state" / "runs" / ended["run_id"]).stat().st_mtime
    expected = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(changed_at + 30 * DAY))
    assert (cut["kept_until"], ended["kept_until"]) == (None, expected)
    assert f"kept until {expected}" in run("runs", AUDIENCEKIT_RETENTION="30d").stdout
    assert "purged" not in upload(AUDIENCEKIT_RETENTION="30d").stderr
    _age(tmp_path / "state", days=31)
    done = upload("--json", AUDIENCEKIT_RETENTION="30d")
    assert [line for line in done.stderr.splitlines() if "purged" in line] == [
        "AUDIENCEKIT_RETENTION: 2 older runs purged"
    ]
    ids = [one["run_id"] for one in _listed(run)]
    assert ids == [json.loads(done.stdout)["run_id"], cut["run_id"]]


def test_a_purge_with_nothing_to_do_says_so(run: Run, tmp_path: Path) -> None:
    """A plan makes nothing; a purge leaves its receipt."""
    assert "none" in run("purge", "--older-than", "30d", "--dry-run").stdout
    assert not (tmp_path / "state").exists()
    done = run("purge", "--older-than", "30d", "--yes", "--json")
    assert (done.returncode, sum(json.loads(done.stdout)["removed"].values())) == (0, 0)
    assert len(list((tmp_path / "state" / "purges").iterdir())) == 1


def test_runs_and_reports_name_list_and_audience(run: Run, service: Service, tmp_path: Path) -> None:
    """By the name that the service has; and `runs` of one audience, or since a time, are those alone."""
    made = json.loads(run("audiences", "create", "Spring customers", "--json", **service.env).stdout)
    for name, audience in (("spring.csv", "Spring customers"), ("others.csv", service.audience_id)):
        done = run("upload", write_list(tmp_path, 3, name), "--audience", audience, **service.env)
        assert done.returncode == 0, done.stderr
    table = run("runs", **service.env).stdout.splitlines()
    assert table[0].split()[:2] == ["run", "state"]
    assert "others.csv" in table[1]
    assert f"'Spring customers' ({made['id']})" in table[2]
    assert "spring.csv" in table[2]
    for chosen in ("Spring customers", made["id"]):
        (listed,) = json.loads(run("runs", "--audience", chosen, "--json", **service.env).stdout)
        assert (listed["audience_name"], listed["source_names"]) == ("Spring customers", ["spring.csv"])
        assert listed["seconds"] >= 0
    assert len(json.loads(run("runs", "--since", "1d", "--json").stdout)) == 2
    assert json.loads(run("runs", "--since", "2999-01-01", "--json").stdout) == []
    assert run("runs", "--since", "yesterday").returncode == 2
    head = run("report", listed["run_id"]).stdout.splitlines()[:3]
    assert head[0] == f"Run {listed['run_id']}: update audience 'Spring customers' ({made['id']})"
    assert head[1] == "  list      spring.csv"
    assert head[2].startswith("  started   20")


def test_names_that_cannot_be_told_apart_are_refused(run: Run, service: Service, tmp_path: Path) -> None:
    """With the ids; nothing is read or sent."""
    source = write_list(tmp_path, 3)
    made = json.loads(run("audiences", "create", "Spring customers", "--json", **service.env).stdout)
    unknown = run("upload", source, "--audience", "Spring", **service.env)
    assert unknown.returncode == 2
    assert f"give an id, perhaps: {made['id']} 'Spring customers'" in unknown.stderr
    assert run("audiences", "show", "Spring customers", **service.env).stdout.startswith(made["id"])
    assert json.loads(run("runs", "--json").stdout) == []


def test_a_run_whose_destination_is_not_installed(run: Run, tmp_path: Path) -> None:
    """It is listed and shown, with its destination; `resume` says what is missing, and where to go on."""
    settings = load_settings({"AUDIENCEKIT_ACCOUNT_ID": "18ce54d4x5t"}, state_dir=tmp_path / "state", concurrency=1)
    with registered() as destination:
        destination.mailbox.script = [None, *[REVOKED] * 16]
        with pytest.raises(CredentialsRefused):
            asyncio.run(
                upload_to(
                    Target(destination, "m1"),
                    write_list(tmp_path, 1_500),
                    settings=settings,
                    limiter=Unlimited(),
                )
            )
    (listed,) = json.loads(run("runs", "--json").stdout)
    assert (listed["unknown_destination"], listed["resumable"]) == ("json_lines", False)
    assert run("runs").stdout.splitlines()[1].endswith("the destination json_lines is not installed")
    assert "the destination json_lines is not installed" in run("report", "last").stdout
    assert run("report", "last", "--html", "page.html").returncode == 0
    assert "The destination json_lines is not installed" in (tmp_path / "page.html").read_text()
    for command in (("resume", "last"), ("resume", "last", "--dry-run")):
        refused = run(*command, AUDIENCEKIT_ACCOUNT_ID="18ce54d4x5t")
        assert refused.returncode == 3
        assert f"run {listed['run_id']} goes to the destination `json_lines`" in refused.stderr
        assert "install the package that brings" in refused.stderr.splitlines()[-1]
    assert json.loads(run("runs", "--json").stdout) == [listed]
