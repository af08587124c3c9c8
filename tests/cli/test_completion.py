"""Completion in the shells themselves."""

from __future__ import annotations

import os
import pty
import re
import select
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from audiencekit.destinations.known_audiences import KnownAudiences
from tests.calls import call
from tests.moments import PATIENCE_SECONDS
from tests.processes import ROOT, environment

RUN = "20261122-215618-1fd80221"
ESCAPES = re.compile(r"\x1b(?:\[[0-9;?]*[A-Za-z]|\][^\x07]*\x07|[=>(][A-Z0-9]?)|\r|\x07|\x08")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with `audiencekit` on the path, a run, an audience that was seen, and two lists."""
    binary = tmp_path / "bin" / "audiencekit"
    binary.parent.mkdir()
    binary.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m audiencekit "$@"\n')
    binary.chmod(0o755)
    (tmp_path / "state" / "runs" / RUN).mkdir(parents=True, mode=0o700)
    (tmp_path / "state").chmod(0o700)
    KnownAudiences(tmp_path / "state", "acc1").note({"h1ab2": "Spring customers", "k9": "Autumn"})
    (tmp_path / "list.csv").write_text("Mail,Family Name\nada@example.com,Arden\n")
    (tmp_path / "bare.csv").write_text("ada@example.com,Arden\n")
    return tmp_path


def _env(home: Path) -> dict[str, str]:
    more = {"AUDIENCEKIT_ACCOUNT_ID": "acc1", "PATH": f"{home / 'bin'}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    return {**environment(home / "state", more), "HOME": str(home), "TERM": "dumb", "COLUMNS": "200"}


Asked = Callable[[str], list[str]]


class Typed:
    """A shell on a terminal of its own."""

    def __init__(self, terminal: int) -> None:
        self._terminal, self._shown = terminal, ""

    def type(self, text: str) -> None:
        os.write(self._terminal, text.encode())

    def wait_for(self, text: str) -> None:
        """Fails when `text` is not shown in time; what was shown before it counts no more."""
        while text not in self._shown:
            ready, _, _ = select.select([self._terminal], [], [], PATIENCE_SECONDS)
            assert ready, f"{text!r} is not in {self._shown!r}"
            self._shown += ESCAPES.sub("", os.read(self._terminal, 65_536).decode("utf-8", "replace"))
        self._shown = self._shown.split(text, 1)[1]


@contextmanager
def _shell(home: Path, *command: str) -> Iterator[Typed]:
    terminal, its_end = pty.openpty()
    process = subprocess.Popen(
        command, stdin=its_end, stdout=its_end, stderr=its_end, cwd=home, env=_env(home), start_new_session=True
    )
    os.close(its_end)
    try:
        yield Typed(terminal)
    finally:
        process.kill()
        process.wait()
        os.close(terminal)


def _shells() -> Iterator[tuple[str, Sequence[str], str]]:
    bash = ("bash", "--norc", "--noprofile", "-i")
    yield "bash", bash, 'PS1="ready> "; bind "set enable-bracketed-paste off"; eval "$(audiencekit completion bash)"\n'
    zsh = 'PS1="ready> "; autoload -Uz compinit; compinit -u; eval "$(audiencekit completion zsh)"\n'
    yield "zsh", ("zsh", "-f", "-i"), zsh


WORDS = {
    "audiencekit resum": "audiencekit resume ",
    "audiencekit upload --keep-s": "audiencekit upload --keep-spool ",
    "audiencekit report 2026": f"audiencekit report {RUN} ",
    "audiencekit expiry --audience h": "audiencekit expiry --audience h1ab2 ",
    "audiencekit check list.csv --ignore Fa": r"audiencekit check list.csv --ignore Family\ Name ",
    "audiencekit check list.csv --map email=Ma": "audiencekit check list.csv --map email=Mail ",
    "audiencekit check li": "audiencekit check list.csv ",
}
CLEAR = "\x15"  # Ctrl-U


@pytest.mark.services
@pytest.mark.parametrize(("name", "command", "start"), [pytest.param(*each, id=each[0]) for each in _shells()])
def test_words_are_completed(home: Path, name: str, command: Sequence[str], start: str) -> None:
    """On the line that is being typed. Of several audiences names are listed beside the ids, at the second Tab."""
    if shutil.which(name) is None:
        pytest.skip(f"{name} is missing")
    with _shell(home, *command) as shell:
        shell.type(start + "echo be''gun\n")
        shell.wait_for("begun")
        for typed, completed in WORDS.items():
            shell.type(f"{typed}\t")
            shell.wait_for(completed)
            shell.type(CLEAR)
        shell.type("audiencekit expiry --audience \t\t")
        for known in ("h1ab2", "Spring customers", "k9", "Autumn"):
            shell.wait_for(known)


FISH = {
    "audiencekit resum": "resume",
    "audiencekit report 2026": RUN,
    "audiencekit expiry --audience ": "h1ab2\tSpring customers",
    "audiencekit check list.csv --ignore Fa": "Family Name",
    "audiencekit check list.csv --map email=Ma": "email=Mail",
}


@pytest.mark.services
@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is missing")
def test_fish_completes_words(home: Path) -> None:
    """With the name of an audience beside its id."""
    asked = "; ".join(["audiencekit completion fish | source", *(f"complete -C '{typed}'" for typed in FISH)])
    done = subprocess.run(
        ["fish", "--no-config", "-c", asked], env=_env(home), cwd=home, capture_output=True, text=True,
        timeout=PATIENCE_SECONDS, check=True,
    )  # fmt: skip
    lines = [f"{line}\t" for line in done.stdout.splitlines()]
    assert [each for each in FISH.values() if not any(line.startswith(f"{each}\t") for line in lines)] == []


@pytest.fixture
def asked(home: Path) -> Asked:
    """Returns what the command answers to bash about a line."""

    def answer(line: str) -> list[str]:
        env = {**_env(home), "_AUDIENCEKIT_COMPLETE": "bash_complete", "COMP_LINE": line, "COMP_BREAKS": "="}
        done = call(env=env, cwd=home)
        assert (done.returncode, done.stderr) == (0, "")
        return [line for line in done.stdout.splitlines() if line]

    return answer


def test_the_first_row_of_a_list_without_a_header_is_not_shown(asked: Asked) -> None:
    """It is a person."""
    assert asked("audiencekit check bare.csv --ignore ") == ["plain,column1", "plain,column2"]


def test_an_audience_has_its_name_beside_it(asked: Asked) -> None:
    """For the list that bash shows; commands have no description there."""
    assert asked("audiencekit expiry --audience h") == ["plain,h1ab2", "described,h1ab2  (Spring customers)"]
    assert asked("audiencekit resum") == ["plain,resume"]


def test_kinds_come_before_columns(asked: Asked) -> None:
    """Of suppression sources, those of their files."""
    assert "open,phone_number=" in asked("audiencekit check list.csv --map ph")
    assert asked("audiencekit check bare.csv --suppress list.csv --suppress-map email=") == [
        "plain,Mail",
        "plain,Family Name",
    ]
    assert asked("audiencekit check list.csv --consent-column M") == ["open,Mail="]


@pytest.mark.parametrize("line", ["audiencekit check nowhere.csv --ignore ", "audiencekit check . --map email="])
def test_nothing_is_told_where_nothing_is_known(asked: Asked, line: str) -> None:
    assert asked(line) == []


def test_a_state_directory_that_is_not_there_completes_last_alone(home: Path, asked: Asked) -> None:
    shutil.rmtree(home / "state")
    assert asked("audiencekit report ") == ["plain,last"]
    assert asked("audiencekit expiry --audience ") == []
    assert not (home / "state").exists()


def test_an_audience_is_found_by_its_name(asked: Asked) -> None:
    """Its id takes the place of what was typed."""
    assert asked("audiencekit expiry --audience spr") == ["plain,h1ab2", "described,h1ab2  (Spring customers)"]


def test_the_names_of_a_setup_are_completed(home: Path, asked: Asked) -> None:
    """Of the file that is named; of one that lies there and was not named, none."""
    lines = [
        f'[audiences.{name}]\nsource = "list.csv"\naudience = "h1ab2"\n' for name in ("spring", "summer", "autumn")
    ]
    (home / "audiencekit.toml").write_text("".join(lines))
    assert asked("audiencekit run --setup audiencekit.toml s") == ["plain,spring", "plain,summer"]
    assert asked("audiencekit run s") == []
