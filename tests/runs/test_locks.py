"""One run at a time on one audience, and nothing to clean up after a kill."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from audiencekit.destinations.target import Target
from audiencekit.errors import AudienceBusy, InputOutputFailed
from audiencekit.runs.locks import TargetLock, at_work, erasure_lock, nothing_at_work
from tests.moments import PATIENCE_SECONDS
from tests.processes import start

ROOT = Path(__file__).resolve().parents[2]
HOLDER = """
import sys, time
from pathlib import Path
from audiencekit.runs.locks import TargetLock
from audiencekit.destinations.target import Target
with TargetLock(Path(sys.argv[1]), "acc", Target.audience("aud"), "run-of-another"):
    print("held", flush=True)
    sys.stdin.read()
"""
# Two processes start at the same moment, round after round; each says whether it got the lock, and waits.
RACE = """
import os, sys
from pathlib import Path
from audiencekit.runs.locks import TargetLock
from audiencekit.destinations.target import Target
from audiencekit.errors import AudienceBusy
rounds = []
for number in range(100):
    start, said, over = os.pipe(), os.pipe(), os.pipe()
    for _ in range(2):
        if os.fork() == 0:
            os.close(start[1]), os.close(over[1])
            os.read(start[0], 1)
            try:
                with TargetLock(Path(sys.argv[1]), "acc", Target.audience("aud"), "run"):
                    os.write(said[1], b"1")
                    os.read(over[0], 1)
            except AudienceBusy:
                os.write(said[1], b"0")
            os._exit(0)
    os.close(start[1])
    answers = os.read(said[0], 1) + os.read(said[0], 1)
    os.close(over[1])
    os.wait(), os.wait()
    rounds.append(sorted(answers.decode()))
    for end in (start[0], *said, over[0]):
        os.close(end)
print(all(answers == ["0", "1"] for answers in rounds), len(rounds))
"""


def _lock(state_dir: Path, run_id: str = "run-1", audience_id: str = "aud") -> TargetLock:
    return TargetLock(state_dir, "acc", Target.audience(audience_id), run_id)


def test_the_second_is_told_who_holds_it(tmp_path: Path) -> None:
    """By run and process; another audience is free."""
    with (
        _lock(tmp_path),
        _lock(tmp_path, "run-2", "other"),
        pytest.raises(AudienceBusy, match=f"run run-1 .process {os.getpid()}. is at work") as caught,
        _lock(tmp_path),
    ):
        pass
    assert (caught.value.run_id, caught.value.process_id, caught.value.exit_code) == ("run-1", os.getpid(), 75)
    with _lock(tmp_path):
        pass


def test_a_kill_gives_it_back(tmp_path: Path) -> None:
    """At once, though the file with the dead process's number stays."""
    command = [sys.executable, "-c", HOLDER, str(tmp_path)]
    holder = start(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    assert holder.stdout is not None
    assert holder.stdin is not None
    assert holder.stdout.readline() == "held\n"
    assert at_work(tmp_path, {"run-of-another"}) == {"run-of-another"}
    assert at_work(tmp_path, {"run-1"}) == set()
    with pytest.raises(AudienceBusy, match="run-of-another"), _lock(tmp_path):
        pass
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    holder.stdin.close()
    holder.stdout.close()
    with _lock(tmp_path):
        assert at_work(tmp_path, {"run-1"}) == {"run-1"}
    assert at_work(tmp_path, {"run-1"}) == set()


def test_of_two_that_start_at_once_exactly_one_proceeds(tmp_path: Path) -> None:
    """A hundred times."""
    done = subprocess.run(
        [sys.executable, "-c", RACE, str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE_SECONDS,
    )
    assert done.stdout == "True 100\n"


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff", b'{"run_id": 1, "process_id": "x"}'])
def test_a_holder_that_has_not_said_who_it_is_still_holds(tmp_path: Path, content: bytes) -> None:
    """The content of the file is for the message only."""
    with _lock(tmp_path):
        (tmp_path / "locks" / "acc-aud.lock").write_bytes(content)
        with pytest.raises(AudienceBusy, match="another run is at work"), _lock(tmp_path):
            pass


@pytest.mark.parametrize("kind", ["link", "directory", "locks is a link", "locks is a file"])
def test_a_planted_lock_is_a_failure(tmp_path: Path, kind: str) -> None:
    """Nothing is followed, nothing is written elsewhere."""
    (tmp_path / "elsewhere").mkdir()
    if kind.startswith("locks"):
        (tmp_path / "locks").symlink_to(tmp_path / "elsewhere") if "link" in kind else (tmp_path / "locks").touch()
    else:
        (tmp_path / "locks").mkdir()
        place = tmp_path / "locks" / "acc-aud.lock"
        place.symlink_to(tmp_path / "elsewhere" / "file") if kind == "link" else place.mkdir()
    with pytest.raises(InputOutputFailed), _lock(tmp_path):
        pass
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_run_without_a_lock_file_is_not_running(tmp_path: Path) -> None:
    """Looking makes nothing."""
    assert at_work(tmp_path / "none", {"run-1"}) == set()
    assert list(tmp_path.iterdir()) == []


def test_the_runs_at_work_are_known_without_their_journals(tmp_path: Path) -> None:
    """Of those that are asked about; one that has ended is none, although the file still names it."""
    with _lock(tmp_path), _lock(tmp_path, "run-2", "other"):
        assert at_work(tmp_path, {"run-1", "run-3"}) == {"run-1"}
    assert at_work(tmp_path, {"run-1", "run-2"}) == set()
    assert at_work(tmp_path / "none", {"run-1"}) == set()


def test_an_erasure_is_at_work_from_its_note_on(tmp_path: Path) -> None:
    """Like a run; until then the lock is held without a name, and after its end it is free."""
    with erasure_lock(tmp_path) as note:
        assert at_work(tmp_path, {"forget-1"}) == set()
        note("forget-1")
        assert at_work(tmp_path, {"forget-1", "run-1"}) == {"forget-1"}
        with pytest.raises(AudienceBusy, match="another erasure is at work"), erasure_lock(tmp_path):
            pass
    assert at_work(tmp_path, {"forget-1"}) == set()


def test_the_note_of_an_older_version_names_no_erasure(tmp_path: Path) -> None:
    """It wrote the id alone; its lock is held all the same."""
    with erasure_lock(tmp_path):
        (tmp_path / "erasures" / ".lock").write_bytes(b"forget-1")
        assert at_work(tmp_path, {"forget-1"}) == set()
        with pytest.raises(AudienceBusy), erasure_lock(tmp_path):
            pass


@pytest.mark.parametrize("holder", ["a run", "an erasure", "none"])
def test_a_change_of_all_waits_for_none(tmp_path: Path, holder: str) -> None:
    """It is refused while anything is at work, and holds every lock while it lasts."""
    with _lock(tmp_path), erasure_lock(tmp_path):
        pass
    if holder == "none":
        with nothing_at_work(tmp_path), pytest.raises(AudienceBusy), _lock(tmp_path):
            pass
        return
    held = _lock(tmp_path) if holder == "a run" else erasure_lock(tmp_path)
    with held, pytest.raises(AudienceBusy, match="nothing was changed"), nothing_at_work(tmp_path):
        pass
    with nothing_at_work(tmp_path):
        pass
