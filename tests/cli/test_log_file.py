"""The log of a command: lines of JSON that only its owner can read, and never in a file of something else."""

from __future__ import annotations

import json
import logging
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from audiencekit.cli import log_file as logfile
from audiencekit.cli.log_file import LIBRARY, LogFile, log_to_stderr, stop_listening
from audiencekit.errors import InputOutputFailed, UsageError

LIST = b"email\nada@larchpost.example\n"


@pytest.fixture(autouse=True)
def _no_handler_stays() -> Iterator[None]:
    level = LIBRARY.level
    yield
    stop_listening()
    LIBRARY.setLevel(level)


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def test_a_command_begins_and_ends_in_it(tmp_path: Path) -> None:
    """A later one is appended. Times are UTC, to the millisecond."""
    for code in (0, 3):
        log = LogFile(str(tmp_path / "log"))
        log.begin("check")
        log.finish(code)
    begun, ended, _, last = _lines(tmp_path / "log")
    assert (begun["message"], begun["command"], begun["process"]) == ("audiencekit check begins", "check", os.getpid())
    assert (ended["message"], ended["exit_code"], last["exit_code"]) == ("ended with exit code 0", 0, 3)
    assert len(begun["time"]) == len("2026-01-02T03:04:05.678Z")
    assert begun["time"].endswith("Z")


def test_only_its_owner_can_read_it(tmp_path: Path) -> None:
    """However open the process leaves its files."""
    before = os.umask(0)
    try:
        LogFile(str(tmp_path / "log")).finish(0)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "log").stat().st_mode) == 0o600


@pytest.mark.parametrize("content", [LIST, b'{"email": "ada@larchpost.example"}\n', b"\x1f\x8b", b'{"time":'])
def test_another_file_stays_as_it_is(content: bytes, tmp_path: Path) -> None:
    """A slip of the hand, such as the list in the place of the log."""
    (tmp_path / "list.csv").write_bytes(content)
    with pytest.raises(UsageError, match="another file than a log"):
        LogFile(str(tmp_path / "list.csv"))
    assert (tmp_path / "list.csv").read_bytes() == content
    assert not any(isinstance(handler, LogFile) for handler in LIBRARY.handlers)


def test_neither_a_link_nor_a_directory_is_written_to(tmp_path: Path) -> None:
    """Another user could have put the link there."""
    (tmp_path / "aim").write_bytes(b"")
    (tmp_path / "link").symlink_to(tmp_path / "aim")
    for name in ("link", "."):
        with pytest.raises(InputOutputFailed, match="cannot be opened"):
            LogFile(str(tmp_path / name))
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UsageError):
        LogFile(str(tmp_path / "pipe"))
    assert (tmp_path / "aim").read_bytes() == b""


@pytest.mark.parametrize(
    "message", ["two\nlines", 'a "quoted" one', "\x1b[31mred\x1b[0m", "\u202eright to left", "\ud800"]
)
def test_a_message_is_one_line_without_control_characters(message: str, tmp_path: Path) -> None:
    """Names of files can hold any: a log that is shown in a terminal must not steer it, nor lines be made up."""
    log = LogFile(str(tmp_path / "log"))
    log.write("info", message, name=message)
    log.finish(0)
    content = (tmp_path / "log").read_bytes()
    assert content.count(b"\n") == len(_lines(tmp_path / "log")) == 2
    assert b"\x1b" not in content
    assert "\u202e".encode() not in content
    assert [*_lines(tmp_path / "log")[0]] == ["time", "level", "message", "name"]


def test_it_has_what_the_library_logs_with_its_facts(tmp_path: Path) -> None:
    """From the first to the last moment, and of this library alone."""
    log = LogFile(str(tmp_path / "log"))
    LIBRARY.getChild("delivery").debug("sent %s", "request 1", extra={"facts": {"request": 1}})
    logging.getLogger("elsewhere").error("of another library")
    log.finish(0)
    LIBRARY.warning("too late")
    assert log not in LIBRARY.handlers
    told, _ = _lines(tmp_path / "log")
    assert (told["level"], told["message"], told["request"]) == ("debug", "sent request 1", 1)


def test_a_message_is_spoken_once(capsys: pytest.CaptureFixture[str]) -> None:
    """However often it is asked for, and no more when it is not wanted any longer."""
    log_to_stderr()
    log_to_stderr()
    LIBRARY.info("waiting\x1b[2J")
    stop_listening()
    LIBRARY.info("not heard")
    said = capsys.readouterr().err
    assert said.count("waiting") == 1
    assert "\x1b" not in said
    assert "not heard" not in said


def test_a_failing_disk_is_told_without_the_message(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once; the command goes on."""

    def full(file: int, content: bytes) -> int:
        raise OSError(28, "No space left on device")

    log = LogFile(str(tmp_path / "log"))
    monkeypatch.setattr(logfile.os, "write", full)
    for _ in range(2):
        log.write("info", "list of people.csv")
    monkeypatch.undo()
    log.finish(0)
    assert capsys.readouterr().err == "note: the log file is not written any more: No space left on device\n"
