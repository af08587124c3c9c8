"""The command line as people and programs use it: real processes against a real emulator process."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
Run = Callable[..., subprocess.CompletedProcess[str]]


@dataclass(frozen=True)
class Service:
    """What the emulator says in its one line."""

    process: subprocess.Popen[str]
    ready: dict[str, Any]

    def get(self, door: str) -> str:
        with urllib.request.urlopen(f"{self.ready['ads_url']}{door}") as answer:
            text: str = answer.read().decode()
            return text


def _environment(tmp_path: Path, **more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("AUDIENCEKIT_")}
    return {**kept, "AUDIENCEKIT_STATE_DIR": str(tmp_path / "state"), "PYTHONPATH": str(ROOT), **more}


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Runs `audiencekit` with these arguments in a directory of its own."""

    def call(*arguments: str, stdin: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "audiencekit", *arguments],
            input=stdin, capture_output=True, text=True, cwd=tmp_path, env=_environment(tmp_path, **environment),
            timeout=120, check=False,
        )  # fmt: skip

    return call


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    """`audiencekit emulator` in another process."""
    command = [sys.executable, "-m", "audiencekit", "emulator"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=_environment(tmp_path))
    assert process.stdout is not None
    yield Service(process, json.loads(process.stdout.readline()))
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=20) == 0
    process.stdout.close()


def _list(tmp_path: Path, text: str) -> str:
    path = tmp_path / "list.csv"
    path.write_text(text)
    return str(path)


def test_upload_report_and_runs_agree(run: Run, service: Service, tmp_path: Path) -> None:
    """One JSON document on stdout, kept and listed; the emulator has the people."""
    source = _list(tmp_path, "email\nada@example.com\nbo@example.com\nnull\n")
    done = run("upload", source, "--audience", service.ready["audience_id"], "--json", **service.ready["env"])
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["rows"] == {
        "read": 3, "sent": 2, "rejected": 1, "duplicate": 0, "superseded": 0, "suppressed": 0, "pending": 0,
    }  # fmt: skip
    assert report["reconciliation"] == {"records_sent": 2, "success_count": 2, "total_count": 2}
    assert json.loads(run("report", "last", "--json").stdout) == report
    assert json.loads(run("report", report["run_id"], "--json").stdout) == report
    (listed,) = json.loads(run("runs", "--json").stdout)
    assert (listed["run_id"], listed["state"]) == (report["run_id"], "complete")
    members = json.loads(service.get(f"/__members/{service.ready['audience_id']}"))
    sent = {member["keys"]["email"][0] for member in members["members"]}
    assert sent == {hashlib.sha256(name.encode()).hexdigest() for name in ("ada@example.com", "bo@example.com")}


def test_the_text_report_ends_with_the_state(run: Run, service: Service, tmp_path: Path) -> None:
    """For people; progress goes to stderr."""
    source = _list(tmp_path, "email\nada@example.com\n")
    done = run("upload", source, "--audience", service.ready["audience_id"], **service.ready["env"])
    assert done.stdout.splitlines()[-1] == "state: complete"
    assert "sending: 1 of 1 requests" in done.stderr


def test_audiences_live_and_die(run: Run, service: Service) -> None:
    """Create, list, show, delete; a deleted one is gone."""
    env = service.ready["env"]
    made = json.loads(run("audiences", "create", "Autumn", "--description", "People of autumn", "--json", **env).stdout)
    assert made["name"] == "Autumn"
    assert made["id"] in run("audiences", "list", **env).stdout
    assert json.loads(run("audiences", "show", made["id"], "--json", **env).stdout)["description"] == "People of autumn"
    assert run("audiences", "create", "Autumn", **env).returncode == 3
    waited = run("audiences", "wait", made["id"], "--timeout", "0s", **env)
    assert waited.returncode == 75
    assert "fewer than 100 people" in waited.stderr
    assert run("audiences", "delete", made["id"], **env).returncode == 2
    assert run("audiences", "delete", made["id"], "--yes", **env).returncode == 0
    gone = run("audiences", "show", made["id"], **env)
    assert (gone.returncode, f"account {env['AUDIENCEKIT_ACCOUNT_ID']}" in gone.stderr) == (3, True)
    assert "audiences list" in gone.stderr
    listed = json.loads(run("audiences", "list", "--with-deleted", "--json", **env).stdout)
    assert made["id"] in {audience["id"] for audience in listed if audience["deleted"]}


def test_prepare_writes_the_directory(run: Run, tmp_path: Path) -> None:
    """Records, manifest, rejections and bodies; only the owner can read them; it can be done again."""
    source = _list(tmp_path, "email,phone\nada@example.com,\nnull,\nbo@example.com,12\n")
    for _ in range(2):
        done = run("prepare", source, "--out", "out", "--requests", "--json", "--country", "DE")
        assert done.returncode == 0, done.stderr
    out = tmp_path / "out"
    assert sorted(path.name for path in out.iterdir()) == [
        "manifest.json", "records.parquet", "rejections.csv", "requests",
    ]  # fmt: skip
    manifest = json.loads((out / "manifest.json").read_text())
    (body,) = (out / "requests").iterdir()
    assert manifest["requests"] == [
        {"number": 1, "wave": 0, "records": 2, "operations": 2, "bytes": body.stat().st_size}
    ]
    assert {path.stat().st_mode & 0o077 for path in (out / "manifest.json", out / "records.parquet", body)} == {0}
    import pyarrow.parquet as pq

    table = pq.read_table(out / "records.parquet")
    assert table.column("row").to_pylist() == [1, 3]
    assert table.column("email").to_pylist()[0] == [hashlib.sha256(b"ada@example.com").hexdigest()]


def test_prepare_touches_no_foreign_directory(run: Run, tmp_path: Path) -> None:
    """A directory with something else in it is refused."""
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "letters.txt").write_text("dear")
    done = run("prepare", _list(tmp_path, "email\nada@example.com\n"), "--out", "out")
    assert done.returncode == 2
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["letters.txt"]


@pytest.mark.parametrize(
    ("kind", "options", "line", "expected"),
    [
        ("email", [], '" Ada@Example.com"', {"sha256": hashlib.sha256(b"ada@example.com").hexdigest()}),
        ("email", [], '"nonsense"', {"reason": "invalid_syntax"}),
        ("email", [], '""', {"reason": "empty"}),
        ("phone_number", ["--country", "GB"], '"020 7946 0958"', {
            "sha256": hashlib.sha256(b"+442079460958").hexdigest()}),
        ("phone_number", [], '"020 7946 0958"', {"reason": "no_country"}),
        ("handle", ["--show-normalized"], '"@Jack"', {
            "sha256": hashlib.sha256(b"jack").hexdigest(), "normalized": "jack"}),
        ("email", [], '"\\ud800@example.com"', {"reason": "invisible_character"}),
    ],
)  # fmt: skip
def test_hash_answers_line_by_line(
    run: Run, kind: str, options: list[str], line: str, expected: dict[str, str]
) -> None:
    """JSON strings in, one JSON object a line out."""
    done = run("hash", kind, *options, stdin=f"{line}\n{line}\n")
    assert [json.loads(answer) for answer in done.stdout.splitlines()] == [expected, expected]
    assert done.returncode == 0


def test_hash_refuses_what_is_no_json_string(run: Run) -> None:
    """The line is named, its content is not."""
    done = run("hash", "email", stdin='"ada@example.com"\nbo@example.com\n')
    assert done.returncode == 2
    assert "line 2" in done.stderr
    assert "bo@" not in done.stderr + done.stdout


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["upload", "list.csv"], 2),
        (["upload", "list.csv", "--audience", "abc"], 2),
        (["upload", "list.csv", "--audience", "../x"], 2),
        (["check", "missing.csv"], 3),
        (["check", "."], 3),
        (["check", "list.csv", "--map", "mail=x"], 2),
        (["check", "list.csv", "--map", "email=nowhere"], 3),
        (["check", "list.csv", "--country", "Atlantis"], 2),
        (["check", "list.csv", "--expires-at", "2001-01-01"], 2),
        (["check", "list.csv", "--operation", "update", "--operation-column", "email"], 2),
        (["report", "nonsense"], 2),
        (["resume", "nonsense"], 2),
        (["resume"], 2),
        (["hash", "partner_user_id"], 2),
        (["emulator", "--rate", "many"], 2),
        (["nonsense"], 2),
        (["check", "list.csv"], 0),
        (["runs"], 0),
    ],
)
def test_exit_codes(run: Run, tmp_path: Path, arguments: list[str], code: int) -> None:
    """As the contract has them; a failure says something on stderr and never a traceback."""
    _list(tmp_path, "email\nada@example.com\n")
    done = run(*arguments)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    assert bool(done.stderr) or code == 0


def test_missing_credentials_are_77(run: Run, tmp_path: Path) -> None:
    """They are named before the source is read."""
    source = _list(tmp_path, "email\nada@example.com\n")
    done = run("upload", source, "--audience", "abc", AUDIENCEKIT_PROFILE="x", AUDIENCEKIT_ACCOUNT_ID="abc")
    assert done.returncode == 77
    assert "AUDIENCEKIT_CONSUMER_KEY" in done.stderr


@pytest.mark.parametrize(
    ("address", "code"), [("http://ads.example.com", 3), ("https://ads.example.com", 3), ("http://127.0.0.1:9", 69)]
)
def test_addresses(run: Run, service: Service, tmp_path: Path, address: str, code: int) -> None:
    """Credentials go to the profile's hosts and loopback only; a service that is not there is 69."""
    source = _list(tmp_path, "email\nada@example.com\n")
    env = {**service.ready["env"], "AUDIENCEKIT_ADS_URL": address}
    done = run("audiences", "list", **env)
    assert done.returncode == code, done.stderr
    if code == 3:
        assert run("upload", source, "--audience", "abc", **env).returncode == 3


def test_a_refusal_is_json_too(run: Run, service: Service, tmp_path: Path) -> None:
    """Programs read why, and the counts, from stdout."""
    source = _list(tmp_path, "email\nnull\n")
    done = run("upload", source, "--audience", service.ready["audience_id"], "--json", **service.ready["env"])
    document = json.loads(done.stdout)
    assert (done.returncode, document["state"], document["rows"]["rejected"]) == (3, "refused", 1)
    assert document["error"]["type"] == "PlanRefused"
    done = run("check", source, "--json")
    assert (done.returncode, json.loads(done.stdout)["verdict"]) == (3, "refused")
    done = run("check", "missing.csv", "--json")
    assert (done.returncode, json.loads(done.stdout)["error"]["type"]) == (3, "SourceRefused")


def test_rejections_are_written_where_asked(run: Run, tmp_path: Path) -> None:
    """row, column, reason; and no value."""
    source = _list(tmp_path, "email\nada@example.com\nada at example\n")
    assert run("check", source, "--rejections", "why.csv").returncode == 0
    with (tmp_path / "why.csv").open(newline="") as file:
        assert list(csv.reader(file)) == [["row", "column", "reason"], ["2", "email", "invalid_syntax"]]


def test_the_demo_closes(run: Run) -> None:
    """Nothing to set up, and the sums are right."""
    done = run("demo", "--rows", "300", "--json")
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)["rows"]
    assert rows.pop("read") == 300 == sum(rows.values())
    assert rows["sent"] > 200


def test_the_demo_rehearses_a_bad_day(run: Run, tmp_path: Path) -> None:
    """Each fault that is met is told, what struck is counted, and nobody is missing in the end."""
    orders = [
        {"fault": 9, "nth": 2, "match": {"path": "*/users"}, "status": 504},
        {"fault": 13, "where": "after_apply", "nth": 4, "match": {"path": "*/users"}},
    ]
    (tmp_path / "day.json").write_text(json.dumps(orders))
    done = run("demo", "--rows", "200", "--faults", "day.json", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert (report["state"], report["requests"]["planned"] > 4) == ("complete", True)
    assert report["requests"]["attempts"] == report["requests"]["planned"] + 2
    assert "status 504" in done.stderr
    assert "faults that struck: 2" in done.stderr
    assert f"the service has {report['rows']['sent']} people" in done.stderr


def test_the_demo_of_a_day_that_ends_badly_says_so(run: Run) -> None:
    """A revoked token ends it with the code of an upload; a rehearsal that is none is a usage error."""
    done = run("demo", "--rows", "400", "--faults", "revoked")
    assert done.returncode == 77, done.stderr
    assert "faults that struck" in done.stderr
    done = run("demo", "--faults", "calm")
    assert (done.returncode, done.stdout) == (2, "")


def test_every_command_explains_itself(run: Run) -> None:
    """--help of each."""
    for command in (
        "",
        "demo",
        "check",
        "prepare",
        "upload",
        "hash",
        "report",
        "runs",
        "resume",
        "audiences",
        "flexible",
        "emulator",
    ):
        done = run(*filter(None, [command]), "--help")
        assert done.returncode == 0
        assert "Usage:" in done.stdout


def test_rejections_never_replace_the_source_or_what_is_no_file(run: Run, tmp_path: Path) -> None:
    """The list of customers stays as it was, and so does whatever a link points to."""
    source = _list(tmp_path, "email\nada@example.com\n")
    (tmp_path / "link.csv").symlink_to(tmp_path / "other.csv")
    (tmp_path / "again.csv").hardlink_to(source)
    os.mkfifo(tmp_path / "pipe")
    for target in ("list.csv", "again.csv", "link.csv", "pipe"):
        assert run("check", source, "--rejections", target).returncode == 2
    assert Path(source).read_text() == "email\nada@example.com\n"
    assert (tmp_path / "link.csv").is_symlink()
    assert not (tmp_path / "other.csv").exists()


def test_prepare_keeps_what_it_did_not_write_and_what_it_reads(run: Run, tmp_path: Path) -> None:
    """Foreign files, its own source, and an earlier result when the new source cannot be read."""
    source = _list(tmp_path, "email\nada@example.com\n")
    out = tmp_path / "out"
    assert run("prepare", source, "--out", "out", "--requests").returncode == 0
    before = {path.name: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    (tmp_path / "ragged.csv").write_text('email\n"ada@example.com\n')
    for arguments in (["missing.csv"], ["ragged.csv"], ["out/rejections.csv"]):
        assert run("prepare", *arguments, "--out", "out").returncode in (2, 3)
        assert {path.name: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before
    (out / "requests" / "precious.txt").write_text("mine")
    assert run("prepare", source, "--out", "out").returncode == 2
    assert (out / "requests" / "precious.txt").read_text() == "mine"
    (out / "requests" / "precious.txt").unlink()
    (out / ".preparing-0123").mkdir()
    assert run("prepare", source, "--out", "out").returncode == 0
    assert sorted(path.name for path in out.iterdir()) == ["manifest.json", "records.parquet", "rejections.csv"]


def test_a_refused_prepare_leaves_the_rejections_only(run: Run, tmp_path: Path) -> None:
    """And says why, as check does."""
    source = _list(tmp_path, "email\nnull\n")
    done = run("prepare", source, "--out", "out")
    assert done.returncode == 3
    assert "placeholder" in done.stderr
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["rejections.csv"]


@pytest.mark.parametrize("arguments", [["check", "list.csv"], ["check", "list.csv", "--json"], ["runs", "--json"]])
def test_output_that_nobody_takes_is_74(tmp_path: Path, arguments: list[str]) -> None:
    """A full disk is no bug of ours."""
    if not Path("/dev/full").is_char_device():
        pytest.skip("there is no /dev/full here")
    _list(tmp_path, "email\nada@example.com\n")
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "audiencekit", *arguments],
            stdout=full, stderr=subprocess.PIPE, text=True, cwd=tmp_path, env=_environment(tmp_path), check=False,
        )  # fmt: skip
    assert done.returncode == 74, done.stderr
    assert "stdout" in done.stderr
    assert "bug" not in done.stderr


@pytest.mark.parametrize(
    "option",
    [
        ["--ttl-days", "3000000"],
        ["--plan-time", "9999-12-31T00:00:00Z"],
        ["--expires-at", "0001-01-01T00:00:00+14:00"],
    ],
)
def test_times_beyond_the_calendar_are_usage(run: Run, tmp_path: Path, option: list[str]) -> None:
    """Not bugs."""
    assert run("check", _list(tmp_path, "email\nada@example.com\n"), *option).returncode == 2


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupted_upload_says_how_far_it_came(service: Service, tmp_path: Path, ending: signal.Signals) -> None:
    """What is under way is finished, nothing more is sent, the report is kept, and the exit code is 75."""
    source = _list(tmp_path, "email\n" + "".join(f"person{number}@example.com\n" for number in range(130_000)))
    command = [sys.executable, "-m", "audiencekit", "upload", source, "--audience", service.ready["audience_id"]]
    process = subprocess.Popen(
        [*command, "--json", "--requests-per-minute", "1"],
        env=_environment(tmp_path, **service.ready["env"]), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stderr is not None
    while "sending" not in process.stderr.readline():
        assert process.poll() is None
    process.send_signal(ending)
    out, _ = process.communicate(timeout=60)
    report = json.loads(out)
    assert process.returncode == 75
    assert (report["state"], report["requests"]["confirmed"], report["requests"]["planned"]) == ("incomplete", 1, 3)
    assert report["rows"]["sent"] + report["rows"]["pending"] == 130_000
    assert report["finished_at"] is not None
    assert report["reconciliation"]["success_count"] == report["rows"]["sent"] > 60_000


def _begin(service: Service, tmp_path: Path, *options: str) -> subprocess.Popen[str]:
    """An upload of three requests that has had its first one confirmed."""
    source = _list(tmp_path, "email\n" + "".join(f"person{number}@example.com\n" for number in range(130_000)))
    command = [sys.executable, "-m", "audiencekit", "upload", source, "--audience", service.ready["audience_id"]]
    process = subprocess.Popen(
        [*command, "--requests-per-minute", "1", *options],
        env=_environment(tmp_path, **service.ready["env"]), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stderr is not None
    while "sending" not in process.stderr.readline():
        assert process.poll() is None
    return process


def test_a_killed_upload_is_shown_and_resumed(run: Run, service: Service, tmp_path: Path) -> None:
    """The report counts what was confirmed before the kill; resuming from anywhere sends the rest, once."""
    process = _begin(service, tmp_path)
    process.kill()
    process.communicate()
    (listed,) = json.loads(run("runs", "--json").stdout)
    assert (listed["state"], listed["resumable"], listed["running"]) == ("incomplete", True, False)
    assert run("runs").stdout.rstrip().endswith("resumable")
    kept = json.loads(run("report", "--json").stdout)
    assert (kept["requests"]["confirmed"], kept["rows"]["pending"]) == (1, 130_000 - kept["rows"]["sent"])
    _forget_the_pace(tmp_path)
    done = run("resume", listed["run_id"][:-2], **service.ready["env"])
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "state: complete"
    assert "confirmed   3 of 3 planned, 3 attempts" in done.stdout
    assert json.loads(service.get(f"/__members/{service.ready['audience_id']}"))["count"] == 130_000
    again = run("resume", "--json")
    assert (again.returncode, json.loads(again.stdout)["state"]) == (0, "complete")
    assert "nothing is left to send" in again.stderr
    assert len([entry for entry in json.loads(service.get("/__requests")) if entry["path"].endswith("/users")]) == 3


def _forget_the_pace(tmp_path: Path) -> None:
    """At one request a minute the next may leave in a minute; nobody has to see that."""
    shutil.rmtree(tmp_path / "state" / "limiter")


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


def test_the_second_signal_stops_at_once(run: Run, service: Service, tmp_path: Path) -> None:
    """The first waits for an answer that does not come; the last line names the state, and nothing is lost."""
    source = _list(tmp_path, "email\nada@example.com\n")
    os.kill(service.process.pid, signal.SIGSTOP)
    command = [sys.executable, "-m", "audiencekit", "upload", source, "--audience", service.ready["audience_id"]]
    process = subprocess.Popen(
        command, env=_environment(tmp_path, **service.ready["env"]), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    while not _is_something_under_way(tmp_path):
        assert process.poll() is None
    assert process.stderr is not None
    process.send_signal(signal.SIGTERM)
    while "once more stops now" not in process.stderr.readline():
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    os.kill(service.process.pid, signal.SIGCONT)
    assert process.returncode == 75, err
    assert "stopped at once" in err
    assert "audiencekit resume" in err
    assert "Traceback" not in err
    assert out.splitlines()[-1] == "state: incomplete"
    done = run("resume", "--json", **service.ready["env"])
    assert (done.returncode, json.loads(done.stdout)["requests"]["attempts"]) == (0, 2)


def test_an_upload_that_meets_another_leaves_with_75(run: Run, service: Service, tmp_path: Path) -> None:
    """So does resuming a run that is at work; the one that is at work goes on."""
    process = _begin(service, tmp_path, "--json")
    (listed,) = json.loads(run("runs", "--json").stdout)
    other = run("upload", "list.csv", "--audience", service.ready["audience_id"], "--json", **service.ready["env"])
    assert (other.returncode, json.loads(other.stdout)["error"]["type"]) == (75, "AudienceBusy")
    assert listed["run_id"] in other.stderr
    assert str(process.pid) in other.stderr
    assert run("resume", **service.ready["env"]).returncode == 75
    process.send_signal(signal.SIGTERM)
    out, _ = process.communicate(timeout=60)
    assert json.loads(out)["state"] == "incomplete"
    _forget_the_pace(tmp_path)
    assert run("resume", **service.ready["env"]).returncode == 0


def test_a_state_directory_that_cannot_be_used_is_said_first(run: Run, service: Service, tmp_path: Path) -> None:
    """Before the source is read, and before the first request."""
    (tmp_path / "state").write_text("not a directory")
    done = run("upload", "missing.csv", "--audience", service.ready["audience_id"], **service.ready["env"])
    assert done.returncode == 74
    assert str(tmp_path / "state") in done.stderr
    assert "what to do" in done.stderr
    assert json.loads(service.get("/__requests")) == []


def test_hash_answers_blank_lines_too(run: Run) -> None:
    """As many answers as lines, so that they stay side by side."""
    done = run("hash", "handle", stdin='"@ada"\n\n"@bo"\n')
    assert [list(json.loads(line)) for line in done.stdout.splitlines()] == [["sha256"], ["reason"], ["sha256"]]


def test_membership_of_a_real_list_equals_an_independent_computation(run: Run, service: Service, shared: Path) -> None:
    """`emulator` in one process and `upload` in another: every email and phone of ca-500, hashed, and nothing else."""
    (path,) = (shared / "corpora/csv/contacts").glob("*ca-500.csv")
    done = run(
        "upload", str(path), "--audience", service.ready["audience_id"], "--country", "CA", **service.ready["env"]
    )
    assert done.returncode == 0, done.stderr
    expected = set()
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            texts = [("email", row["email"].strip().lower())]
            texts += [("phone_number", f"+1{row[name].replace('-', '')}") for name in ("phone1", "phone2")]
            expected.add(frozenset((kind, hashlib.sha256(text.encode()).hexdigest()) for kind, text in texts))
    users = [user for line in service.get("/__log").splitlines() for user in json.loads(line)["users"]]
    sent = [frozenset((kind, value) for kind, values in user.items() for value in values) for user in users]
    assert len(sent) == 500
    assert set(sent) == expected


def test_several_files_are_one_source(run: Run, service: Service, tmp_path: Path) -> None:
    """Rows run on, the report says which are whose, and the text does, too."""
    for name, people in (("one.csv", "ada@example.com\nnull\n"), ("two.csv", "null\nbo@example.com\n")):
        (tmp_path / name).write_text(f"email\n{people}")
    audience = service.ready["audience_id"]
    done = run("upload", "one.csv", "two.csv", "--audience", audience, "--json", **service.ready["env"])
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert [(part["name"], part["first_row"], part["rows"]) for part in report["sources"]] == [
        ("one.csv", 1, 2),
        ("two.csv", 3, 2),
    ]
    with (tmp_path / "state/runs" / report["run_id"] / "rejections.csv").open(newline="") as file:
        assert list(csv.reader(file)) == [
            ["row", "column", "reason"],
            ["2", "email", "placeholder"],
            ["3", "email", "placeholder"],
        ]
    assert len(json.loads(service.get(f"/__members/{audience}"))) == 2
    shown = run("check", "one.csv", "two.csv").stdout
    assert "one.csv  rows 1 to 2\n  two.csv  rows 3 to 4" in shown


@pytest.mark.parametrize("data", ["email\nada@example.com\n", '{"email":"ada@example.com"}\n'])
def test_standard_input_is_a_source(run: Run, data: str) -> None:
    """A dash, and what is piped in."""
    done = run("check", "-", "--json", stdin=data)
    assert done.returncode == 0, done.stderr
    plan = json.loads(done.stdout)
    assert (plan["rows"]["pending"], plan["sources"][0]["name"]) == (1, "standard input")
    assert plan["sources"][0]["repeatable"] is False


def test_a_query_is_a_source(run: Run, tmp_path: Path) -> None:
    """From a file; a query on the command line is refused, where everybody would see it."""
    source = _list(tmp_path, "Name,Mail\nAda,ada@example.com\nBo,bo@example.com\n")
    (tmp_path / "query.sql").write_text("SELECT Mail AS email FROM source WHERE Name = 'Ada'")
    done = run("check", source, "--sql", "@query.sql", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["rows"]["read"] == 1
    for wrong in ("SELECT Mail FROM source", "@nothing.sql", "@."):
        assert run("check", source, "--sql", wrong).returncode == 2
    (tmp_path / "query.sql").write_text("DROP TABLE source")
    assert run("check", source, "--sql", "@query.sql").returncode == 2


def test_no_file_of_the_source_is_written_over(run: Run, tmp_path: Path) -> None:
    """Neither by rejections nor by what is prepared, whichever of the files it is."""
    (tmp_path / "out").mkdir()
    for name in ("one.csv", "out/two.csv"):
        (tmp_path / name).write_text(f"email\n{len(name)}@example.com\n")
    assert run("check", "one.csv", "out/two.csv", "--rejections", "out/two.csv").returncode == 2
    assert run("prepare", "one.csv", "out/two.csv", "--out", "out").returncode == 2
    assert (tmp_path / "out/two.csv").read_text() == "email\n11@example.com\n"


def test_any_endpoint_is_called_by_its_name(run: Run, service: Service) -> None:
    """An audience lives, gets a person and dies by `api` alone, in the emulator's own process."""
    env = service.ready["env"]
    made = json.loads(run("api", "create_custom_audience", "name=Köln & co", **env).stdout)
    assert made["name"] == "Köln & co"
    assert (
        json.loads(run("api", "list_custom_audiences", "q=kö", "count=1", "--all", **env).stdout)[0]["id"] == made["id"]
    )
    person = hashlib.sha256(b"ada@example.com").hexdigest()
    body = json.dumps([{"operation_type": "Update", "params": {"users": [{"email": [person]}]}}])
    where = f"custom_audience_id={made['id']}"
    done = run("api", "add_custom_audience_users", where, "--body", "-", stdin=body, **env)
    assert json.loads(done.stdout) == {"success_count": 1, "total_count": 1}
    assert len(json.loads(service.get(f"/__members/{made['id']}"))["members"]) == 1
    clear = run("api", "add_custom_audience_users", where, "--body", "-", stdin=body.replace(person, "ada@x.y"), **env)
    assert clear.returncode == 2
    assert "ada@x.y" not in clear.stderr
    assert run("api", "delete_custom_audience", where, **env).returncode == 0
    assert run("api", "get_custom_audience", where, **env).returncode == 3
    assert run("api", "get_custom_audience", where, "with_deleted=true", **env).returncode == 0
