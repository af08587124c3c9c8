"""Programs that are started: none from the working directory, none with our secrets, and by one door."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import audiencekit
from audiencekit.process.programs import find_program, own_environment, program_environment, start_program
from tests.cases import each_case

ROOT = Path(audiencekit.__file__).parent
DOOR = ROOT / "process" / "programs.py"
STARTS = {
    "subprocess.Popen", "subprocess.run", "subprocess.call", "subprocess.check_call", "subprocess.check_output",
    "subprocess.getoutput", "os.system", "os.popen", "os.startfile", "os.posix_spawn", "os.posix_spawnp", "os.fork",
    "shutil.which", "asyncio.create_subprocess_exec", "asyncio.create_subprocess_shell", "pty.spawn",
}  # fmt: skip
STARTING_MODULES = {"webbrowser", "multiprocessing", "pty", "concurrent.futures.process"}
# A file without any of these texts can hold none of the above: it is not parsed.
HINT = re.compile(
    r"subprocess|shutil|webbrowser|multiprocessing|concurrent|\bpty\b|from os import"
    r"|os\.(?:system|popen|startfile|posix_spawn|fork|exec|spawn)"
)


def _planted(directory: Path, name: str) -> Path:
    program = directory / name
    program.write_text("#!/bin/sh\nexit 0\n")
    program.chmod(0o755)
    return program


@pytest.mark.parametrize(
    "path", ["", ":{usual}", ".:{usual}", "./bin:{usual}", "bin:{usual}", "{usual}:.", "{here}:{usual}"]
)
def test_no_program_of_the_working_directory_is_found(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Relative and empty entries of PATH are passed over, and so is the directory itself by its full path."""
    here, usual = tmp_path / "here", tmp_path / "usual"
    for directory in (here, here / "bin", usual):
        directory.mkdir()
        _planted(directory, "akprogram")
    monkeypatch.chdir(here)
    monkeypatch.setenv("PATH", path.format(usual=usual, here=here))
    assert find_program("akprogram") == (str(usual / "akprogram") if path else None)
    assert find_program("./akprogram") is None
    assert find_program("bin/akprogram") is None
    assert find_program(str(here / "akprogram")) == str(here / "akprogram")  # that was said in full


@pytest.mark.parametrize(("path", "left"), [("", os.devnull), (":/a", "/a"), (".:/a:b:/c", "/a:/c"), ("x", os.devnull)])
def test_a_program_finds_none_of_the_working_directory_either(
    path: str, left: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Programs that it starts are found in the same way."""
    monkeypatch.setenv("PATH", path)
    assert program_environment()["PATH"] == left


def test_a_program_has_none_of_our_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    """But all others, and those that are given for it."""
    monkeypatch.setenv("AUDIENCEKIT_CONSUMER_SECRET", "hidden")
    monkeypatch.setenv("OTHER", "kept")
    shows = [sys.executable, "-c", "import os; print(sorted(os.environ.items()))"]
    with start_program(shows, more={"ONE": "given"}, stdout=subprocess.PIPE) as process:
        shown = process.communicate()[0].decode()
    assert "AUDIENCEKIT_" not in shown
    assert "('ONE', 'given')" in shown
    assert "('OTHER', 'kept')" in shown


def test_a_program_is_started_by_its_full_path() -> None:
    with pytest.raises(FileNotFoundError):
        start_program(["sh", "-c", "true"])


def test_all_programs_are_started_by_one_door() -> None:
    """No other module starts or looks for one."""
    found = [
        f"{file.relative_to(ROOT)}:{node.lineno}"
        for file in ROOT.rglob("*.py")
        if file != DOOR and HINT.search(text := file.read_text(encoding="utf-8"))
        for node in ast.walk(ast.parse(text))
        if _starts(node)
    ]
    assert found == []


@each_case(
    "line",
    ["subprocess.run(['x'])", "os.execvp('x', [])", "import webbrowser", "from shutil import which", "os.system('')"],
)
def test_a_second_door_is_seen(line: str) -> None:
    """The test of the test."""
    assert HINT.search(line)
    assert any(map(_starts, ast.walk(ast.parse(line))))


def _starts(node: ast.AST) -> bool:
    if isinstance(node, ast.Import):
        return any(name.name in STARTING_MODULES for name in node.names)
    if isinstance(node, ast.ImportFrom):
        whole = {f"{node.module}.{name.name}" for name in node.names}
        return node.module in STARTING_MODULES or bool(whole & STARTS)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        name = ast.unparse(node.func)
        return name in STARTS or name.startswith(("os.exec", "os.spawn"))
    return False


def test_libraries_of_a_command_start_programs_without_our_secrets(tmp_path: Path) -> None:
    """Their environment is that of the process: our variables are kept aside, and settings read them there."""
    shows = (
        "import os, subprocess, sys\n"
        "from audiencekit.process.startup import set_up_own_process\n"
        "from audiencekit.process.programs import own_environment\n"
        "set_up_own_process()\n"
        "assert own_environment()['AUDIENCEKIT_KEY'] == 'hidden'\n"
        "print(subprocess.run(['env'], capture_output=True, text=True, check=True).stdout)"
    )
    planted = _planted(tmp_path, "env")
    env = {**os.environ, "AUDIENCEKIT_KEY": "hidden", "PATH": f":{os.environ['PATH']}"}
    done = subprocess.run(
        [sys.executable, "-c", shows], env=env, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert planted.exists()
    assert "PATH=/" in done.stdout, done.stderr
    assert "AUDIENCEKIT_" not in done.stdout


def test_the_environment_of_this_process_is_complete(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUDIENCEKIT_KEY", "here")
    assert own_environment()["AUDIENCEKIT_KEY"] == "here"


def test_a_planted_gpg_is_not_run(tmp_path: Path) -> None:
    """It would be asked to open the list, as the user whose agent is unlocked; the next one of PATH is."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for directory in (tmp_path, programs):
        (directory / "gpg").write_text(f"#!/bin/sh\n: > '{directory}/ran'\nexit 2\n")
        (directory / "gpg").chmod(0o755)
    message = bytes.fromhex("85020c03") + bytes(523)  # a packet for a key that no one has
    (tmp_path / "list.csv.gpg").write_bytes(message)
    done = subprocess.run(
        [sys.executable, "-m", "audiencekit", "check", "list.csv.gpg"],
        env={**os.environ, "PATH": f":.:{programs}:{os.environ['PATH']}", "PYTHONSAFEPATH": "1"},
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode in (2, 3), done.stderr
    assert (programs / "ran").exists()
    assert not (tmp_path / "ran").exists()
