"""Hostile names of files, which a shell passes as arguments: every command, at each of its places."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import pytest

import audiencekit.cli
from audiencekit.emulator.faults.replies import FORGED
from tests.cases import each_case
from tests.cli.conftest import Run
from tests.commandtree import all_commands

HOSTILE = f"x\n{FORGED}\r{FORGED}\x1b]0;owned\x07\x9b31m\u202e\u2028"
SERVERS = ("demo", "emulator")  # which would begin to work for some of these


COMMANDS = {path: command for path, command in all_commands(audiencekit.cli.cli) if path[-1] not in SERVERS}


def _calls(path: tuple[str, ...], command: click.Command) -> Iterator[list[str]]:
    """The hostile text as the name of a command, as any of the arguments, as an option, and as a value of each."""
    given = ["list.csv" for one in command.params if isinstance(one, click.Argument) and one.required]
    yield [*path[:-1], HOSTILE]
    yield [*path, HOSTILE]
    yield [*path, *given, HOSTILE]
    for mark in ("-", "--"):
        yield [*path, *given, mark + HOSTILE]
    for one in command.params:
        if isinstance(one, click.Option):
            yield [*path, *given, f"{one.opts[-1]}={HOSTILE}"]
            for text in () if one.is_flag else _beginnings(one, command):
                yield [*path, *given, one.opts[-1], text + HOSTILE]


def _beginnings(option: click.Option, command: click.Command) -> Iterator[str]:
    """Of a value whose rest is read by itself: of a pair, and of a file."""
    form = option.make_metavar(click.Context(command))
    yield from ["", *(text for sign, text in (("=", "email="), ("@", "@")) if sign in form)]


@pytest.mark.parametrize("path", COMMANDS, ids="-".join)
def test_no_argument_acts_or_forges_a_line(path: tuple[str, ...], run: Run, tmp_path: Path) -> None:
    """Whatever is said of it: no line begins with its words, and every character prints."""
    (tmp_path / "list.csv").write_text("email\nbea@canarymail.com\n")
    acting = []
    for call in _calls(path, COMMANDS[path]):
        done = run(*call)
        lines = (done.stdout + done.stderr).split("\n")
        if done.returncode == 1 or not all(
            line.isprintable() and not line.strip().startswith(FORGED) for line in lines
        ):
            acting.append((call, done))
    assert acting == []


@each_case(
    "call, told",
    [
        (("forget", "ann@canarymail.com"), "for example `audiencekit forget --from request.csv`"),
        (("forget", "+49 151 23456789"), "1 argument too many"),
        (("hash", "ann@canarymail.com"), "for example `audiencekit hash email"),
        (("upload", "list.csv"), "for example `audiencekit upload list.csv --audience"),
        (("check",), "for example `audiencekit check list.csv"),
        (("open", "run"), "for example `audiencekit open`"),
        (("audiences", "health"), "for example `audiencekit audiences health h1ab2`"),
    ],
)
def test_a_wrong_call_is_answered_with_a_right_one_and_repeats_no_person(
    call: tuple[str, ...], told: str, run: Run, tmp_path: Path
) -> None:
    """On the terminal and in the log."""
    done = run("--log-file", "log", *call)
    assert (done.returncode, told in done.stderr) == (2, True)
    for said in (done.stderr, (tmp_path / "log").read_text()):
        assert "canarymail" not in said
        assert "23456789" not in said


def test_missing_choices_stand_in_lines(run: Run) -> None:
    """Those are our own words, and are not escaped."""
    done = run("hash")
    assert (done.returncode, "\n        email,\n" in done.stderr) == (2, True)
