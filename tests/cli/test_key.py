"""The state key on the command line; a thief with the state directory alone; a move that is killed."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import pytest

from audiencekit.audiences.key_rotation import count_sealed
from audiencekit.personal import Secret
from audiencekit.state.credentials import CredentialStore, StoredCredentials
from audiencekit.state.keys import find_state_key
from audiencekit.testing import run_emulator
from tests.calls import call
from tests.cli.conftest import Run, Service
from tests.processes import environment

KINDS = {"memory of erased people", "snapshots", "journals", "spools", "unfinished erasures"}
SECRETS = ("consumer_key", "consumer_secret", "access_token", "access_token_secret")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Service]]:
    """A directory with a state that has a sealed file of every kind, and its service."""
    directory = tmp_path_factory.mktemp("made")
    (directory / "list.csv").write_text("email\n" + "".join(f"person{one}@example.com\n" for one in range(20)))
    with run_emulator() as running:
        service = Service(asdict(running))
        env = environment(directory / "state", service.env)
        where = ("list.csv", "--audience", service.audience_id)
        assert call("sync", *where, env=env, cwd=directory).returncode == 0
        service.order({"fault": 22, "times": 1, "match": {"path": "*/users"}})
        assert call("upload", *where, "--keep-spool", env=env, cwd=directory).returncode == 77
        service.order({"fault": 22, "times": 1, "match": {"path": "*/users"}})
        assert call("forget", text="person1@example.com\n", env=env, cwd=directory).returncode != 0
        CredentialStore(directory / "state", "service").keep(
            StoredCredentials(secrets={name: Secret(f"hidden-{name}") for name in SECRETS})
        )
        yield directory, service


@pytest.fixture
def filled(made: tuple[Path, Service], tmp_path: Path) -> Path:
    """That state directory, for one test."""
    shutil.copy(made[0] / "list.csv", tmp_path)
    return Path(shutil.copytree(made[0] / "state", tmp_path / "state"))


def test_show_says_where_it_is_and_what_it_opens(run: Run, filled: Path) -> None:
    shown = run("key", "show", "--json")
    found = json.loads(shown.stdout)
    assert (shown.returncode, found["place"], set(found["files"])) == (0, "file", KINDS)
    assert all(counts["opened"] and not counts["refused"] for counts in found["files"].values())
    digits = (filled / "key").read_text().strip().replace("-", "")
    assert digits[:8] not in shown.stdout
    words = run("key", "show").stdout
    assert "a copy of the state directory can open them" in words
    assert "snapshots: opens 1" in words


def test_another_key_opens_none(run: Run, filled: Path) -> None:
    shown = run("key", "show", "--json", AUDIENCEKIT_KEY="7c" * 32)
    found = json.loads(shown.stdout)
    assert (shown.returncode, set(found["files"])) == (3, KINDS)
    assert not any(counts["opened"] for counts in found["files"].values())


def test_a_thief_of_the_state_directory_opens_nothing(run: Run, filled: Path, tmp_path: Path) -> None:
    """When the key is elsewhere: no file holds a value, a hash, a credential or the key, and no sealed one opens."""
    key = (filled / "key").read_text().strip()
    command = f"echo {key}"
    assert run("key", "move", "--to", "command", AUDIENCEKIT_KEY_COMMAND=command).returncode == 0
    stolen = tmp_path / "stolen"
    shutil.copytree(filled, stolen)
    digits = key.replace("-", "")
    sought = [key.encode(), digits.encode(), bytes.fromhex(digits), b"hidden-"]
    for one in range(20):
        hashed = hashlib.sha256(f"person{one}@example.com".encode()).digest()
        sought += [f"person{one}@".encode(), hashed, hashed.hex().encode()]
    files = [path for path in stolen.rglob("*") if path.is_file()]
    assert len(files) > 10
    assert [path.name for path in files if any(one in path.read_bytes() for one in sought)] == []
    drawn = Secret("ab" * 32)  # the thief has the program, too
    guessed = count_sealed(stolen, find_state_key(stolen, drawn))
    assert (set(guessed), sum(counts["opened"] for counts in guessed.values())) == (KINDS, 0)
    with pytest.raises(Exception, match="sealed under another state key"):
        list(CredentialStore(stolen, "service", drawn).read())


def test_after_a_move_all_goes_on(run: Run, filled: Path, made: tuple[Path, Service]) -> None:
    service = made[1]
    key = (filled / "key").read_text().strip()
    moved = {"AUDIENCEKIT_KEY": key}
    told = run("key", "move", "--to", "environment", **moved)
    assert (told.returncode, told.stdout) == (0, "the state key is in: environment; removed from: file\n")
    assert not (filled / "key").exists()
    assert json.loads(run("key", "show", "--json", **moved).stdout)["place"] == "environment"
    assert run("sync", "list.csv", "--audience", service.audience_id, **service.env, **moved).returncode == 0
    ((place, kept),) = CredentialStore(filled, "service", Secret(key)).read()
    assert (place, kept.secrets["access_token"].unwrap()) == ("file", "hidden-access_token")


def test_a_new_key_beside_the_files_is_told_once(run: Run, service: Service, tmp_path: Path) -> None:
    (tmp_path / "list.csv").write_text("email\nada@example.com\n")
    call = ("upload", "list.csv", "--audience", service.audience_id)
    told = "a new state key is kept in the state directory, beside the files that it opens"
    assert told in run(*call, **service.env).stderr
    assert told not in run(*call, **service.env).stderr
    elsewhere = {**service.env, "AUDIENCEKIT_STATE_DIR": str(tmp_path / "other"), "AUDIENCEKIT_KEY": "7c" * 32}
    assert told not in run(*call, **elsewhere).stderr


def test_two_ways_to_the_key_are_refused(run: Run) -> None:
    refused = run("key", "show", AUDIENCEKIT_KEY="7c" * 32, AUDIENCEKIT_KEY_COMMAND="true")
    assert (refused.returncode, "both set" in refused.stderr) == (2, True)


def test_a_command_that_fails_is_said(run: Run, filled: Path) -> None:
    refused = run("key", "show", AUDIENCEKIT_KEY_COMMAND="false")
    assert (refused.returncode, "ended with exit code 1" in refused.stderr) == (77, True)


def test_before_the_first_run_there_is_none(run: Run, tmp_path: Path) -> None:
    shown = run("key", "show")
    assert (shown.returncode, "there is no state key yet" in shown.stdout) == (0, True)
    rotated = run("key", "rotate")
    assert (rotated.returncode, "there is no state key yet" in rotated.stderr) == (2, True)
    assert not (tmp_path / "state").exists()


def test_a_key_beside_its_files_can_be_refused(run: Run, service: Service, tmp_path: Path) -> None:
    """Before it is made, and afterwards; `doctor` says so. A key from the environment is elsewhere."""
    (tmp_path / "list.csv").write_text("email\nperson1@example.com\n")
    apart = {**service.env, "AUDIENCEKIT_KEY_PLACE": "apart"}
    upload = ("upload", "list.csv", "--audience", service.audience_id)

    def refusals() -> list[tuple[int, bool]]:
        done = [run(*upload, **apart), run("forget", text="person1@example.com\n", **apart),
                run("audiences", "delete", service.audience_id, "--yes", **apart), run("doctor", **apart)]  # fmt: skip
        return [(one.returncode, "beside the files that it opens" in one.stderr + one.stdout) for one in done]

    assert refusals() == [(77, True)] * 4
    assert not (tmp_path / "state/key").exists()
    assert run(*upload, **service.env).returncode == 0
    assert refusals() == [(77, True)] * 4
    told = run("doctor", **service.env)
    assert "warning: state key: in the state directory, beside" in told.stdout
    key = {"AUDIENCEKIT_KEY": (tmp_path / "state/key").read_text().strip()}
    assert run(*upload, **apart, **key).returncode == 0
    assert "state key: environment" in run("doctor", **apart, **key).stdout


def test_a_copy_without_its_key_is_refused(run: Run, service: Service, tmp_path: Path) -> None:
    """Before the list is read, and by `doctor` and `key show`; the file that is missing is named."""
    (tmp_path / "list.csv").write_text("email\nperson1@example.com\n")
    upload = ("upload", "list.csv", "--audience", service.audience_id)
    assert run(*upload, **service.env).returncode == 0
    (tmp_path / "state/key").rename(tmp_path / "kept")
    for command in (upload, ("doctor",), ("key", "show")):
        done = run(*command, **service.env)
        told = done.stdout + done.stderr
        assert (done.returncode, f"copy '{tmp_path / 'state/key'}'" in told, "new state key" in told) == (
            77,
            True,
            False,
        )
    assert not (tmp_path / "state/key").exists()
    (tmp_path / "kept").rename(tmp_path / "state/key")
    assert run(*upload, **service.env).returncode == 0
