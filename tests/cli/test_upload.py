"""`upload` and what it leaves: a report, a run, members."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Run, Service, write_source


def test_upload_report_and_runs_agree(run: Run, service: Service, tmp_path: Path) -> None:
    """One JSON document on stdout, kept and listed; the emulator has the people."""
    source = write_source(tmp_path, "email\nada@example.com\nbo@example.com\nnull\n")
    done = run("upload", source, "--audience", service.audience_id, "--json", **service.env)
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
    source = write_source(tmp_path, "email\nada@example.com\n")
    done = run("upload", source, "--audience", service.audience_id, **service.env)
    assert done.stdout.splitlines()[-1] == "state: complete"
    assert "sending: 1 of 1 requests" in done.stderr


def test_missing_credentials_are_77(run: Run, tmp_path: Path) -> None:
    """They are named before the source is read."""
    source = write_source(tmp_path, "email\nada@example.com\n")
    done = run("upload", source, "--audience", "abc", AUDIENCEKIT_PROFILE="x", AUDIENCEKIT_ACCOUNT_ID="abc")
    assert done.returncode == 77
    assert "AUDIENCEKIT_CONSUMER_KEY" in done.stderr


@pytest.mark.parametrize(
    ("address", "code"), [("http://ads.example.com", 3), ("https://ads.example.com", 3), ("http://127.0.0.1:9", 69)]
)
def test_addresses(run: Run, service: Service, tmp_path: Path, address: str, code: int) -> None:
    """Credentials go to the profile's hosts and loopback only; a service that is not there is 69."""
    source = write_source(tmp_path, "email\nada@example.com\n")
    env = {**service.env, "AUDIENCEKIT_ADS_URL": address}
    done = run("audiences", "list", **env)
    assert done.returncode == code, done.stderr
    if code == 3:
        assert run("upload", source, "--audience", "abc", **env).returncode == 3


def test_a_refusal_is_json_too(run: Run, service: Service, tmp_path: Path) -> None:
    """Programs read why, and the counts, from stdout."""
    source = write_source(tmp_path, "email\nnull\n")
    done = run("upload", source, "--audience", service.audience_id, "--json", **service.env)
    document = json.loads(done.stdout)
    assert (done.returncode, document["state"], document["rows"]["rejected"]) == (3, "refused", 1)
    assert document["error"]["type"] == "PlanRefused"
    done = run("check", source, "--json")
    assert (done.returncode, json.loads(done.stdout)["verdict"]) == (3, "refused")
    done = run("check", "missing.csv", "--json")
    assert (done.returncode, json.loads(done.stdout)["error"]["type"]) == (3, "SourceRefused")


def test_a_state_directory_that_cannot_be_used_is_said_first(run: Run, service: Service, tmp_path: Path) -> None:
    """Before the source is read, and before the first request."""
    (tmp_path / "state").write_text("not a directory")
    done = run("upload", "missing.csv", "--audience", service.audience_id, **service.env)
    assert done.returncode == 74
    assert str(tmp_path / "state") in done.stderr
    assert "what to do" in done.stderr
    assert json.loads(service.get("/__requests")) == []


def test_membership_of_a_real_list_equals_an_independent_computation(run: Run, service: Service, shared: Path) -> None:
    """`emulator` in one process and `upload` in another: every email and phone of ca-500, hashed, and nothing else."""
    (path,) = (shared / "corpora/csv/contacts").glob("*ca-500.csv")
    done = run("upload", str(path), "--audience", service.audience_id, "--country", "CA", **service.env)
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
    audience = service.audience_id
    done = run("upload", "one.csv", "two.csv", "--audience", audience, "--json", **service.env)
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
    shown = run("check", "one.csv", "two.csv", "--verbose").stdout
    assert "one.csv  rows 1 to 2\n  two.csv  rows 3 to 4" in shown


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are UTF-8 here")
def test_paths_that_are_not_utf_8_are_uploaded_and_resumed(run: Run, service: Service, tmp_path: Path) -> None:
    """Such as those of an archive from another system. The report names the file as its list of sources does."""
    directory = tmp_path / os.fsdecode(b"M\xe4rz")
    directory.mkdir()
    source, optouts, rejections = (str(directory / os.fsdecode(name)) for name in (b"K\xfc.csv", b"\xfc", b"\xff"))
    Path(source).write_text("email\nada@example.com\nbo@example.com\nnull\n")
    Path(optouts).write_text("email\nbo@example.com\n")
    service.order({"fault": 24, "kind": "account", "match": {"method": "POST", "path": "*/users"}})
    more = ("--suppress", optouts, "--rejections", rejections, "--audience", service.audience_id)
    assert run("upload", source, *more, **service.env).returncode == 77
    service.clear()
    done = run("resume", "last", "--json", **service.env)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["rows"]["sent"] == report["rows"]["suppressed"] == 1
    assert report["source_names"] == [report["sources"][0]["name"]] == ["K\\xfc.csv"]
    assert Path(rejections).read_text().startswith("row,column,reason")
    assert json.loads(run("report", "--json").stdout) == report


def test_a_second_upload_of_a_list_says_that_it_only_adds(run: Run, service: Service, tmp_path: Path) -> None:
    """And that the first is not finished. Another list, or one that takes people out, says nothing."""
    source = write_source(tmp_path, "email\nada@example.com\nbo@example.com\n")
    upload = ("upload", source, "--audience", service.audience_id)
    service.order({"fault": 24, "kind": "account", "match": {"method": "POST", "path": "*/users"}})
    assert run(*upload, **service.env).returncode == 77
    service.clear()
    (cut,) = json.loads(run("runs", "--json").stdout)
    again = run(*upload, **service.env)
    assert (again.returncode, "only adds" in again.stderr) == (0, False)
    assert f"not finished: `audiencekit resume {cut['run_id']}` sends its rest" in again.stderr
    assert "an upload only adds: people who have left it since stay in" in run(*upload, **service.env).stderr
    assert "only adds" not in run(*upload, "--operation", "delete", **service.env).stderr
    assert "only adds" not in run(*upload, **service.env).stderr
