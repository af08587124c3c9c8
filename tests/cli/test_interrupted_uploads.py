"""Uploads that are interrupted, killed, or meet another one."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import time
from pathlib import Path

import pytest

from tests.cli.conftest import OF_FIFTY, THREE_REQUESTS, Begin, Run, Service, forget_the_pace, write_list
from tests.moments import PATIENCE_SECONDS
from tests.processes import COMMAND, PIPE, Process, default_signals, environment
from tests.shortened import shortened


@pytest.fixture
def begin_upload(begin_slowly: Begin, service: Service, tmp_path: Path) -> Begin:
    """An upload that has had the first of its three requests confirmed."""

    def begun(*options: str) -> Process:
        source = write_list(tmp_path)
        return begin_slowly("upload", source, "--audience", service.audience_id, *OF_FIFTY, *options, **service.env)

    return begun


@pytest.mark.parametrize(
    ("ending", "options"),
    shortened([(signal.SIGINT, ()), (signal.SIGTERM, ("--json",)), (signal.SIGHUP, ("--json",))], 2),
)
def test_an_interrupted_upload_says_how_far_it_came(
    run: Run, begin_upload: Begin, ending: signal.Signals, options: tuple[str, ...]
) -> None:
    """Requests under way are finished, no more are sent, the report is kept, and the exit code is 75.

    The way to go on is the last line, below the report: it is seen in a file that takes both streams, too.
    """
    process = begin_upload(*options)
    process.send_signal(ending)
    out, err = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 75
    last = err.splitlines()[-1]
    assert (last.startswith("  what to do: "), "`audiencekit resume " in last) == (True, True)
    assert options or out.splitlines()[-1] == "state: incomplete"
    report = json.loads(out if options else run("report", "--json").stdout)
    assert (report["state"], report["requests"]["confirmed"], report["requests"]["planned"]) == ("incomplete", 1, 3)
    assert (report["rows"]["sent"], report["rows"]["pending"]) == (50, 100)
    assert report["finished_at"] is not None
    assert report["reconciliation"]["success_count"] == 50


@pytest.mark.parametrize("options", [("-",), ("list.csv", "--suppress", "-")], ids=["source", "suppression"])
def test_an_upload_that_waits_for_its_input_is_interrupted(
    begin: Begin, service: Service, tmp_path: Path, options: tuple[str, ...]
) -> None:
    """A program that pipes nothing into it, and does not end either, does not keep it."""
    write_list(tmp_path, 1)
    waited_for, idle = os.pipe()
    process = begin("upload", *options, "--audience", service.audience_id, stdin=waited_for, **service.env)
    os.close(waited_for)
    while not list(tmp_path.glob("state/runs/*/*")):
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=PATIENCE_SECONDS)
    os.close(idle)
    assert (process.returncode, out.splitlines()[-1]) == (75, "state: incomplete")
    assert "interrupted while the source was read: nothing was sent" in err


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("nohup") is None, reason="there is no nohup")
def test_an_upload_under_nohup_survives_a_hangup(service: Service, tmp_path: Path) -> None:
    """In a process that is not forked: `nohup` begins it. The hangup comes while it reads its list."""
    with subprocess.Popen(
        ["nohup", *COMMAND, "upload", "-", "--audience", service.audience_id, "--json"], preexec_fn=default_signals,
        cwd=tmp_path, env=environment(tmp_path / "state", service.env), stdin=PIPE, stdout=PIPE, text=True,
    ) as process:  # fmt: skip
        while not list(tmp_path.glob("state/runs/*/*")):
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGHUP)
        out, _ = process.communicate("email\nada@example.com\n", timeout=PATIENCE_SECONDS)
    assert (process.returncode, json.loads(out)["state"]) == (0, "complete")
    assert service.members() == 1


def test_a_killed_upload_is_shown_and_resumed(run: Run, begin_upload: Begin, service: Service, tmp_path: Path) -> None:
    """The report counts what was confirmed before the kill; resuming from anywhere sends the rest, once."""
    process = begin_upload()
    process.kill()
    process.communicate()
    (listed,) = json.loads(run("runs", "--json").stdout)
    assert (listed["state"], listed["resumable"], listed["running"]) == ("incomplete", True, False)
    assert run("runs").stdout.rstrip().endswith("resumable")
    kept = json.loads(run("report", "--json").stdout)
    assert (kept["requests"]["confirmed"], kept["rows"]["pending"]) == (1, 100)
    forget_the_pace(tmp_path)
    done = run("resume", listed["run_id"][:-2], **service.env)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "state: complete"
    assert "150 of 150 people reached, 100.0%" in done.stdout
    assert "confirmed   3 of 3 planned, 3 attempts" in run("report").stdout
    assert json.loads(service.get(f"/__members/{service.ready['audience_id']}"))["count"] == THREE_REQUESTS
    again = run("resume", listed["run_id"], "--json")
    assert (again.returncode, json.loads(again.stdout)["state"]) == (0, "complete")
    assert "nothing is left to send" in again.stderr
    assert len([entry for entry in json.loads(service.get("/__requests")) if entry["path"].endswith("/users")]) == 3


def _is_something_under_way(tmp_path: Path) -> bool:
    """Whether a journal says so."""
    for path in (tmp_path / "state" / "runs").glob("*/journal.sqlite"):
        connection = sqlite3.connect(path, timeout=10)
        try:
            return bool(connection.execute("SELECT count(*) FROM requests WHERE state = 'intended'").fetchone()[0])
        except sqlite3.OperationalError:
            return False
        finally:
            connection.close()
    return False


def test_the_second_signal_stops_at_once(run: Run, begin: Begin, service: Service, tmp_path: Path) -> None:
    """The first waits for an answer that does not come; the last line names the state, and nothing is lost."""
    source = write_list(tmp_path, 1)
    service.order({"fault": 28, "match": {"path": "*/users"}})
    process = begin("upload", source, "--audience", service.audience_id, **service.env)
    while not _is_something_under_way(tmp_path):
        assert process.poll() is None
    assert process.stderr is not None
    process.send_signal(signal.SIGTERM)
    while "Ctrl-C again stops at once" not in process.stderr.readline():
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 75, err
    assert "stopped at once" in err
    assert "audiencekit resume" in err
    assert "Traceback" not in err
    assert out.splitlines()[-1] == "state: incomplete"
    done = run("resume", "--json", **service.env)
    assert (done.returncode, json.loads(done.stdout)["requests"]["attempts"]) == (0, 2)


@pytest.mark.parametrize(
    ("nth", "words", "resumed"),
    [(1, "interrupted before the source was read", 2), (2, "interrupted before anything was sent", 0)],
)
def test_a_signal_while_the_audience_is_asked_for_ends_it_at_once(
    run: Run, begin: Begin, service: Service, tmp_path: Path, nth: int, words: str, resumed: int
) -> None:
    """The first time, when nothing was read yet and no run begun; and the second, when the run can be resumed."""
    source = write_list(tmp_path, 1)
    service.order({"fault": 28, "nth": nth, "match": {"method": "GET", "path": "*/custom_audiences/*"}})
    process = begin("upload", source, "--audience", service.audience_id, **service.env)
    while service.get("/__requests").count("/custom_audiences/") < nth and process.poll() is None:
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 75, err
    assert words in err
    assert not _is_something_under_way(tmp_path)
    assert run("resume", **service.env).returncode == resumed


def test_an_upload_that_meets_another_leaves_with_75(
    run: Run, begin_upload: Begin, service: Service, tmp_path: Path
) -> None:
    """So does resuming a run that is at work; the one that is at work goes on."""
    process = begin_upload("--json")
    (listed,) = json.loads(run("runs", "--json").stdout)
    other = run("upload", "list.csv", "--audience", service.audience_id, "--json", **service.env)
    assert (other.returncode, json.loads(other.stdout)["error"]["type"]) == (75, "AudienceBusy")
    assert listed["run_id"] in other.stderr
    assert str(process.pid) in other.stderr
    assert run("resume", **service.env).returncode == 75
    process.send_signal(signal.SIGTERM)
    out, _ = process.communicate(timeout=PATIENCE_SECONDS)
    assert json.loads(out)["state"] == "incomplete"
    forget_the_pace(tmp_path)
    assert run("resume", **service.env).returncode == 0
