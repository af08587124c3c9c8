"""The search finds what was leaked on purpose: else that it finds nothing would say nothing."""

from __future__ import annotations

import base64
import hashlib
import logging
import subprocess
import sys
import urllib.parse
from pathlib import Path

import pytest

from tests.canary.markers import DIGITS, WORD, leaks
from tests.canary.witnesses import Recorder, files_in, frames_of, said_of


def test_the_search_finds_what_was_leaked_on_purpose(tmp_path: Path, logs: Recorder) -> None:
    """In every encoding, in logs, files and frames; and it finds nothing where nothing is."""
    assert leaks(b"a report of 22 rows") == []
    assert leaks(hashlib.sha256(b"x").hexdigest().encode()) == ["a SHA-256 in hex"]
    value = f"{WORD}@example.com"
    quoted = urllib.parse.quote(value).encode()
    wide = value.encode("utf-16")
    for leaked in (value.encode(), quoted, wide, base64.b64encode(b"ab" + value.encode()), value[::-1].encode()):
        assert leaks(b"text " + leaked + b" text"), leaked
    assert leaks(f"({DIGITS})".encode())
    logging.getLogger("some.library").debug("read %r", value)
    assert leaks("\n".join(logs.lines).encode())
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "file").write_bytes(base64.b64encode(value.encode()))
    (leak,) = files_in(tmp_path, but=tmp_path).values()
    assert leaks(leak)

    def stumble(text: str) -> None:
        held = text
        raise ValueError(len(held))

    with pytest.raises(ValueError, match=r"\d") as caught:
        stumble(value)
    assert leaks(frames_of(caught.value))


PARENT = """
import subprocess, sys
begun = "import sys; print('begun', flush=True); sys.stdin.read()"
subprocess.Popen([sys.executable, "-c", begun, "grand" + "child"]).wait()
"""


def test_the_process_list_is_searched_for_children_too() -> None:
    """Their command lines are found, and those of no other process."""
    command = [sys.executable, "-c", PARENT]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"begun\n"
        said = said_of(process.pid)
        assert process.stdin is not None
        process.stdin.close()
    assert b"grandchild" in said
    assert Path("/proc/self/cmdline").read_bytes() not in said
    assert said_of(process.pid) == b""
