"""`runs` and `report`: which list, which audience, when, how long, how many."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from audiencekit.delivery.limiter import Unlimited
from audiencekit.destinations.target import Target
from audiencekit.errors import CredentialsRefused
from audiencekit.runs.uploads import upload_to
from audiencekit.settings import load_settings
from tests.cli.conftest import Begin, Run, Service
from tests.destinations.jsonlines import REVOKED, registered
from tests.moments import PATIENCE_SECONDS


def _list(tmp_path: Path, name: str, rows: int = 3) -> str:
    path = tmp_path / name
    path.write_text("email\n" + "".join(f"p{number}@example.com\n" for number in range(rows)))
    return str(path)


def test_runs_and_reports_name_list_and_audience(run: Run, service: Service, tmp_path: Path) -> None:
    """By the name that the service has; and `runs` of one audience, or since a time, are those alone."""
    made = json.loads(run("audiences", "create", "Spring customers", "--json", **service.env).stdout)
    for name, audience in (("spring.csv", "Spring customers"), ("others.csv", service.audience_id)):
        done = run("upload", _list(tmp_path, name), "--audience", audience, **service.env)
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
    source = _list(tmp_path, "list.csv")
    made = json.loads(run("audiences", "create", "Spring customers", "--json", **service.env).stdout)
    unknown = run("upload", source, "--audience", "Spring", **service.env)
    assert unknown.returncode == 2
    assert f"give an id, perhaps: {made['id']} 'Spring customers'" in unknown.stderr
    assert run("audiences", "show", "Spring customers", **service.env).stdout.startswith(made["id"])
    assert json.loads(run("runs", "--json").stdout) == []


async def test_a_run_whose_destination_is_not_installed(run: Run, tmp_path: Path) -> None:
    """It is listed and shown, with its destination; `resume` says what is missing, and where to go on."""
    settings = load_settings({"AUDIENCEKIT_ACCOUNT_ID": "18ce54d4x5t"}, state_dir=tmp_path / "state", concurrency=1)
    with registered() as destination:
        destination.mailbox.script = [None, *[REVOKED] * 16]
        with pytest.raises(CredentialsRefused):
            await upload_to(
                Target(destination, "m1"), _list(tmp_path, "list.csv", 1_500), settings=settings, limiter=Unlimited()
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


@pytest.mark.parametrize("options", [(), ("--json",)], ids=["text", "json"])
def test_the_way_to_go_on_is_the_last_line(
    begin: Begin, service: Service, tmp_path: Path, options: tuple[str, ...]
) -> None:
    """Below the report, where it is seen; in a file that takes both streams, too."""
    source = _list(tmp_path, "list.csv", 130_000)
    given = ("--audience", service.audience_id, "--requests-per-minute", "1", "-v", *options)
    process = begin("upload", source, *given, **service.env)
    assert process.stderr is not None
    while "request 1: confirmed" not in process.stderr.readline():
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 75
    last = err.splitlines()[-1]
    assert last.startswith("  what to do: ")
    assert "`audiencekit resume " in last
    assert out  # the report, which was printed before
