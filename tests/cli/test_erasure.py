"""`audiencekit forget` as people and programs use it: real processes against a real emulator process."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import shutil
import subprocess
from collections.abc import Callable, Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run, Service
from tests.moments import PATIENCE_SECONDS
from tests.processes import Commands, Process, environment
from tests.shortened import shortened


def test_people_are_erased_kept_out_and_accounted_for(run: Run, service: Service, tmp_path: Path) -> None:
    """Named on stdin; the receipt comes as text or as JSON, and again from `report`; nothing shows who it was."""
    (tmp_path / "people.csv").write_text("email\nada@example.org\nbo@example.org\ncy@example.org\n")
    uploaded = run("upload", "people.csv", "--audience", service.audience_id, **service.env)
    assert (uploaded.returncode, service.members()) == (0, 3)

    erased = run("forget", "--do-not-reach", text="Ada@example.org\nhandle=ada_l\n", **service.env)
    assert (erased.returncode, service.members()) == (0, 2), erased.stderr
    assert "complete" in erased.stdout
    assert not re.search(r"ada[@_]|example", erased.stdout + erased.stderr, re.IGNORECASE)

    again = run("forget", "--json", "--from", "people.csv", **service.env)
    receipt = json.loads(again.stdout)
    assert (again.returncode, receipt["state"], receipt["asked"], service.members()) == (0, "complete", 3, 0)
    assert [one["state"] for one in receipt["audiences"]] == ["confirmed"]

    shown = run("report", receipt["erasure_id"], "--json", **service.env)
    assert json.loads(shown.stdout) == receipt
    shown_as_text = run("report", receipt["erasure_id"]).stdout
    resumed = run("resume", receipt["erasure_id"], **service.env)
    assert (resumed.returncode, resumed.stdout.splitlines()[0]) == (0, shown_as_text.splitlines()[0])


def test_a_line_that_cannot_be_read_keeps_everything_back(run: Run, service: Service) -> None:
    """Exit 3, and the number of the line."""
    refused = run("forget", "--json", text="ada@example.org\nAda Lovelace\n", **service.env)
    assert refused.returncode == 3
    assert json.loads(refused.stdout)["error"]["type"] == "PlanRefused"
    assert "line 2" in refused.stderr
    assert "Lovelace" not in refused.stderr + refused.stdout


def at_terminal(begin: Callable[..., Process], answers: Sequence[tuple[bytes, bytes]], **how: Any) -> bytes:
    """Everything that is on the terminal after these answers, each to a prompt that ends so."""
    ours, theirs = pty.openpty()
    process = begin(**dict.fromkeys(("stdin", "stdout", "stderr"), theirs), **how)
    shown = b""
    for prompt, typed in answers:
        while not shown.endswith(prompt):
            shown += os.read(ours, 1)
        os.write(ours, typed + b"\n")
        shown += b"|"
    ended = process.wait(timeout=PATIENCE_SECONDS)
    shown += os.read(ours, 65_536) if select.select([ours], [], [], 0)[0] else b""
    os.close(ours)
    os.close(theirs)
    assert ended == 0, shown
    return shown


IDENTIFIER, AGAIN = b"one ends): ", b"again: "


def test_a_terminal_is_asked_for_identifiers(commands: Commands, service: Service, tmp_path: Path) -> None:
    """Each twice, because they are not shown: they would stay on the screen."""
    answers = [
        (IDENTIFIER, b"ada@example.org"), (AGAIN, b"adda@example.org"),
        (IDENTIFIER, b"ada@example.org"), (AGAIN, b"ada@example.org"),
        (IDENTIFIER, b"0151 23456789"), (IDENTIFIER, b"Ada Lovelace"), (IDENTIFIER, b""),
    ]  # fmt: skip
    env = environment(tmp_path / "state", service.env)
    shown = at_terminal(partial(commands.begin, "forget"), answers, env=env, cwd=tmp_path)
    assert b"neither is taken" in shown
    assert b"country code; or end with Ctrl-C, and give --country DE" in b" ".join(shown.split())
    assert b"not taken: its kind is not recognised" in shown
    assert b"23456789" not in shown
    assert b"example.org" not in shown
    kept = commands.run("forgotten", "show", "--json", env=env, cwd=tmp_path)
    assert json.loads(kept.stdout)["keys"] > 0


def test_an_erasure_that_is_not_there(run: Run) -> None:
    """A usage error, for `resume` and `report`."""
    for command in ("resume", "report"):
        ended = run(command, "forget-20261121-120000-abcdef00")
        assert (ended.returncode, "no such erasure" in ended.stderr) == (2, True)


def test_a_person_comes_back(run: Run, commands: Commands, service: Service, tmp_path: Path) -> None:
    """One at a time, named on stdin or typed unseen at a terminal; it asks, and no one else comes back."""
    (tmp_path / "people.csv").write_text("email\nada@example.org\nbo@example.org\ncy@example.org\n")
    assert run("forget", text="ada@example.org\nbo@example.org\n", **service.env).returncode == 0
    assert "give --yes" in run("forgotten", "remove", text="ada@example.org\n").stderr
    many = run("forgotten", "remove", "--yes", text="".join(f"p{number}@example.org\n" for number in range(21)))
    assert (many.returncode, "one person at a time" in many.stderr) == (2, True)
    wrong = run("forgotten", "remove", "--yes", text="Ada Lovelace\n")
    assert (wrong.returncode, "Lovelace" in wrong.stderr) == (3, False)
    for answer, sent in ((b"n", 1), (b"y", 2)):
        answers = [
            (IDENTIFIER, b"Ada@example.org"),
            (AGAIN, b"Ada@example.org"),
            (IDENTIFIER, b""),
            (b"[y/N]: ", answer),
        ]
        shown = at_terminal(
            partial(commands.begin, "forgotten", "remove"), answers, env=environment(tmp_path / "state"), cwd=tmp_path
        )
        assert b"example.org" not in shown
        plan = json.loads(run("check", "people.csv", "--json").stdout)
        assert plan["rows"]["pending"] == sent, shown
    again = run("forgotten", "remove", "--yes", text="ada@example.org\n")
    assert (again.returncode, "no one was erased" in again.stderr) == (2, True)


ForgottenRun = Callable[..., subprocess.CompletedProcess[str]]
LIST = "email\nzz.a@canarymail.com\nzz.b@canarymail.com\n"


def _commands(audience: str) -> dict[str, tuple[str, ...]]:
    """Everything that consults the memory."""
    return {
        "check": ("check", "list.csv"),
        "prepare": ("prepare", "list.csv", "--out", "out"),
        "upload": ("upload", "list.csv", "--audience", audience),
        "sync": ("sync", "list.csv", "--audience", audience),
        "plan of a sync": ("sync", "list.csv", "--audience", audience, "--dry-run", "--offline"),
        "renew": ("renew", "--audience", audience, "--before", "400d"),
        "do-not-reach": ("do-not-reach", "upload", "list.csv"),
        "forget": ("forget",),
    }


@pytest.mark.parametrize("spoil", shortened(["rolled back", "removed"], 1))
def test_no_command_goes_on_without_the_last_memory(
    spoil: str, run: ForgottenRun, service: Service, tmp_path: Path
) -> None:
    """Exit code 3, what is wrong and what to do; not one request with people in it; then the way out."""
    (tmp_path / "list.csv").write_text(LIST)
    state, commands = tmp_path / "state", _commands(service.audience_id)
    assert run(*commands["sync"], **service.env).returncode == 0
    commands["resume"] = ("resume", _leave_incomplete(run, service))
    assert run("forget", text="zz.a@canarymail.com\n", **service.env).returncode == 0
    shutil.copy2(state / "forgotten", tmp_path / "old")
    assert run("forget", text="zz.b@canarymail.com\n", **service.env).returncode == 0
    (state / "forgotten").unlink()
    if spoil == "rolled back":
        shutil.copy2(tmp_path / "old", state / "forgotten")
    sent = service.get("/__log")
    for name, command in commands.items():
        done = run(*command, text="zz.c@canarymail.com\n", **service.env)
        assert done.returncode == 3, (name, done.stderr)
        assert "memory of erased people" in done.stderr, name
        assert "audiencekit forgotten accept" in done.stderr, name
    assert service.get("/__log") == sent
    shown = run("forgotten", "show", "--json", **service.env)
    assert (shown.returncode, json.loads(shown.stdout)["state"]) == (3, "refused")

    assert run("forgotten", "accept", **service.env).returncode == 2  # there is no terminal to ask at
    options = ("--empty",) if spoil == "removed" else ()
    accepted = run("forgotten", "accept", "--yes", "--json", *options, **service.env)
    assert accepted.returncode == 0, accepted.stderr
    shown = run("forgotten", "show", "--json", **service.env)
    found = json.loads(shown.stdout)
    assert (shown.returncode, found["state"], found["accepted"]) == (0, "sound", [json.loads(accepted.stdout)])
    plan = json.loads(run("check", "list.csv", "--json", **service.env).stdout)
    assert plan["rows"]["suppressed"] == (0 if spoil == "removed" else 1)


def _leave_incomplete(run: ForgottenRun, service: Service) -> str:
    """The id of a run that can be resumed: its token was not taken once."""
    service.order({"fault": 22, "times": 1, "match": {"path": "*/users"}})
    done = run("upload", "list.csv", "--audience", service.audience_id, **service.env)
    assert done.returncode == 77, done.stderr
    (run_id,) = [one["run_id"] for one in json.loads(run("runs", "--json").stdout) if one["resumable"]]
    return str(run_id)


def test_without_erased_people_nothing_is_made(run: ForgottenRun, tmp_path: Path) -> None:
    """Neither a key nor a directory; and there is nothing to accept."""
    assert "no one was erased" in run("forgotten", "show").stdout
    assert not (tmp_path / "state").exists()
    refused = run("forgotten", "accept", "--yes")
    assert (refused.returncode, "nothing to accept" in refused.stderr) == (2, True)


def test_another_host_keeps_out_who_was_erased_here(run: ForgottenRun, service: Service, tmp_path: Path) -> None:
    """A recipient, an export, an import; then the proof, before and after it is prepared anew."""
    (tmp_path / "list.csv").write_text(LIST)
    there = {**service.env, "AUDIENCEKIT_STATE_DIR": str(tmp_path / "there"), "AUDIENCEKIT_KEY": "7c" * 32}
    assert run("prepare", "list.csv", "--out", "out", **there).returncode == 0
    assert run("erasure", "verify", "out", **there).returncode == 3  # no one was erased there
    assert run("forget", text="zz.a@canarymail.com\n", **service.env).returncode == 0
    recipient = run("forgotten", "recipient", **there).stdout.strip()
    exported = run("forgotten", "export", "people.forgotten", "--to", recipient, **service.env)
    assert (exported.returncode, exported.stdout) == (0, "exported: 1 keys\n")
    sender = run("forgotten", "sender", **service.env).stdout.strip()
    assert run("forgotten", "import", "people.forgotten", **there).returncode == 2  # the sender is missing
    own = run("forgotten", "sender", **there).stdout.strip()
    assert run("forgotten", "import", "people.forgotten", "--from", own, **there).returncode == 3
    imported = run("forgotten", "import", "people.forgotten", "--from", sender, "--json", **there)
    assert {"imported": 1, "keys": 1, "serial": 1}.items() <= json.loads(imported.stdout).items()
    checked = run("check", "list.csv", "--json", **there)
    assert json.loads(checked.stdout)["rows"]["suppressed"] == 1
    proof = run("erasure", "verify", "out", **there)
    assert (proof.returncode, proof.stdout.splitlines()[-1]) == (3, "not verified")
    assert "source out: 2 records, 1 of erased people: uploads leave them out" in proof.stdout
    assert run("prepare", "list.csv", "--out", "out", **there).returncode == 0
    proof = run("erasure", "verify", "out", **there)
    assert proof.returncode == 0
    assert proof.stdout.endswith("verified: people who were erased stand in none of these files\n")
    (listed,) = json.loads(run("forgotten", "imports", "--json", **there).stdout)
    assert listed["id"] in run("forgotten", "imports", **there).stdout
    assert (listed["sender"], listed["keys"]) == (sender, 1)
    assert run("forgotten", "withdraw", listed["id"], **there).returncode == 2  # there is no terminal to ask at
    withdrawn = run("forgotten", "withdraw", listed["id"], "--yes", "--json", **there)
    assert json.loads(withdrawn.stdout).items() >= {"withdrawn": listed["id"], "sender": sender, "keys": 0}.items()
    assert json.loads(run("check", "list.csv", "--json", **there).stdout)["rows"]["suppressed"] == 0
    assert run("forgotten", "imports", **there).stdout == "no import is remembered\n"


def test_a_recipient_that_shares_its_secret_with_all_is_a_wrong_option(run: ForgottenRun) -> None:
    """A point of small order: its check digits are right."""
    low = bytes(32)
    done = run("forgotten", "export", "out", "--to", f"ak1{low.hex()}{sha256(b'ak1' + low).hexdigest()[:8]}")
    assert (done.returncode, "invalid recipient" in done.stderr) == (2, True)
