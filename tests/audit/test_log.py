"""Appending to the audit log: durable, by one process at a time, and whole again after a kill."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

import pytest

from audiencekit.audit.chain import Keys
from audiencekit.audit.log import LOG, AuditLog
from audiencekit.audit.verification import VerifiedLog, verify_log
from audiencekit.errors import CredentialsRefused, InputOutputFailed
from audiencekit.process.crash_points import set_hook
from audiencekit.state.keys import StateKey
from tests.audit.edits import KEY, STRANGER, lines_of, write_log
from tests.shortened import shortened

KILLS: Final = int(os.environ.get("AUDIT_KILLS", "5"))
ROOT = Path(__file__).resolve().parents[2]
APPEND: Final = """
import sys
from pathlib import Path
from audiencekit.audit.log import AuditLog
from audiencekit.state.keys import StateKey
log = AuditLog(Path(sys.argv[1]), StateKey(b"\\x01" * 32))
for number in range(int(sys.argv[2])):
    log.append("upload", "begun", of=sys.argv[3], records=number)
    sys.stdout.write(f"{number}\\n")
    sys.stdout.flush()
"""


def _verified(directory: Path) -> VerifiedLog:
    return verify_log((directory / LOG).read_bytes().splitlines(keepends=True), Keys.of(KEY))


def _appending(directory: Path, count: int, name: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", APPEND, str(directory), str(count), name], cwd=ROOT, stdout=subprocess.PIPE
    )


def test_processes_that_append_at_once_make_one_chain(tmp_path: Path) -> None:
    """No entry is lost, and none is in the middle of another."""
    begun = [_appending(tmp_path, 12, f"run-{number}") for number in range(3)]
    assert [process.wait() for process in begun] == [0, 0, 0]
    for process in begun:
        assert process.stdout is not None
        process.stdout.close()
    found = _verified(tmp_path)
    assert (found.fault, found.entries) == ("", 36)


class _Killed(BaseException):
    """Raised in the place of a kill."""


def _kill_at(point: str) -> None:
    def hook(passed: str) -> None:
        if passed == point:
            raise _Killed

    set_hook(hook)


@pytest.mark.parametrize(("point", "entries"), [("before audit", 2), ("audit written", 3), ("after audit", 3)], ids=str)
def test_a_kill_between_two_steps_leaves_a_log_that_is_right(point: str, entries: int, tmp_path: Path) -> None:
    """And the next entry goes on."""
    log = write_log(tmp_path, 2)
    try:
        _kill_at(point)
        with pytest.raises(_Killed):
            log.append("upload", "begun", of="killed")
    finally:
        set_hook(None)
    assert (_verified(tmp_path).fault, _verified(tmp_path).entries) == ("", entries)
    log.append("upload", "begun", of="next")
    assert (_verified(tmp_path).fault, _verified(tmp_path).entries) == ("", entries + 1)


def test_a_torn_entry_is_taken_away_and_told(tmp_path: Path) -> None:
    """At every length that a kill, or a loss of power, can leave."""
    log = write_log(tmp_path, 2)
    whole = lines_of(log)
    for length in range(1, len(whole[-1])):
        for torn in (whole[-1][:length], whole[-1][:length] + b"\0" * 3, b"\0" * length + b"\n"):
            log.path.write_bytes(b"".join(whole[:-1]) + torn)
            before = _verified(tmp_path)
            assert (before.fault, before.is_torn, before.entries) == ("", True, 1)
        log.append("upload", "ended", of="next")
        after = _verified(tmp_path)
        assert (after.fault, after.is_torn, after.mended, after.entries) == ("", False, 1, 2)
        assert json.loads(lines_of(log)[-1])["mended"] == length + 1


@pytest.mark.parametrize("seed", shortened(range(int(os.environ.get("AUDIT_LOGS", "3"))), 1))
def test_killed_processes_raise_no_false_alarm(tmp_path: Path, seed: int) -> None:
    """At random times, one after the other, on one log; each entry whose append had returned is there.

    AUDIT_LOGS=84 AUDIT_KILLS=12 kills a thousand of them. A log of many kills is long, and is verified after each.
    """
    draw, known = random.Random(seed), 0
    for number in range(KILLS):
        process = _appending(tmp_path, 100_000, f"run-{number}")
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(draw.uniform(0, 0.01))
        process.send_signal(signal.SIGKILL)
        told = 1 + process.stdout.read().count(b"\n")
        process.wait()
        process.stdout.close()
        found = _verified(tmp_path)
        assert found.fault == ""
        assert known + told <= found.entries <= known + told + 1
        known = found.entries


def test_nothing_is_logged_behind_a_last_line_that_was_changed(tmp_path: Path) -> None:
    """A new entry would have to trust it; so the command is refused before it sends anything."""
    log = write_log(tmp_path, 2)
    lines = lines_of(log)
    log.path.write_bytes(b"".join(lines[:-1]) + b"{}\n")
    with pytest.raises(InputOutputFailed, match="was changed: nothing was logged") as raised:
        log.append("upload", "begun")
    assert "audit verify" in raised.value.hint


def test_a_log_under_another_key_is_refused(tmp_path: Path) -> None:
    """So is the key before, once the one after it has signed."""
    write_log(tmp_path, 1)
    with pytest.raises(CredentialsRefused, match="another state key"):
        AuditLog(tmp_path, STRANGER).append("upload", "begun")
    write_log(tmp_path, 1, StateKey(b"\x03" * 32, (KEY,)))
    with pytest.raises(CredentialsRefused, match="another state key"):
        AuditLog(tmp_path, KEY).append("upload", "begun")


def test_a_check_refuses_what_an_entry_would_and_writes_nothing(tmp_path: Path) -> None:
    """A torn line is no obstacle, and is left for the next entry to mend."""
    AuditLog(tmp_path, KEY).check()
    assert not (tmp_path / LOG).exists()
    log = write_log(tmp_path, 2)
    whole = log.path.read_bytes()
    for content in (whole, whole[:-5], b""):
        log.path.write_bytes(content)
        log.check()
        assert log.path.read_bytes() == content
    log.path.write_bytes(whole)
    with pytest.raises(CredentialsRefused, match="another state key"):
        AuditLog(tmp_path, STRANGER).check()
    log.path.write_bytes(b"".join(lines_of(log)[:-1]) + b"{}\n")
    with pytest.raises(InputOutputFailed, match="was changed: nothing was logged"):
        log.check()


def test_a_disk_that_is_full_leaves_the_log_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A part of a line is taken back, and the error says so."""
    log = write_log(tmp_path, 1)
    before = log.path.read_bytes()
    monkeypatch.setattr("audiencekit.audit.log.os.write", lambda file, line: _write_half(file, line))
    with pytest.raises(InputOutputFailed, match="could not be written"):
        log.append("upload", "begun")
    assert log.path.read_bytes() == before


def _write_half(file: int, line: bytes) -> int:
    return os.pwrite(file, line[: len(line) // 2], os.fstat(file).st_size)


def test_users_and_hosts_have_keyed_names_where_asked(tmp_path: Path) -> None:
    """The same for the same user of one log, another in another log, and never the name."""
    clear = write_log(tmp_path / "one", 1)
    names = json.loads(lines_of(clear)[-1])["who"]
    hidden = [AuditLog(tmp_path / place, KEY, keyed_names=True) for place in ("one", "one", "two")]
    for log in hidden:
        log.append("upload", "begun")
    found = [json.loads(line)["who"] for log in (hidden[0], hidden[2]) for line in lines_of(log)[1:]]
    assert found[0] == names
    assert found[1] == found[2] != found[3]
    assert all(each["user"].startswith("user-") and each["host"].startswith("host-") for each in found[1:])
    assert not {*names.values()} & {value for each in found[1:] for value in each.values()}


def test_a_cut_that_is_killed_leaves_a_log_that_is_right(tmp_path: Path) -> None:
    """As before, or cut."""
    for point, entries in (("before audit cut", 4), ("after audit cut", 0)):
        log = write_log(tmp_path / point, 4)
        try:
            _kill_at(point)
            with pytest.raises(_Killed):
                log.cut("9999")
        finally:
            set_hook(None)
        found = _verified(tmp_path / point)
        assert (found.fault, found.entries, found.after) == ("", entries, 4 - entries)


def test_a_cut_keeps_runs_whole(tmp_path: Path) -> None:
    """The entries of a run go together: its beginning stays while its end is young."""
    log = AuditLog(tmp_path, KEY)
    moments = iter(("2026-01-01", "2026-01-02", "2026-01-03", "2026-01-04"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("audiencekit.audit.log._now", lambda: next(moments))
        log.list_keys()  # the opening
        for run in ("first", "second", "second"):
            log.append("upload", "begun", of=run)
        patch.setattr("audiencekit.audit.log._now", lambda: "2026-02-01")
        assert log.cut("2026-01-04") == 1
    assert [json.loads(line)["of"] for line in lines_of(log)[1:]] == ["second", "second"]
