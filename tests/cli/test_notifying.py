"""`--notify`, the ping, the status file, and the watch over nights, by real commands and a receiver on loopback."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from audiencekit.audiences.setups.one_audience import AudienceResult
from audiencekit.audiences.setups.setup import AudienceSetup
from audiencekit.cli.notifying import Notifying
from audiencekit.errors import NotFinished
from audiencekit.settings import load_settings
from tests.canary.markers import DIGITS, WORD, leaks
from tests.cli.conftest import OF_FIFTY, Begin, Run, Service, forget_the_pace, write_list
from tests.moments import PATIENCE_SECONDS
from tests.notifications.localreceiver import LocalReceiver, local_receiver

SECRET = "0123456789abcdef-s3cret"


@pytest.fixture
def receiver() -> Iterator[LocalReceiver]:
    with local_receiver() as found:
        yield found


@pytest.fixture
def told(service: Service, receiver: LocalReceiver) -> dict[str, str]:
    """The environment of a command whose end is told."""
    return {**service.env, "AUDIENCEKIT_NOTIFY_URL": receiver.url, "AUDIENCEKIT_NOTIFY_SECRET": SECRET}


def test_each_command_that_sends_tells_how_it_ended(
    run: Run, service: Service, told: dict[str, str], receiver: LocalReceiver, tmp_path: Path
) -> None:
    """Also one that is refused before it has a run; a good one tells nothing, and the exit codes are as before."""
    where, source = ("--audience", service.audience_id), write_list(tmp_path, 40)
    commands = {
        ("upload", "missing.csv", *where): (3, "upload"),
        ("upload", source, *where, "--account", "none"): (77, "upload"),
        ("sync", "missing.csv", *where): (3, "sync"),
        ("renew", *where): (3, "renew"),
        ("do-not-reach", "upload", "missing.csv"): (3, "do-not-reach upload"),
        ("forget", "--from", "missing.csv"): (3, "forget"),
        ("upload", source, *where): (0, None),
    }
    for words, (code, command) in commands.items():
        receiver.bodies.clear()
        done = run(*words, **told)
        assert done.returncode == code, (words, done.stderr)
        assert "s3cret" not in done.stdout + done.stderr
        found = [json.loads(body) for body in receiver.bodies]
        if command is not None:
            assert [(each["command"], each["exit_code"]) for each in found] == [(command, done.returncode)], words
    assert [notice["rule"] for each in found for notice in each["notices"]] == ["recovered"]
    assert all(headers["Audiencekit-Signature"].startswith("t=") for headers in receiver.headers)


@pytest.mark.slow
def test_a_killed_upload_is_told_by_the_next_command(
    run: Run, begin_slowly: Begin, service: Service, told: dict[str, str], receiver: LocalReceiver, tmp_path: Path
) -> None:
    """Of a real process, which had sent a part; once."""
    where, source = ("--audience", service.audience_id), write_list(tmp_path)
    process = begin_slowly("upload", source, *where, *OF_FIFTY, "--run-id", "killed-run", **told)
    process.kill()
    process.communicate(timeout=PATIENCE_SECONDS)
    forget_the_pace(tmp_path)
    lines = (tmp_path / "list.csv").read_text().splitlines()
    assert receiver.bodies == []
    for _ in range(2):
        assert run("upload", write_list(tmp_path, 40), *where, **told).returncode == 0
    assert [each for each in receiver.notices if each[0] == "killed-run"] == [("killed-run", "killed")]
    assert [rule for _, rule in receiver.notices] == ["recovered", "killed"]
    (document,) = [json.loads(body) for body in receiver.bodies if b'"killed"' in body]
    assert document["rows"]["sent"] == 50
    assert document["exit_code"] is None
    (tmp_path / "list.csv").write_text("".join(f"{line}\n" for line in lines))
    assert run("resume", "killed-run", **told).returncode == 0
    assert receiver.notices[-1] == ("killed-run", "recovered")


def test_a_receiver_that_is_dead_changes_no_exit_code(
    run: Run, service: Service, told: dict[str, str], receiver: LocalReceiver, tmp_path: Path
) -> None:
    """It is said on stderr, and the JSON on stdout is one document all the same."""
    receiver.way = "drop"
    done = run("upload", "missing.csv", "--audience", service.audience_id, "--json", **told)
    assert done.returncode == 3
    assert json.loads(done.stdout)["state"] == "refused"
    assert "warning: the notification to env was not delivered: " in done.stderr
    done = run(
        "upload",
        write_list(tmp_path, 40),
        "--audience",
        service.audience_id,
        "-q",
        "--notify-on",
        "expiry=500d",
        **told,
    )
    assert done.returncode == 0
    assert "s3cret" not in done.stderr


def test_a_wrong_receiver_is_refused_before_anything_is_sent(
    run: Run, service: Service, receiver: LocalReceiver, tmp_path: Path
) -> None:
    given = ("upload", write_list(tmp_path, 40), "--audience", service.audience_id)
    for options, variables in (
        (("--notify", "unknown"), {}),
        (("--notify-on", "empty"), {}),
        (("--notify-on", "odd"), {"AUDIENCEKIT_NOTIFY_URL": receiver.url}),
        ((), {"AUDIENCEKIT_NOTIFY_URL": "http://hooks.example.com/s3cret"}),
        ((), {"AUDIENCEKIT_PING_URL": "http://hooks.example.com/s3cret"}),
    ):
        done = run(*given, *options, **service.env, **variables)
        assert done.returncode == 2, (options, done.stderr)
        assert "s3cret" not in done.stderr
    assert json.loads(run("runs", "--json", **service.env).stdout) == []


def test_a_setup_names_receivers_and_rules(
    run: Run, service: Service, told: dict[str, str], receiver: LocalReceiver, tmp_path: Path
) -> None:
    """Each audience has its own; `--notify` comes before them, and no audience without a receiver is told of."""
    write_list(tmp_path, 40)
    url = tmp_path / "url"
    url.write_text(receiver.url.replace("/hook", "/night"))
    url.chmod(0o600)
    settings = tmp_path / "state-settings" / "audiencekit"
    settings.mkdir(parents=True, mode=0o700)
    settings.parent.chmod(0o700)
    (settings / "settings.toml").write_text(f'form = 1\n[notify.night]\nurl_file = "{url}"\n')
    audience = f'list = "all"\naudience = "{service.audience_id}"\n'
    (tmp_path / "setup.toml").write_text(
        f'[lists.all]\nsource = "list.csv"\n[audiences.one]\n{audience}notify = "night"\nnotify_on = ["expiry=500d"]\n'
    )
    done = run("run", "one", "--setup", "setup.toml", **service.env)
    assert done.returncode == 0, done.stderr
    done = run("run", "one", "--setup", "setup.toml", "--notify", "env", **told)
    assert done.returncode == 0, done.stderr
    assert [path.split("/")[1] for path in receiver.paths] == ["night", "hook"]
    assert [rule for _, rule in receiver.notices] == ["expiry", "expiry"]
    assert {json.loads(body)["command"] for body in receiver.bodies} == {"sync"}
    done = run("run", "--all", "--setup", "missing.toml", **told)
    assert (done.returncode, json.loads(receiver.bodies[-1])["state"]) == (74, "incomplete")


def test_a_program_and_a_ping_are_told(run: Run, service: Service, receiver: LocalReceiver, tmp_path: Path) -> None:
    """The program has the document and no variable of ours; the ping is called by a good command alone."""
    code = "import os, sys; open(sys.argv[1], 'w').write(sys.stdin.read() + ' '.join(os.environ))"
    program = shlex.join([sys.executable, "-c", code, f"{tmp_path}/got"])
    given = {**service.env, "AUDIENCEKIT_NOTIFY_COMMAND": program, "AUDIENCEKIT_PING_URL": receiver.url}
    assert run("upload", "missing.csv", "--audience", service.audience_id, **given).returncode == 3
    assert receiver.paths == []
    got = (tmp_path / "got").read_text()
    assert '"rule":"refused"' in got
    assert "AUDIENCEKIT_" not in got
    assert run("upload", write_list(tmp_path, 40), "--audience", service.audience_id, **given).returncode == 0
    assert receiver.paths == ["GET /hook/s3cret-path?sig=s3cret-query"]


def test_no_notification_holds_anything_of_a_person(
    run: Run, service: Service, told: dict[str, str], receiver: LocalReceiver, tmp_path: Path
) -> None:
    """Markers stand in cells, in the header and in the name of the file; the secret is nowhere in the state."""
    path = tmp_path / f"{WORD}@example.com.csv"
    rows = "".join(f"{WORD}{number}@example.com,+1201{DIGITS},{WORD}\n" for number in range(30))
    path.write_text(f"email,phone,{WORD}@example.com\n{rows}broken-{WORD},,\n")
    rules = ("--notify-on", "expiry=500d", "--notify-on", "rejected=0")
    for more in ((), ("--max-rejected-share", "0")):
        run("upload", str(path), "--audience", service.audience_id, *rules, *more, **told)
    assert len(receiver.bodies) == 2
    assert [leaks(body) for body in receiver.bodies] == [[], []]
    assert all((json.loads(body)["rows"] or {}).get("rejected") is None for body in receiver.bodies)
    kept = b"".join(each.read_bytes() for each in (tmp_path / "state").rglob("*") if each.is_file())
    assert b"s3cret" not in kept


def test_the_status_file_says_how_far_a_command_is(
    run: Run, begin_slowly: Begin, service: Service, tmp_path: Path
) -> None:
    """A killed one is marked by no end; the next command replaces it."""
    path = tmp_path / "status.json"
    given = {**service.env, "AUDIENCEKIT_STATUS_FILE": str(path)}
    where = ("--audience", service.audience_id)
    process = begin_slowly("upload", write_list(tmp_path), *where, *OF_FIFTY, **given)
    found: dict[str, Any] = json.loads(path.read_text())
    process.kill()
    process.communicate(timeout=PATIENCE_SECONDS)
    assert (found["state"], found["command"], found["process_id"]) == ("running", "upload", process.pid)
    assert json.loads(path.read_text())["state"] == "running"
    assert run("upload", "missing.csv", *where, **given).returncode == 3
    assert [json.loads(path.read_text())[name] for name in ("state", "exit_code")] == ["refused", 3]


def test_a_missing_or_failed_night_is_told_by_the_exit_code(run: Run, service: Service, tmp_path: Path) -> None:
    """3 for a failed run and for none at all, of all audiences or of one; 0 for a night that was good."""
    watch, where = ("runs", "--since", "24h", "--failed"), ("--audience", service.audience_id)
    assert run("runs", "--failed").returncode == 2
    done = run(*watch, **service.env)
    assert (done.returncode, done.stdout) == (3, "")
    assert "no run was begun since 24h" in done.stderr
    assert run("upload", write_list(tmp_path, 40), *where, **service.env).returncode == 0
    assert run(*watch, **service.env).returncode == 0
    assert run(*watch, *where, **service.env).returncode == 0
    assert run(*watch, "--audience", "other1", **service.env).returncode == 3
    assert run("upload", "missing.csv", *where, **service.env).returncode == 3
    done = run(*watch, "--json", **service.env)
    assert (done.returncode, [each["state"] for each in json.loads(done.stdout)]) == (3, ["refused"])


@pytest.fixture
def notifying(receiver: LocalReceiver, tmp_path: Path) -> Notifying:
    """Of a command in this process."""
    given = {"AUDIENCEKIT_NOTIFY_URL": receiver.url}
    settings = load_settings(given, directory=None, user_file=False, state_dir=tmp_path / "state")
    return Notifying.of(settings, "upload", None)


def test_a_bug_is_told_and_raised(notifying: Notifying, receiver: LocalReceiver) -> None:
    """Without its message, which may be anything."""
    with pytest.raises(ZeroDivisionError), notifying.telling_failure("h1ab2"):
        raise ZeroDivisionError(f"{WORD}@example.com")
    (found,) = [json.loads(body) for body in receiver.bodies]
    assert (found["state"], found["exit_code"], found["error"], found["target"]["id"]) == (
        "incomplete", 1, "Bug", "h1ab2",
    )  # fmt: skip
    assert leaks(receiver.bodies[0]) == []


def test_an_audience_of_a_setup_that_was_not_begun_is_told(notifying: Notifying, receiver: LocalReceiver) -> None:
    setup = AudienceSetup(name="night", command="sync", sources=(Path("list.csv"),), audience="h1ab2")
    notifying.tell_results([(notifying, AudienceResult(setup=setup, account_id="abc"))], NotFinished("interrupted"))
    assert receiver.notices == [(None, "failed")]
    assert json.loads(receiver.bodies[0])["exit_code"] == 75
