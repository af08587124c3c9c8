"""Commands whose state is in a bucket: each process begins on an empty machine, and knows all that was done before."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.calls import call
from tests.cases import each_case
from tests.cli.conftest import Service
from tests.mirror.machines import Machines
from tests.mirror.servers import KEY, StateBucket, state_bucket
from tests.moments import PATIENCE_SECONDS
from tests.processes import Commands, environment

pytestmark = pytest.mark.services
PEOPLE = [f"canary{number}@example.com" for number in range(30)]


@pytest.fixture
def bucket() -> Iterator[StateBucket]:
    with state_bucket() as found:
        yield found


@pytest.fixture
def machines(commands: Commands, tmp_path: Path, bucket: StateBucket, service: Service) -> Machines:
    found = Machines(commands, tmp_path, bucket, service.env)
    assert found.run("state", "init").returncode == 0
    _write(tmp_path, PEOPLE)
    return found


def _write(directory: Path, people: list[str]) -> None:
    (directory / "list.csv").write_text("\n".join(["email", *people]) + "\n")


def test_each_command_on_an_empty_machine_knows_the_ones_before(
    machines: Machines, service: Service, bucket: StateBucket, tmp_path: Path
) -> None:
    """Runs are listed, a sync has its snapshot, an erased person stays out, and the audit log is whole."""
    audience = ["--audience", service.audience_id]
    first = machines.run("upload", "list.csv", *audience, "--json")
    assert first.returncode == 0, first.stderr
    run_id = json.loads(first.stdout)["run_id"]
    assert [run["run_id"] for run in json.loads(machines.run("runs", "--json").stdout)] == [run_id]
    resumed = machines.run("resume", run_id, "--json")
    assert (resumed.returncode, json.loads(resumed.stdout)["rows"]["sent"]) == (0, len(PEOPLE))
    synced = machines.run("sync", "list.csv", *audience, "--json")
    assert synced.returncode == 0, synced.stderr
    _write(tmp_path, PEOPLE[2:])
    synced = machines.run("sync", "list.csv", *audience, "--json")
    assert (synced.returncode, service.members()) == (0, len(PEOPLE) - 2), synced.stderr
    assert machines.run("forget", text=PEOPLE[-1]).returncode == 0
    assert machines.run("sync", "list.csv", *audience).returncode == 0
    assert machines.run("upload", "list.csv", *audience).returncode == 0
    assert service.members() == len(PEOPLE) - 3
    verified = json.loads(machines.run("audit", "verify", "--json").stdout)
    record = json.loads(machines.run("audit", "record", "--format", "json").stdout)
    assert verified["entries"] > 0
    assert sum(activity["runs"]["complete"] for activity in record["activities"]) == 5
    _check_nothing_is_shown(bucket)


def _check_nothing_is_shown(bucket: StateBucket) -> None:
    """No object and no name holds a value, a hash, the key or the name of a file."""
    sought = [KEY.encode(), bytes.fromhex(KEY), b"canary", b"email", b"journal"]
    for person in PEOPLE:
        hashed = hashlib.sha256(person.encode()).digest()
        sought += [hashed, hashed.hex().encode()]
    contents = bucket.contents()
    assert len(contents) > 10
    shown = [word for word in sought for name, data in contents.items() if word in data or word in name.encode()]
    assert shown == []
    assert {name.rsplit("/", 1)[0] for name in contents} == {"acme", "acme/lists", "acme/marks", "acme/pieces"}
    assert all(re.fullmatch(r"head|[a-z]+/[0-9a-f-]+", name.removeprefix("acme/")) for name in contents)


def test_a_prefix_without_a_state_is_refused(machines: Machines, service: Service, bucket: StateBucket) -> None:
    """It must not look like an empty memory of erased people; nothing is sent, and the message names the cure."""
    mistyped = {"AUDIENCEKIT_STATE": bucket.env["AUDIENCEKIT_STATE"] + "2"}
    done = machines.run("upload", "list.csv", "--audience", service.audience_id, **mistyped)
    assert (done.returncode, service.members()) == (74, 0)
    assert "there is no state at this place: nothing was sent" in done.stderr
    assert "`audiencekit state init` begins a new state there" in done.stderr


def test_a_store_that_ignores_conditions_is_refused_at_the_start(
    machines: Machines, service: Service, bucket: StateBucket
) -> None:
    bucket.door.heeds_conditions = False
    begun = machines.run("state", "init", AUDIENCEKIT_STATE="s3://lists/other")
    assert (begun.returncode, [name for name in bucket.names() if name.startswith("other/")]) == (74, [])
    assert "the bucket ignores the conditions of writes" in begun.stderr


def test_a_state_is_begun_once_and_shown(machines: Machines, bucket: StateBucket, service: Service) -> None:
    """How many files, how large, how old, and the head, which a later command can be made to depend on."""
    again = machines.run("state", "init")
    assert (again.returncode, "there is a state at this place already" in again.stderr) == (74, True)
    assert machines.run("upload", "list.csv", "--audience", service.audience_id).returncode == 0
    shown = json.loads(machines.run("state", "show", "--json").stdout)
    assert (shown["held_by"], shown["files"]["runs"]["files"]) == (None, 3)
    assert shown["files"]["runs"]["bytes"] > 1000
    assert shown["head"].startswith(f"{shown['change']}:")
    lines = machines.run("state", "show").stdout
    assert "runs: 3 files, " in lines
    later = machines.run("runs", AUDIENCEKIT_STATE_HEAD=f"{shown['change'] + 1}:{'0' * 64}")
    assert (later.returncode, "cannot be trusted" in later.stderr) == (3, True)
    assert machines.run("runs", AUDIENCEKIT_STATE_HEAD=shown["head"]).returncode == 0


def test_a_witness_notices_a_return_of_everything(machines: Machines, service: Service, bucket: StateBucket) -> None:
    """In another bucket; a restored state is accepted by a person."""
    witness = {"AUDIENCEKIT_STATE_WITNESS": "s3://lists/witness"}
    send = ("upload", "list.csv", "--audience", service.audience_id)
    unknown = machines.run(*send, **witness)
    assert (unknown.returncode, service.members()) == (74, 0)
    assert "the witness knows nothing of this state" in unknown.stderr
    accepted = machines.run("state", "accept", "--json", **witness)
    assert (accepted.returncode, json.loads(accepted.stdout)["change"]) == (0, 1), accepted.stderr
    early = {name: data for name, data in bucket.contents().items() if name.startswith("acme/")}
    assert machines.run(*send, **witness).returncode == 0
    assert sorted(name for name in bucket.names() if not name.startswith("acme/")) == ["witness/witness"]
    for name in bucket.names():
        if name.startswith("acme/"):
            bucket.client.delete_object(Bucket="lists", Key=name)
    for name, data in early.items():
        bucket.client.put_object(Bucket="lists", Key=name, Body=data)
    for arguments in (("runs",), send):
        done = machines.run(*arguments, **witness)
        assert (done.returncode, "it was rolled back" in done.stderr) == (3, True), done.stderr
    assert machines.run("state", "accept", **witness).returncode == 0
    assert machines.run(*send, **witness).returncode == 0


def test_a_state_that_cannot_be_reached_sends_nothing(
    machines: Machines, service: Service, bucket: StateBucket
) -> None:
    bucket.door.losses = 1.0
    done = machines.run("upload", "list.csv", "--audience", service.audience_id)
    assert (done.returncode, service.members()) == (74, 0)
    assert "the bucket of the state cannot be used" in done.stderr
    assert KEY not in done.stderr


def test_lost_calls_and_answers_of_the_bucket_change_nothing(
    machines: Machines, service: Service, bucket: StateBucket
) -> None:
    bucket.door.losses = 0.1
    done = machines.run("sync", "list.csv", "--audience", service.audience_id)
    assert (done.returncode, service.members()) == (0, len(PEOPLE)), done.stderr


@each_case(
    "arguments, more, message",
    [
        (("login",), {}, "credentials are never kept in a bucket"),
        (("key", "rotate"), {}, "the objects in the bucket are sealed under the state key, too"),
        (("open",), {}, "its page would be removed at once"),
        (("runs",), {"AUDIENCEKIT_STATE_DIR": "/srv/state"}, "AUDIENCEKIT_STATE_DIR are both given"),
        (("runs",), {"AUDIENCEKIT_STATE_WITNESS": "notes"}, "is no absolute path and no address"),
        (("runs",), {"AUDIENCEKIT_STATE_WITNESS": "s3://lists/acme/"}, "is the place of the state itself"),
        (
            ("runs",),
            {"AUDIENCEKIT_STATE_WITNESS": "sftp://lists/a"},
            "AUDIENCEKIT_STATE_WITNESS is no address of a bucket",
        ),
        (
            ("runs",),
            {"AUDIENCEKIT_STATE": "", "AUDIENCEKIT_STATE_WITNESS": "s3://a/b"},
            "AUDIENCEKIT_STATE names no bucket",
        ),
        (("state", "accept"), {}, "AUDIENCEKIT_STATE_WITNESS names no witness"),
        (("runs",), {"AUDIENCEKIT_KEY": ""}, "a state in a bucket needs its key from elsewhere"),
        (("runs",), {"AUDIENCEKIT_STATE": "https://lists.example/acme"}, "AUDIENCEKIT_STATE is no address of a bucket"),
        (("state", "show"), {"AUDIENCEKIT_STATE": "/srv/state"}, "AUDIENCEKIT_STATE names no bucket"),
    ],
)
def test_a_command_without_use_for_a_bucket_is_refused(
    tmp_path: Path, arguments: tuple[str, ...], more: dict[str, str], message: str
) -> None:
    """Before anything is asked of the bucket, which is none here."""
    env = environment(tmp_path, {"AUDIENCEKIT_STATE": "s3://lists/acme", "AUDIENCEKIT_KEY": KEY})
    del env["AUDIENCEKIT_STATE_DIR"]
    done = call(*arguments, env={**env, **more}, cwd=tmp_path)
    assert message in done.stderr
    assert done.returncode in (2, 77)


def test_two_commands_on_one_state_do_not_both_send(machines: Machines, service: Service, bucket: StateBucket) -> None:
    """One of them ends before it sends anything, and says who is at work; the audience is exact."""
    racing = [machines.begin("sync", "list.csv", "--audience", service.audience_id) for _ in range(3)]
    ended = [(process.communicate(timeout=PATIENCE_SECONDS)[1], process.returncode) for process in racing]
    assert {code for _, code in ended} <= {0, 75}
    assert 0 in {code for _, code in ended}
    assert all("at work on this state" in text for text, code in ended if code == 75)
    assert service.members() == len(PEOPLE)


def test_a_state_moves_into_a_bucket_and_back(
    machines: Machines, commands: Commands, service: Service, tmp_path: Path, bucket: StateBucket
) -> None:
    """The next sync sends only changes, wherever the state is; a state of another key is not copied."""
    local = environment(tmp_path / "old", {**bucket.env, **service.env})
    del local["AUDIENCEKIT_STATE"]
    sync = ("sync", "list.csv", "--audience", service.audience_id, "--json")
    assert commands.run(*sync, env=local, cwd=tmp_path).returncode == 0
    place = {"AUDIENCEKIT_STATE": "s3://lists/moved"}
    wrong = machines.run("state", "copy", str(tmp_path / "old"), "s3://lists/moved", AUDIENCEKIT_KEY="2e" * 32)
    assert (wrong.returncode, "are of another state key: nothing was copied" in wrong.stderr) == (3, True)
    assert not [name for name in bucket.names() if name.startswith("moved/")]
    copied = machines.run("state", "copy", str(tmp_path / "old"), "s3://lists/moved")
    assert copied.returncode == 0, copied.stderr
    assert "files were copied, read again and compared" in copied.stdout
    _write(tmp_path, PEOPLE[1:])
    there = machines.run(*sync, **place)
    assert (there.returncode, json.loads(there.stdout)["rows"]["unchanged"]) == (0, len(PEOPLE) - 1), there.stderr
    assert machines.run("state", "copy", "s3://lists/moved", str(tmp_path / "new"), "--json", **place).returncode == 0
    _write(tmp_path, PEOPLE[2:])
    local["AUDIENCEKIT_STATE_DIR"] = str(tmp_path / "new")
    back = commands.run(*sync, env=local, cwd=tmp_path)
    assert (back.returncode, json.loads(back.stdout)["rows"]["unchanged"]) == (0, len(PEOPLE) - 2), back.stderr
    assert service.members() == len(PEOPLE) - 2


def test_objects_that_no_list_names_are_removed(machines: Machines, service: Service, bucket: StateBucket) -> None:
    """Such as those of a command that was killed while it wrote; a purge is one of the commands that do so."""
    assert machines.run("upload", "list.csv", "--audience", service.audience_id).returncode == 0
    bucket.client.put_object(Bucket="lists", Key="acme/pieces/" + "0" * 32, Body=b"of a killed command")
    assert machines.run("purge", "--older-than", "1h", "--yes").returncode == 0
    pieces = [name for name in bucket.names() if "/pieces/" in name]
    assert "acme/pieces/" + "0" * 32 not in pieces
    kinds = json.loads(machines.run("state", "show", "--json").stdout)["files"]
    assert len(pieces) == sum(kind["files"] for kind in kinds.values())


@each_case("arguments, code", [(("kubernetes", "--image", "registry.example/a"), 0), (("cron",), 2)])
def test_a_schedule_names_the_bucket_and_asks_nothing_of_it(
    tmp_path: Path, arguments: tuple[str, ...], code: int
) -> None:
    """Which is none here; a machine with a disk is told to take a directory."""
    (tmp_path / "setup.toml").write_text('[audiences.spring]\nsource = "list.csv"\naudience = "dlzxk"\n')
    _write(tmp_path, PEOPLE)
    env = environment(tmp_path, {"AUDIENCEKIT_STATE": "s3://lists/acme", "AUDIENCEKIT_KEY": KEY})
    del env["AUDIENCEKIT_STATE_DIR"]
    done = call("schedule", arguments[0], "setup.toml", *arguments[1:], env=env, cwd=tmp_path)
    assert (done.returncode, 'value: "s3://lists/acme"' in done.stdout) == (code, code == 0), done.stderr
    assert KEY not in done.stdout
