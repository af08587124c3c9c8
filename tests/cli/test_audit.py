"""`audit`: everything that is done to people is in the log, without the people, and the log can be verified."""

from __future__ import annotations

import hashlib
import json
import runpy
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from audiencekit.audiences.runs import PurgeOrder, plan_purge, purge
from audiencekit.settings import load_settings
from tests.cli.conftest import Begin, Run, Service
from tests.processes import ROOT

PEOPLE = "email\nzz.a@canarymail.com\nzz.b@canarymail.com\nnone\n"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "list.csv").write_text(PEOPLE)
    (tmp_path / "one.csv").write_text("email\nzz.a@canarymail.com\n")
    return tmp_path


def _entries(run: Run, *options: str) -> list[dict[str, Any]]:
    shown = run("audit", "show", *options)
    assert shown.returncode == 0, shown.stderr
    return [json.loads(line) for line in shown.stdout.splitlines()]


def _told(entries: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(entry["command"], entry["step"]) for entry in entries]


def test_each_run_is_in_the_log_with_the_counts_of_its_report(run: Run, service: Service, files: Path) -> None:
    """Before its first request, and at its end; a check and a dry run are not."""
    options = ("--max-rejected-share", "1", "--max-rejected-column-share", "1", "--json")
    run("check", "list.csv", *options)
    run("upload", "list.csv", "--audience", service.audience_id, "--dry-run", *options, **service.env)
    reports = [
        json.loads(run(*arguments, *more, *options, **service.env).stdout)
        for arguments, more in (
            (("upload", "list.csv"), ("--audience", service.audience_id)),
            (("sync", "list.csv"), ("--audience", service.audience_id)),
            (("do-not-reach", "upload", "one.csv"), ()),
        )
    ]
    renewed = run("renew", "--audience", service.audience_id, "--json", **service.env)
    reports.append(json.loads(renewed.stdout))
    entries = _entries(run)
    assert _told(entries) == [
        (command, step) for command in ("upload", "sync", "upload", "renew") for step in ("begun", "ended")
    ]
    for report, begun, ended in zip(reports, entries[::2], entries[1::2], strict=True):
        assert begun["of"] == ended["of"] == report["run_id"]
        assert (begun["target"], begun["account"]) == (report["target"], service.env["AUDIENCEKIT_ACCOUNT_ID"])
        assert begun["planned"]["requests"] == report["requests"]["planned"]
        assert (ended["state"], ended["rows"]) == (report["state"], report["rows"])
        assert {name: ended[name] for name in report["reconciliation"]} == report["reconciliation"]
    lists = [entry["list"] for entry in entries[::2]]
    assert lists[0] == lists[1] != lists[2]
    assert (lists[0]["over"], lists[3]) == ("bytes", None)


def test_a_list_is_found_by_its_bytes_and_a_stream_by_its_records(run: Run, service: Service, files: Path) -> None:
    """The same list has the same digest, which is none of its bytes alone."""
    who = ("--audience", service.audience_id)
    for arguments, text in (
        (("list.csv",), ""), (("one.csv",), ""), (("-",), PEOPLE), (("-",), PEOPLE), (("list.csv", "one.csv"), "")
    ):  # fmt: skip
        done = run(
            "upload", *arguments, *who, "--max-rejected-share", "1", "--max-rejected-column-share", "1",
            text=text, **service.env,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    begun = _entries(run)[::2]
    digests = [entry["list"]["digest"] for entry in begun]
    assert [entry["list"]["over"] for entry in begun] == ["bytes", "bytes", "records", "records", "bytes"]
    assert digests[2] == digests[3]
    assert len(set(digests)) == 4
    found = [_entries(run, *(f"--list={name}" for name in names)) for names in (["list.csv"], ["list.csv", "one.csv"])]
    assert [[entry["number"] for entry in each] for each in found] == [[1], [9]]
    assert hashlib.sha256(PEOPLE.encode()).hexdigest()[:32] not in digests


def test_an_erasure_is_in_the_log_by_number_and_counts_alone(run: Run, service: Service, files: Path) -> None:
    """It changes nothing that was written before, and the person is nowhere in the log."""
    run("upload", "one.csv", "--audience", service.audience_id, **service.env)
    before = (files / "state/audit.log").read_bytes()
    receipt = json.loads(run("forget", "--json", "--do-not-reach", text="zz.a@canarymail.com\n", **service.env).stdout)
    back = run("forgotten", "remove", "--yes", "--json", text="zz.a@canarymail.com\n")
    assert back.returncode == 0, back.stderr
    after = (files / "state/audit.log").read_bytes()
    assert after.startswith(before)
    entries = _entries(run)[2:]
    assert _told(entries) == [
        ("forget", "begun"), ("forget", "ended"), ("forgotten remove", "begun"), ("forgotten remove", "ended")
    ]  # fmt: skip
    assert {entry["of"] for entry in entries[:2]} == {receipt["erasure_id"]}
    assert entries[1]["audiences"] == {"confirmed": 1, "all": 1, "skipped": 0}
    assert entries[0]["identifiers"] == {"email": 1}
    digest = hashlib.sha256(b"zz.a@canarymail.com")
    for trace in (b"zz.a", b"canarymail", digest.hexdigest().encode(), digest.digest()):
        assert trace not in after
    assert run("audit", "verify").returncode == 0


def test_changes_of_audiences_and_of_the_memory_are_in_the_log(run: Run, service: Service, files: Path) -> None:
    """Also by `api`; one that fails, too. The names of audiences are not."""
    made = json.loads(run("audiences", "create", "Autumn days", "--json", **service.env).stdout)["id"]
    other = json.loads(run("api", "create_account", "--yes", **service.env).stdout)[0]["id"]
    sender = run("forgotten", "sender").stdout.strip()
    recipient = run("forgotten", "recipient").stdout.strip()
    export = str(files / "erased.sealed")
    for arguments in (
        ("audiences", "rename", made, "Winter days"),
        ("audiences", "share", made, other, "--yes"),
        ("audiences", "unshare", made, other),
        ("audiences", "delete", made, "--dry-run"),
        ("audiences", "delete", made, "--yes"),
        ("api", "get_account"),
        ("api", "delete_custom_audience", f"custom_audience_id={service.audience_id}", "--yes"),
        ("forgotten", "export", export, "--to", recipient),
        ("forgotten", "import", export, "--from", sender),
        ("forgotten", "withdraw", "00000000", "--yes"),
    ):
        run(*arguments, **service.env)
    ended = [entry for entry in _entries(run) if entry["step"] == "ended"]
    assert [(entry["command"], entry["state"]) for entry in ended] == [
        ("audiences rename", "complete"), ("audiences share", "complete"), ("audiences unshare", "complete"),
        ("audiences delete", "complete"), ("api", "complete"), ("forgotten export", "complete"),
        ("forgotten import", "complete"), ("forgotten withdraw", "incomplete"),
    ]  # fmt: skip
    assert {entry["target"]["id"] for entry in ended[:4]} == {made}
    assert b"days" not in (files / "state/audit.log").read_bytes()


def test_a_killed_run_is_in_the_log(run: Run, begin: Begin, service: Service, files: Path) -> None:
    """By its beginning; the run that finishes it says that it goes on, and has the counts."""
    service.order({"fault": 7, "times": 1, "match": {"path": "*/users"}})
    killed = begin("upload", "one.csv", "--audience", service.audience_id, "--run-id", "first-run", **service.env)
    log = files / "state/audit.log"
    while not log.exists() or b'"begun"' not in log.read_bytes():
        assert killed.poll() is None
    killed.kill()
    killed.wait()
    service.clear()
    again = run("upload", "one.csv", "--audience", service.audience_id, "--run-id", "first-run", **service.env)
    assert again.returncode == 0, again.stderr
    entries = _entries(run)
    assert _told(entries) == [("upload", "begun"), ("upload", "resumed"), ("upload", "ended")]
    assert {entry["of"] for entry in entries} == {"first-run"}
    assert entries[2]["records_sent"] == 1
    assert run("audit", "verify").returncode == 0


def test_without_a_log_nothing_is_sent(run: Run, service: Service, files: Path) -> None:
    """A log that cannot be written refuses the run, before its first request."""
    run("upload", "one.csv", "--audience", service.audience_id, **service.env)
    log = files / "state/audit.log"
    log.write_bytes(log.read_bytes() + b"{}\n")
    before = service.get(f"/__members/{service.audience_id}")
    refused = run("sync", "list.csv", "--audience", service.audience_id, "--max-rejected-share", "1", **service.env)
    assert refused.returncode == 74
    assert "was changed: nothing was logged, and nothing sent" in refused.stderr
    assert service.get(f"/__members/{service.audience_id}") == before


def test_verify_finds_a_change_and_a_kept_head_finds_a_cut(run: Run, service: Service, files: Path) -> None:
    """Exit code 3, for the program and for the verifier in samples/."""
    for name in ("list.csv", "one.csv"):
        run("upload", name, "--audience", service.audience_id, "--max-rejected-share", "1", **service.env)
    log, head, keys = files / "state/audit.log", files / "head.txt", files / "keys.txt"
    head.write_text(run("audit", "head").stdout)
    keys.write_text(run("audit", "key").stdout)
    content = log.read_bytes()

    def codes(changed: bytes) -> tuple[int, int, int]:
        log.write_bytes(changed)
        given = ["verify_audit_log.py", str(log), "--keys", str(keys), "--head", str(head)]
        with mock.patch.object(sys, "argv", given), pytest.raises(SystemExit) as sample:
            runpy.run_path(str(ROOT / "samples/verify_audit_log.py"), run_name="__main__")
        compared = run("audit", "verify", "--head", "head.txt", "--json")
        assert json.loads(compared.stdout)["verified"] == (compared.returncode == 0)
        return run("audit", "verify").returncode, compared.returncode, sample.value.code

    lines = content.splitlines(keepends=True)
    assert codes(content) == (0, 0, 0)
    assert codes(content.replace(b'"records_sent":2', b'"records_sent":3')) == (3, 3, 3)
    assert codes(b"".join(lines[:1] + lines[2:])) == (3, 3, 3)
    assert codes(b"".join(lines[:-1])) == (0, 3, 3)
    assert "a cut end is found only by a head" in run("audit", "verify").stderr
    head.write_text(head.read_text().replace("entries 4", "entries 3"))
    assert run("audit", "verify", "--head", "head.txt").returncode == 3


def test_old_entries_go_by_a_purge_where_that_is_asked_for(run: Run, service: Service, files: Path) -> None:
    """And only then; the log is right from there on."""
    run("upload", "one.csv", "--audience", service.audience_id, **service.env)
    log = files / "state/audit.log"
    content = log.read_bytes()
    assert run("purge", "--older-than", "2h", "--yes").returncode == 0
    assert log.read_bytes() == content
    planned = json.loads(run("purge", "--older-than", "2h", "--audit-entries", "--dry-run", "--json").stdout)
    assert (planned["expired"]["audit_entries"], log.read_bytes()) == (0, content)
    order = PurgeOrder(older_than=timedelta(days=30), audit_entries=True)
    settings, later = load_settings({}, state_dir=files / "state"), datetime.now(UTC) + timedelta(days=40)
    assert plan_purge(order, settings, later).expired["audit_entries"] == 2
    assert (log.read_bytes(), purge(order, settings, later).removed["audit_entries"]) == (content, 2)
    run("upload", "one.csv", "--audience", service.audience_id, **service.env)
    verified = json.loads(run("audit", "verify", "--json").stdout)
    assert (verified["verified"], verified["begins_after"], verified["entries"]) == (True, 2, 2)


def test_before_the_first_entry_there_is_nothing_to_show(run: Run) -> None:
    """Exit code 3, and no log and no key are made."""
    for command in ("head", "key", "verify", "show"):
        done = run("audit", command)
        assert (done.returncode, "nothing was logged" in done.stderr) == (3, True)


def test_the_record_of_a_period_is_printed(run: Run, service: Service, files: Path) -> None:
    """With purpose and basis as the options gave them; a setup names those of each audience."""
    who = ("--audience", service.audience_id)
    sent = run(
        "upload", "one.csv", *who, "--purpose", "Spring sale", "--basis", "consent", "--json", **service.env
    )  # fmt: skip
    (files / "setup.toml").write_text(
        f'[audiences.winter]\nsource = "one.csv"\naudience = "{service.audience_id}"\ncommand = "upload"\n'
        'purpose = "Winter sale"\nbasis = "legitimate_interests"\n'
    )
    done = run("run", "winter", "--setup", "setup.toml", **service.env, AUDIENCEKIT_REQUIRE="purpose,basis")
    assert (sent.returncode, done.returncode) == (0, 0), done.stderr
    record = json.loads(run("audit", "record", "--since", "1h", "--format", "json").stdout)
    assert [(each["purpose"], each["basis"]) for each in record["activities"]] == [
        ("Spring sale", "consent"), ("Winter sale", "legitimate_interests")
    ]  # fmt: skip
    assert [each["records_sent"] for each in record["activities"]] == [1, 1]
    assert "### Spring sale" in run("audit", "record").stdout
    assert len(run("audit", "record", "--format", "csv").stdout.splitlines()) == 3
    assert json.loads(run("audit", "record", "--until", "1h", "--format", "json").stdout)["activities"] == []
    for period in (("--since", "1h", "--until", "2h"), ("--since", "2099-01-01")):
        empty = run("audit", "record", *period)  # would say that no one was put into an audience
        assert (empty.returncode, "the period of the record" in empty.stderr) == (2, True)
    refused = run("upload", "one.csv", *who, **service.env, AUDIENCEKIT_REQUIRE="purpose")
    assert (refused.returncode, "give --purpose" in refused.stderr.replace("`", "")) == (2, True)
    log = files / "state/audit.log"
    log.write_bytes(log.read_bytes().replace(b"Spring", b"Summer"))
    assert run("audit", "record").returncode == 3
