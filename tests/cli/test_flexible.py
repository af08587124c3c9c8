"""`audiencekit flexible` as people and programs use it, against an emulator."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Begin, Run, Service
from tests.moments import PATIENCE_SECONDS
from tests.processes import ROOT

SAMPLE = str(ROOT / "samples/flexible.toml")


@pytest.fixture
def flexible(run: Run) -> Run:
    """Runs `audiencekit flexible` with these arguments."""

    def call(*arguments: str, **more: Any) -> subprocess.CompletedProcess[str]:
        return run("flexible", *arguments, **more)

    return call


def _write(tmp_path: Path, audience: str, *names: str) -> str:
    content = {"audiences": [{"name": name, "segments": {"audience": audience, "lookback": 7}} for name in names]}
    path = tmp_path / "audiences.json"
    path.write_text(json.dumps(content))
    return str(path)


def _posts(service: Service) -> int:
    return sum(entry["method"] == "POST" for entry in json.loads(service.get("/__requests")))


def test_check_draws_and_says_each_audience(flexible: Run) -> None:
    """Of the sample, without settings or a service."""
    done = flexible("check", SAMPLE)
    assert done.returncode == 0, done.stderr
    texts = done.stdout.split("\n\n")
    assert [text.splitlines()[0] for text in texts] == ["Spring visitors", "Lapsed buyers", "Shop or app, no staff"]
    assert texts[1].splitlines()[1:] == [
        "└── and",
        "    ├── dlzxk: at least once in the last 30 days",
        "    └── not dlzxk: more than 2 times in the last 7 days",
        "People in dlzxk (at least once in the last 30 days) and not in dlzxk (more than 2 times in the last 7 days).",
    ]


def test_check_as_json_says_the_same(flexible: Run) -> None:
    """One document."""
    document = json.loads(flexible("check", SAMPLE, "--json").stdout)
    assert document["state"] == "ready"
    assert [sorted(each) for each in document["audiences"]] == [["drawing", "name", "path", "sentence"]] * 3
    assert document["audiences"][2]["path"] == "audiences[2]"
    assert document["audiences"][2]["drawing"].endswith("not 1nmtn: at least once in the last 30 days")


def test_broken_rules_are_told_with_their_places(flexible: Run, tmp_path: Path) -> None:
    """All at once, a line each; as data with --json."""
    path = tmp_path / "broken.toml"
    path.write_text('[[audiences]]\nname = ""\nsegments = { or = [ { audience = "a1", lookback = 3 } ] }\n')
    for command in (["check"], ["create", "--yes"]):
        done = flexible(*command, str(path))
        assert (done.returncode, done.stdout) == (3, "")
        assert "\n  audiences[0].name: a name is needed\n" in done.stderr
        assert "\n  audiences[0].segments.or[0].lookback: one of 1, 7, 14, 30" in done.stderr
        document = json.loads(flexible(*command, str(path), "--json").stdout)
        assert (document["state"], document["error"]["type"]) == ("refused", "DefinitionRefused")
        assert [each["path"] for each in document["problems"]] == [
            "audiences[0].name", "audiences[0].segments.or[0].lookback",
        ]  # fmt: skip
    assert flexible("check", str(tmp_path / "missing.toml")).returncode == 74


def test_create_makes_all_of_them_once(flexible: Run, service: Service, tmp_path: Path) -> None:
    """With id, state and name; a second time the names are taken, at their places."""
    path = _write(tmp_path, service.audience_id, "one", "two")
    done = flexible("create", path, "--yes", **service.env)
    assert done.returncode == 0, done.stderr
    lines = [line.split("  ") for line in done.stdout.splitlines()]
    assert [line[1:] for line in lines] == [["created", "'one'"], ["created", "'two'"]]
    again = flexible("create", path, "--yes", "--json", **service.env)
    document = json.loads(again.stdout)
    assert (again.returncode, document["state"]) == (3, "refused")
    assert document["problems"] == [
        {"path": f"audiences[{number}].name", "message": f"audience {line[0]} of this name is there"}
        for number, line in enumerate(lines)
    ]
    assert _posts(service) == 1
    done = flexible("create", _write(tmp_path, service.audience_id, "three"), "--yes", "--json", **service.env)
    (created,) = json.loads(done.stdout)["audiences"]
    assert (created["path"], created["name"], created["state"]) == ("audiences[0]", "three", "created")


def test_create_asks_on_a_terminal_only(flexible: Run, answer: Run, service: Service, tmp_path: Path) -> None:
    """It shows what it is about to create; elsewhere `--yes` is needed."""
    path = _write(tmp_path, service.audience_id, "one")
    unasked = flexible("create", path, **service.env)
    assert unasked.returncode == 2
    assert "--yes" in unasked.stderr
    for typed in ("n", "y"):
        assert _posts(service) == 0
        done = answer(typed, "flexible", "create", path, **service.env)
        assert done.returncode == 0, done.stderr
        assert "└── and" in done.stderr
        assert bool(done.stdout) == (typed == "y")
    assert _posts(service) == 1


@pytest.mark.parametrize(("answer", "code"), [("lost", 0), ("refused", 69)])
def test_a_lost_answer_creates_nothing_twice(
    flexible: Run, service: Service, tmp_path: Path, answer: str, code: int
) -> None:
    """The created audiences are found; a refusal of the service is passed on."""
    path = _write(tmp_path, service.audience_id, "one")
    match = {"match": {"path": "*/batch/*"}}
    lost, refused = {"fault": 36, "meanwhile": "reset"}, {"fault": 7, "where": "headers", "reset": 5}
    service.order({**(lost if answer == "lost" else refused), **match})
    done = flexible("create", path, "--yes", "--json", **service.env)
    document = json.loads(done.stdout)
    assert done.returncode == code, done.stderr
    if code == 0:
        assert (document["state"], document["audiences"][0]["state"]) == ("complete", "found")
    else:
        assert (document["state"], document["error"]["type"]) == ("incomplete", "RateLimited")
    assert _posts(service) == 1


def test_an_interrupted_create_says_that_the_outcome_is_unknown(begin: Begin, service: Service, tmp_path: Path) -> None:
    """75, and what to do: the same again."""
    path = _write(tmp_path, service.audience_id, "one")
    service.order({"fault": 36, "meanwhile": "hold", "match": {"path": "*/batch/*"}})
    process = begin("flexible", "create", path, "--yes", "--json", **service.env)
    while not _posts(service):
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    out, complaint = process.communicate(timeout=PATIENCE_SECONDS)
    assert (process.returncode, json.loads(out)["state"]) == (75, "incomplete")
    assert "looks the names up first" in complaint


def test_create_needs_credentials(flexible: Run, tmp_path: Path) -> None:
    """As every command that calls the service."""
    path = _write(tmp_path, "abc1", "one")
    done = flexible("create", path, "--yes", AUDIENCEKIT_PROFILE="x", AUDIENCEKIT_ACCOUNT_ID="abc")
    assert done.returncode == 77
    assert "AUDIENCEKIT_CONSUMER_KEY" in done.stderr


def test_flexible_audiences_are_listed_and_shown_with_names(
    flexible: Run, run: Run, service: Service, tmp_path: Path
) -> None:
    """Their definitions are known where they were created; an audience that they use is said to be used."""
    env = service.env
    base = json.loads(run("audiences", "create", "Spring customers", "--json", **env).stdout)
    assert flexible("list", **env).stderr == "no flexible audiences yet\n"
    path = _write(tmp_path, "Spring customers", "Lapsed buyers")
    assert "└── 'Spring customers': at least once in the last 7 days" in flexible("check", path, **env).stdout
    created = json.loads(flexible("create", path, "--yes", "--json", **env).stdout)["audiences"][0]
    assert created["id"] in flexible("list", **env).stdout
    leaf = f"    └── 'Spring customers' ({base['id']}): at least once in the last 7 days"
    shown = flexible("show", "Lapsed buyers", **env)
    assert shown.stdout.splitlines()[-2:] == [
        leaf, "People in 'Spring customers' (at least once in the last 7 days)."
    ]  # fmt: skip
    document = json.loads(flexible("show", created["id"], "--json", **env).stdout)
    leaf_of_file = {"audience": base["id"], "lookback": 7, "frequency": 1, "comparator": ">="}
    assert document["definition"] == {"name": "Lapsed buyers", "segments": {"and": [leaf_of_file]}}
    used = run("audiences", "show", base["id"], "--used", **env)
    assert f"flexible audience {created['id']} 'Lapsed buyers'" in used.stdout
    elsewhere = flexible("show", created["id"], AUDIENCEKIT_STATE_DIR=str(tmp_path / "other"), **env)
    assert (elsewhere.returncode, "was not created on this machine" in elsewhere.stderr) == (0, True)
    assert flexible("show", base["id"], **env).returncode == 3
    renamed = run("audiences", "rename", created["id"], "Another", **env)
    assert (renamed.returncode, "a flexible audience cannot be changed" in renamed.stderr) == (3, True)


def test_create_looks_whether_things_exist_before_it_asks(flexible: Run, service: Service, tmp_path: Path) -> None:
    """The file, the audiences in it, the names: then for a terminal or `--yes`."""
    assert flexible("create", str(tmp_path / "missing.json"), **service.env).returncode == 74
    done = flexible("create", _write(tmp_path, "None of ours", "one"), **service.env)
    assert (done.returncode, "audiences[0].segments.audience: no audience has this name" in done.stderr) == (3, True)
    done = flexible("create", _write(tmp_path, service.audience_id, "one"), **service.env)
    assert (done.returncode, "give --yes" in done.stderr) == (2, True)
