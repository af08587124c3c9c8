"""The screens of a person: `check`, `upload`, `sync` and `runs` on terminals of several widths."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import termios
from pathlib import Path

import pytest

from tests.cli.conftest import Service
from tests.processes import Commands, environment

_ORDERS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_COPIED = re.compile(r"^Next: |^export |://")
LIST = "Customers of the shop, as of November;;;\n;;;\nE-Mail;Phone;Country;Newsletter consent of the customer\n"


def _screen(commands: Commands, width: int, directory: Path, env: dict[str, str], *arguments: str) -> list[str]:
    """The lines that a command leaves on a terminal of `width` columns, without those of its progress."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, width, 0, 0))
    process = commands.begin(*arguments, env=env, cwd=directory, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    told = b""
    while True:
        try:
            block = os.read(ours, 65_536)
        except OSError:  # the other end is closed
            break
        if not block:
            break
        told += block
    os.close(ours)
    process.wait()
    lines = re.split(r"[\r\n]+", _ORDERS.sub("", told.decode()))
    return [line.rstrip() for line in lines if line.strip() and "━" not in line]


@pytest.mark.parametrize("width", [60, *(pytest.param(width, marks=pytest.mark.slow) for width in (80, 120))])
def test_no_line_is_wider_than_the_terminal(width: int, commands: Commands, service: Service, tmp_path: Path) -> None:
    """But an address or a command, which is copied. Words stay whole, and what goes on is indented."""
    rows = [
        f"ada{number}@example.com;0151 234567{number:02};Germany;{'no' if number % 5 else 'yes'}"
        for number in range(60)
    ]
    bad = [f"bo{number}(at)example.com;;;yes" for number in range(30)]
    (tmp_path / "Customers of the shop in November.csv").write_text(LIST + "\n".join([*rows, *bad]) + "\n")
    env = {**environment(tmp_path / "state"), **service.env}
    env.pop("COLUMNS", None)  # workers of pytest have it; a terminal knows its own width
    named = ("Customers of the shop in November.csv", "--audience", service.audience_id)
    for command in (
        ("check", named[0], "--doctor"),
        ("upload", *named),
        ("sync", *named, "--consent-column", "Newsletter consent of the customer=yes", "--max-rejected-share", "0.9"),
        ("runs",),
        ("report",),
    ):
        lines = _screen(commands, width, tmp_path, env, *command)
        assert lines, command
        wide = [line for line in lines if len(line) > width and not _COPIED.search(line)]
        assert wide == [], command
