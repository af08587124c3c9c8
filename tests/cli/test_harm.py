"""Guards on harm: a change of few people, and names of audiences that say something of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run, Service, write_list

OF_ONE = (
    "this changes 1 person of the audience: who sees its reach before and after learns something about each of them"
)
REFUSED = {"AUDIENCEKIT_FEW_PEOPLE": "refuse"}


def _commands(audience: str) -> dict[str, tuple[str, ...]]:
    return {
        "check": ("check", "list.csv"),
        "prepare": ("prepare", "list.csv", "--out", "out"),
        "upload": ("upload", "list.csv", "--audience", audience),
        "delete": ("upload", "list.csv", "--audience", audience, "--operation", "delete"),
        "sync": ("sync", "list.csv", "--audience", audience),
    }


@pytest.mark.parametrize("command", ["check", "prepare", "upload", "delete", "sync"])
def test_one_person_alone_is_told_refused_or_allowed(command: str, run: Run, service: Service, tmp_path: Path) -> None:
    write_list(tmp_path, 1)
    call = (*_commands(service.audience_id)[command], "--json")
    refused = run(*call, **service.env, **REFUSED)
    assert refused.returncode == 3
    assert OF_ONE in refused.stdout
    assert service.get("/__log") == ""
    allowed = json.loads(run(*call, "--few-people", "allow", **service.env, **REFUSED).stdout)
    assert f"{OF_ONE}: allowed by --few-people" in allowed["notes"]
    if command in ("check", "prepare"):
        assert OF_ONE in json.loads(run(*call, **service.env).stdout)["notes"]


def test_ten_people_are_enough(run: Run, service: Service, tmp_path: Path) -> None:
    write_list(tmp_path, 10)
    done = run(*_commands(service.audience_id)["upload"], "--json", **service.env, **REFUSED)
    assert done.returncode == 0
    assert not any("tell about" in note for note in json.loads(done.stdout)["notes"])


def test_of_a_sync_those_count_who_come_and_go(run: Run, service: Service, tmp_path: Path) -> None:
    call = (*_commands(service.audience_id)["sync"], "--json")
    write_list(tmp_path, 40)
    assert run(*call, **service.env, **REFUSED).returncode == 0
    assert run(*call, **service.env, **REFUSED).returncode == 0  # no one does
    (tmp_path / "list.csv").write_text("email\n" + "".join(f"person{one}@example.com\n" for one in range(2, 42)))
    refused = run(*call, **service.env, **REFUSED)
    assert refused.returncode == 3
    assert OF_ONE.replace("1 person", "4 people") in refused.stdout


def test_a_run_goes_on_by_the_rule_it_was_begun_with(run: Run, service: Service, tmp_path: Path) -> None:
    write_list(tmp_path, 1)
    service.order({"fault": 22, "times": 1, "match": {"path": "*/users"}})
    assert run(*_commands(service.audience_id)["upload"], **service.env).returncode == 77
    assert run("resume", **service.env, **REFUSED).returncode == 0


def test_a_wrong_word_is_refused(run: Run, service: Service, tmp_path: Path) -> None:
    write_list(tmp_path, 1)
    wrong = run("check", "list.csv", **{**service.env, "AUDIENCEKIT_FEW_PEOPLE": "never"})
    assert (wrong.returncode, "AUDIENCEKIT_FEW_PEOPLE must be tell, refuse or allow" in wrong.stderr) == (2, True)


def test_a_name_with_an_address_is_refused(run: Run, service: Service) -> None:
    env, name = service.ready["env"], "jane.doe@example.com"
    refused = run("audiences", "create", name, **env)
    assert (refused.returncode, name in refused.stdout + refused.stderr) == (3, False)
    assert "holds an email address" in refused.stderr
    made = run("audiences", "create", name, "--allow-name", "--json", **env)
    assert (made.returncode, json.loads(made.stdout)["name"]) == (0, name)
    assert "allowed by --allow-name" in made.stderr


def test_a_flexible_audience_too(run: Run, service: Service, tmp_path: Path) -> None:
    leaf = f'{{ audience = "{service.audience_id}", lookback = 30 }}'
    text = f'[[audiences]]\nname = "call 0151 12345678"\nsegments = {{ and = [{leaf}] }}\n'
    (tmp_path / "flexible.toml").write_text(text)
    refused = run("flexible", "create", "flexible.toml", "--yes", **service.env)
    assert (refused.returncode, "audiences[0].name holds a phone number" in refused.stderr) == (3, True)


def test_an_upload_tells_the_name_of_its_audience(run: Run, service: Service, tmp_path: Path) -> None:
    write_list(tmp_path, 10)
    env = service.ready["env"]
    made = json.loads(run("audiences", "create", "arthritis patients", "--json", **env).stdout)
    done = run("upload", "list.csv", "--audience", made["id"], **service.env)
    assert "note: the name of the audience holds a word of health" in done.stderr
