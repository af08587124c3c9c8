"""One process at a time, and nothing left when it ends."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from audiencekit.errors import AudienceBusy, InputOutputFailed
from audiencekit.state.locks import holder_of, locked, taken, write_holder
from tests.processes import start

HOLD = """
import sys
from pathlib import Path
from audiencekit.state.locks import locked, write_holder
with locked(Path(sys.argv[1]), is_directory=Path(sys.argv[1]).is_dir()) as file:
    if Path(sys.argv[1]).is_file():
        write_holder(file, b"the other")
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize("what", ["file", "directory"])
def test_a_lock_that_another_process_holds_is_not_given(tmp_path: Path, what: str) -> None:
    """Until that is killed; the file says who holds it."""
    path = tmp_path / "lock" if what == "file" else tmp_path
    other = start([sys.executable, "-c", HOLD, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert other.stdout is not None
    assert other.stdout.readline() == "held\n"
    with pytest.raises(BlockingIOError), locked(path, wait=False, is_directory=what == "directory"):
        pass
    if what == "file":
        assert holder_of(path) == b"the other"
        assert path.stat().st_mode & 0o777 == 0o600
    other.kill()
    other.communicate()
    with locked(path, wait=False, is_directory=what == "directory") as file:
        if what == "file":
            write_holder(file, b"we")
            assert path.read_bytes() == b"we", "nothing of the other is left"
    assert holder_of(path) is None


def test_no_lock_is_followed_through_a_link(tmp_path: Path) -> None:
    """It could empty a file of another user."""
    (tmp_path / "target").write_text("before")
    (tmp_path / "lock").symlink_to(tmp_path / "target")
    with pytest.raises(OSError, match="symbolic links"), locked(tmp_path / "lock"):
        pass
    assert holder_of(tmp_path / "missing") is None


def test_a_lock_that_cannot_be_taken_is_told(tmp_path: Path) -> None:
    """As busy, in the words of its caller, or as a failure of the disk; its holder can be read meanwhile."""
    path = tmp_path / "lock"
    with taken(path, "cannot be locked", lambda: AudienceBusy("busy"), holder=b"we"):
        assert holder_of(path) == b"we"
        with pytest.raises(AudienceBusy), taken(path, "cannot be locked", lambda: AudienceBusy("busy")):
            pass
    with (
        pytest.raises(InputOutputFailed, match="cannot be locked"),
        taken(tmp_path / "missing" / "lock", "cannot be locked", lambda: AudienceBusy("busy")),
    ):
        pass
    with pytest.raises(OSError, match="inside"), taken(path, "cannot be locked", lambda: AudienceBusy("busy")):
        raise OSError("inside")
