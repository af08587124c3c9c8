"""Disks that fail, on the real file system: strace has the system refuse writes, syncs, renames and opens.

DISK_TRIALS raises the number of cases (5) for a longer run: then every n-th call of each kind fails in turn, once
and from then on; 1000 is more than there are.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from audiencekit.emulator import Emulator
from tests.crashes.driver import RUN_ID
from tests.crashes.killing import ROOT, Driver, Ended
from tests.crashes.scenario import CONCURRENCY, Source, check_finished, environment, log_of, upload_command
from tests.moments import PATIENCE_SECONDS
from tests.strace import strace

TRIALS = int(os.environ.get("DISK_TRIALS", "5"))


@dataclass(frozen=True)
class Fault:
    """The `nth` call of each thread fails, once or from then on; `name` restricts it to one file of the run."""

    call: str
    error: str
    nth: int
    for_ever: bool = False
    name: str = ""

    def __str__(self) -> str:
        return f"{self.error} of {self.call} {self.nth}{'+' * self.for_ever} {self.name}".rstrip()

    def options(self, state_dir: Path) -> list[str]:
        """The options of strace that make it happen."""
        inject = f"inject={self.call}:error={self.error}:when={self.nth}{'+' * self.for_ever}"
        path = ["-P", str(state_dir / "runs" / RUN_ID / self.name)] if self.name else []
        return ["-f", "--seccomp-bpf", "-qq", "-o", os.devnull, *path, "-e", f"trace={self.call}", "-e", inject]


FAULTS = [
    Fault("fdatasync", "EIO", 1),
    Fault("fdatasync", "ENOSPC", 6, for_ever=True),
    Fault("fdatasync", "EIO", 13),
    Fault("pwrite64", "ENOSPC", 3),
    Fault("pwrite64", "ENOSPC", 16, for_ever=True),
    Fault("pwrite64", "EIO", 24, name="journal.sqlite-journal"),
    Fault("fsync", "EIO", 2, for_ever=True),
    Fault("rename", "ENOSPC", 2),
    Fault("openat", "ENOSPC", 3, for_ever=True, name="journal.sqlite-journal"),
    Fault("unlink", "EIO", 3, name="journal.sqlite-journal"),
]


# Calls of one thread in a run of these lists, at the most, and a few more: after them a fault does not happen.
GREATEST = {"fdatasync": 104, "pwrite64": 290, "fsync": 9, "rename": 3, "openat": 22, "unlink": 26}
ONLY_OF = dict.fromkeys(("openat", "unlink"), "journal.sqlite-journal")


def _every() -> Iterator[Fault]:
    for nth in range(1, max(GREATEST.values()) + 1):
        for call in (call for call, greatest in GREATEST.items() if nth <= greatest):
            for for_ever in (False, True):
                yield Fault(call, ("EIO", "ENOSPC")[(nth + for_ever) % 2], nth, for_ever, ONLY_OF.get(call, ""))


FAULTS_TRIED = [*FAULTS, *(fault for fault in _every() if fault not in FAULTS)][:TRIALS]


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS_TRIED, ids=str)
async def test_a_run_on_a_failing_disk_stops_and_is_finished_exactly(
    driver: Driver, emulator: Emulator, tmp_path: Path, fault: Fault
) -> None:
    """It leaves with 74 and never says more than is true; what the system failed to do unnoticed does no harm."""
    source = Source.draw(fault.nth)
    (tmp_path / "list.csv").write_text(source.text)
    env, upload = environment(emulator, tmp_path), upload_command(emulator, source)
    ended = await asyncio.to_thread(_run_on_failing_disk, tmp_path, env, upload, fault)
    assert "Traceback" not in ended.err
    assert "bug:" not in ended.err
    assert ended.code in ((74,) if fault in FAULTS else (0, 74)), ended.err
    if ended.code:
        assert '"state": "complete"' not in ended.out
        ended = await driver.run(tmp_path, env, "resume", "last", "--json")
    if ended.code in (2, 3):  # there is no run, or one that was not begun
        assert not log_of(emulator)
        ended = await driver.run(tmp_path, env, *upload)
    assert ended.code == 0, ended.err
    check_finished(emulator, source, json.loads(ended.out), in_flight=CONCURRENCY)


def _run_on_failing_disk(tmp_path: Path, env: dict[str, str], upload: list[str], fault: Fault) -> Ended:
    job = {"argv": upload, "env": env, "directory": str(tmp_path), "stdin": os.devnull, "kill": None}
    command = [
        *strace(*fault.options(tmp_path / "state")),
        sys.executable,
        "-m",
        "tests.crashes.driver",
        json.dumps(job),
    ]
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, "PYTHONPATH": "."}, check=False, timeout=PATIENCE_SECONDS
    )
    return Ended(done.returncode, (tmp_path / "out").read_text(), (tmp_path / "err").read_text())
