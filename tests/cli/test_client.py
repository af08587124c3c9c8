"""`--dry-run`: everything but the requests that change something."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from audiencekit.cli import cli
from tests.cases import each_case
from tests.cli.conftest import Run, Service, write_list
from tests.commandtree import commands_of

ROWS = 30
# Commands that send something that changes, none of which does it in a dry run. `login` is a talk with a person.
SENDING = {
    *(
        "upload",
        "sync",
        "run",
        "renew",
        "forget",
        "resume",
        "do-not-reach upload",
        "do-not-reach create",
        "do-not-reach delete",
    ),
    *(
        "audiences create",
        "audiences delete",
        "audiences rename",
        "audiences share",
        "audiences unshare",
        "flexible create",
        "api",
        "logout",
        "activity subscribe",
    ),
}


def _written(service: Service) -> list[dict[str, Any]]:
    """The requests that the service saw and that are no reads. A bearer token is needed for reading, too."""
    seen = json.loads(service.get("/__requests"))
    return [each for each in seen if each["method"] != "GET" and each["path"] != "/oauth2/token"]


def test_every_command_that_sends_has_it() -> None:
    """And those alone; `purge` changes this machine, and has one of its own."""
    found = set()
    for name, command in commands_of(cli):
        children = commands_of(command) if isinstance(command, click.Group) else [("", command)]
        for child, one in children:
            if any("--dry-run" in parameter.opts for parameter in one.params):
                found.add(f"{name} {child}".strip())
    assert found == SENDING | {"purge"}


@each_case(
    "arguments, told",
    [
        (("upload", "{list}", "--audience", "{audience}"), "verdict: ready"),
        (("sync", "{list}", "--audience", "{audience}"), "verdict: ready"),
        (("do-not-reach", "upload", "{list}"), "verdict: ready"),
        (("do-not-reach", "create"), "would send: POST "),
        (("audiences", "create", "Spring"), "would send: POST "),
        (("audiences", "delete", "{audience}"), "would send: DELETE "),
        (("audiences", "rename", "{audience}", "Autumn"), "would send: PUT "),
        (("audiences", "share", "{audience}", "18ce54d4x5u"), "would send: POST "),
        (("forget", "--from", "{list}"), "would delete 30 identifiers"),
        (("api", "create_custom_audience", "name=Spring"), "would send: POST "),
        (("api", "delete_custom_audience", "custom_audience_id={audience}"), "would send: DELETE "),
        (("activity", "subscribe"), "would send: POST "),
    ],
)
def test_nothing_is_changed(run: Run, service: Service, tmp_path: Path, arguments: tuple[str, ...], told: str) -> None:
    """At the service, nor in the state directory: no run is kept. No question is asked."""
    names = {"{list}": write_list(tmp_path, ROWS), "{audience}": service.audience_id}
    given = [arguments and names.get(word, word.replace("{audience}", service.audience_id)) for word in arguments]
    done = run(*given, "--dry-run", **service.env)
    assert (done.returncode, told in done.stdout) == (0, True), (done.stdout, done.stderr)
    assert "dry run: nothing was changed" in done.stderr
    assert _written(service) == []
    assert json.loads(run("runs", "--json").stdout) == []
    document = json.loads(run(*given, "--dry-run", "--json", **service.env).stdout)
    assert document.get("dry_run") or document["verdict"].startswith("ready")


def test_a_dry_upload_says_what_the_upload_would(run: Run, service: Service, tmp_path: Path) -> None:
    """The same counts; and it is refused where the run would be, by the same look."""
    given = ("upload", write_list(tmp_path, ROWS), "--audience", service.audience_id, "--json")
    plan = json.loads(run(*given, "--dry-run", **service.env).stdout)
    report = json.loads(run(*given, **service.env).stdout)
    assert plan["plan"]["records"] == report["reconciliation"]["records_sent"] == ROWS
    assert plan["plan"]["requests"] == report["requests"]["planned"]
    assert plan["plan"]["bytes"] == report["requests"]["bytes"]
    missing = run("upload", write_list(tmp_path, ROWS), "--audience", "nosuch1", "--dry-run", **service.env)
    assert (missing.returncode, "has no audience nosuch1" in missing.stderr) == (3, True)


def test_a_dry_renewal_counts_the_members(run: Run, service: Service, tmp_path: Path) -> None:
    """Those of the snapshot whose entries expire soon."""
    source, who = write_list(tmp_path, ROWS), ("--audience", service.audience_id)
    assert run("sync", source, *who, "--ttl-days", "5", **service.env).returncode == 0
    before = _written(service)
    plan = json.loads(run("renew", *who, "--dry-run", "--json", **service.env).stdout)
    assert plan["changes"]["renewals"] == ROWS
    assert _written(service) == before


def test_a_dry_resumption_says_what_is_left(run: Run, service: Service, tmp_path: Path) -> None:
    """Of a run that was ended early: nothing is sent, and it can still be resumed."""
    service.order({"fault": 22, "match": {"path": "*/users"}})
    ended = run("upload", write_list(tmp_path, ROWS), "--audience", service.audience_id, **service.env)
    assert ended.returncode in (75, 77)
    service.clear()
    left = json.loads(run("resume", "--dry-run", "--json", **service.env).stdout)
    assert (left["dry_run"], left["requests"], left["planned"], left["records"]) == (True, 1, 1, ROWS)
    done = run("resume", **service.env)
    assert done.returncode == 0, done.stderr
    assert "nothing is left to send" in run("resume", left["run_id"], "--dry-run", **service.env).stdout
