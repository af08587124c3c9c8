"""Without the modules that Windows lacks, the main job, locks, journal and resumption work."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from tests.moments import PATIENCE_SECONDS
from tests.processes import default_signals, start
from tests.shortened import shortened

ROOT = Path(__file__).resolve().parents[1]
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the locks of Windows are played by those of Linux")

SUITE = (
    "tests/test_pipeline.py",
    "tests/runs/test_resume.py",
    "tests/runs/test_start.py",
    "tests/runs/test_store.py",
    "tests/runs/journal",
    "tests/state/test_kept_spool.py",
)
# They change, or look at, what is taken away; or their other processes lock as Linux does.
_OF_POSIX = (
    "test_a_kill_gives_it_back",
    "test_a_planted_lock_is_a_failure",
    "test_files_are_not_overwritten_or_followed",
    "test_a_full_disk_is_said",
    "test_open_directory_of_runs_is_closed",
)
_AUDIENCEKIT = ("-m", "tests.withoutposix", "audiencekit")
_HOLD = """
import sys
from pathlib import Path
from tests.withoutposix import take_away
take_away()
from audiencekit.state.locks import locked, write_holder
with locked(Path(sys.argv[1]), wait=False, is_directory=sys.argv[2] == "directory") as file:
    write_holder(file, b"this one")
    print("held", flush=True)
    sys.stdin.read()
"""
_LOOK = """
import sys
from pathlib import Path
from tests.withoutposix import take_away
take_away()
from audiencekit.state.locks import holder_of, locked
path, is_directory = Path(sys.argv[1]), sys.argv[2] == "directory"
try:
    with locked(path, wait=False, is_directory=is_directory):
        print("free")
except BlockingIOError:
    print("busy" if is_directory else holder_of(path).decode())
"""


def _environment(home: Path, **more: str) -> dict[str, str]:
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("AUDIENCEKIT_", "XDG_", "PYTEST_"))
    }
    return {**kept, "TMPDIR": str(home), "AUDIENCEKIT_STATE_DIR": str(home / "state"), **more}


def _run(home: Path, *arguments: str, text: str = "", **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        env=_environment(home, **more), cwd=ROOT, input=text, capture_output=True, text=True, timeout=PATIENCE_SECONDS,
    )  # fmt: skip


@pytest.mark.slow
def test_the_demo_is_complete(tmp_path: Path) -> None:
    """The command line, the emulator, the limiter, the journal: a list is uploaded, and its sums close."""
    done = _run(tmp_path, *_AUDIENCEKIT, "demo", "--rows", "200", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["state"] == "complete"
    assert report["reconciliation"]["records_sent"] == report["reconciliation"]["total_count"] > 0


@pytest.mark.slow
def test_a_list_is_piped_in(tmp_path: Path) -> None:
    """Whether more has come cannot be asked there: it is waited for."""
    done = _run(tmp_path, *_AUDIENCEKIT, "check", "-", "--json", text="email\nada@example.com\n")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["rows"]["read"] == 1


@pytest.mark.slow
def test_a_command_that_runs_until_a_signal_ends_in_good_order(tmp_path: Path) -> None:
    """The emulator, and a command that follows it: by a signal of which the event loop is not told."""
    with _begin(tmp_path, "emulator") as emulator:
        assert emulator.stdout is not None
        ready = json.loads(emulator.stdout.readline())
        subscribed = _run(tmp_path, *_AUDIENCEKIT, "activity", "subscribe", **ready["env"])
        assert subscribed.returncode == 0, subscribed.stderr
        event = json.dumps({"event_type": "profile.update.bio", "payload": {"bio": "spring"}}).encode()
        urllib.request.urlopen(f"{ready['base_url']}/__activity", event).close()
        with _begin(tmp_path, "activity", "follow", "--backfill-minutes", "5", **ready["env"]) as follower:
            assert follower.stdout is not None
            assert "spring" in follower.stdout.readline()
            assert _ended(follower) == (0, "ended; 1 events\n")
        assert _ended(emulator)[0] == 0


def _begin(home: Path, *arguments: str, **more: str) -> subprocess.Popen[str]:
    return start(
        [sys.executable, *_AUDIENCEKIT, *arguments],
        env=_environment(home, **more), cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=default_signals,
    )  # fmt: skip


def _ended(process: subprocess.Popen[str]) -> tuple[int, str]:
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=PATIENCE_SECONDS)
    return process.returncode, errors


@pytest.mark.parametrize("kind", shortened(["file", "directory"], 0))
def test_a_lock_keeps_other_processes_out_until_its_holder_is_killed(tmp_path: Path, kind: str) -> None:
    """Its words can be read meanwhile, although Windows locks bytes against readers."""
    path = tmp_path / "one"
    if kind == "directory":
        path.mkdir()
    command = [sys.executable, "-c", _HOLD, str(path), kind]
    with subprocess.Popen(
        command, env=_environment(tmp_path), cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        expected = "busy\n" if kind == "directory" else "this one\n"
        assert _run(tmp_path, "-c", _LOOK, str(path), kind).stdout == expected
        holder.kill()
    assert _run(tmp_path, "-c", _LOOK, str(path), kind).stdout == "free\n"


@pytest.mark.slow
def test_a_state_directory_outside_of_the_profile_is_refused(tmp_path: Path) -> None:
    """Without owners and modes only the profile directory of the user keeps others out."""
    (tmp_path / "profile").mkdir()
    (tmp_path / "elsewhere").mkdir()
    done = _run(
        tmp_path / "profile", *_AUDIENCEKIT, "runs",
        AUDIENCEKIT_STATE_DIR=str(tmp_path / "elsewhere"),
    )  # fmt: skip
    assert done.returncode != 0
    assert "is not in your profile directory" in done.stderr


@pytest.mark.slow
def test_the_suite_passes(tmp_path: Path) -> None:
    """The main job in all its ways, locks, journals and resumption, by their own tests."""
    unfit = " or ".join(_OF_POSIX)
    done = _run(
        tmp_path, "-m", "pytest", "-p", "tests.withoutposix", "-p", "no:cacheprovider", "-n0",
        "-k", f"not ({unfit})", *SUITE, WITHOUT_POSIX="pytest",
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:]
