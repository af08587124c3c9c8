"""Of a list that is encrypted, or lies elsewhere, no cell and no hash of one is written to any file."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from audiencekit.testing import RunningEmulator
from tests.forms import people
from tests.forms.table import FORMS, VARIABLES, Form, Place, each
from tests.forms.tracing import traced
from tests.processes import COMMAND, environment

COUNT = 2_000
SECRET = [form for form in FORMS if form.is_secret]


def _found(written: dict[str, bytes]) -> list[str]:
    """The files with a canary in them."""
    canaries = people.canaries(COUNT)
    return [name for name, data in written.items() if any(canary in data for canary in canaries)]


@pytest.mark.slow
@pytest.mark.parametrize("form", each(SECRET))
def test_no_file_holds_a_cell_or_a_hash(place: Place, form: Form, ads: RunningEmulator, tmp_path: Path) -> None:
    """Of an upload that keeps its spool, and by none of its children; nor is one left."""
    named = form.write(place, COUNT)
    keys = {name: os.environ[name] for name in VARIABLES if name in os.environ}
    work = tmp_path / "work"
    for name in ("home", "temporary", "state"):
        (work / name).mkdir(parents=True)
    env = environment(work / "state", {**ads.env, **keys, "TMPDIR": str(work / "temporary")})
    command = [
        *COMMAND,
        "upload",
        *named,
        "--audience",
        ads.audience_id,
        "--keep-spool",
        "--rejections",
        "rejected.csv",
    ]
    seen = traced(command, env, work, tmp_path / "trace")
    assert seen.done.returncode == 0, seen.done.stderr
    assert f"{COUNT:,} of {COUNT:,} people reached" in seen.done.stdout
    assert any("journal.sqlite" in name for name in seen.written)
    assert _found(seen.written) == []
    assert seen.odd == []
    left = {str(path): path.read_bytes() for path in work.rglob("*") if path.is_file()}
    assert _found(left) == []


@pytest.mark.slow
def test_the_trace_sees_what_is_written(tmp_path: Path) -> None:
    """In any way that Python has, by the process and by a child of it; otherwise the test above would prove nothing."""
    cell, digest = people.canaries(COUNT)[2], people.canaries(COUNT)[3]
    script = f"""
import mmap, os, subprocess, sys
open("plain", "wb").write({cell!r})
with open("vector", "wb", buffering=0) as file:
    os.writev(file.fileno(), [b"x", {digest!r}])
    os.pwrite(file.fileno(), {cell!r}, 100)
subprocess.run([sys.executable, "-c", "open('child', 'wb').write({cell!r})".replace("b'", "b" + chr(39))])
with open("mapped", "w+b") as file:
    file.truncate(100)
    mmap.mmap(file.fileno(), 100)[:5] = b"canar"
with open("copied", "wb") as file, open("plain", "rb") as source:
    os.sendfile(file.fileno(), source.fileno(), 0, 5)
"""
    (tmp_path / "script.py").write_text(script)
    seen = traced([sys.executable, "script.py"], {}, tmp_path, tmp_path / "trace")
    assert seen.done.returncode == 0, seen.done.stderr
    assert {Path(name).name for name in _found(seen.written)} == {"plain", "vector", "child"}
    assert {"mapped", "copied"} <= {Path(name).name for name in seen.odd}
