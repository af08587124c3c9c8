"""One trial: one contestant, once, in a process of its own, which prints its figures as one JSON line.

A process of its own starts with an empty heap and cold caches, and the system says what it took at its peak.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Final, TypeAlias

Figures: TypeAlias = dict[str, float]

ROOT: Final = Path(__file__).resolve().parent.parent
OUT: Final = ROOT / "benchmarks" / "RESULTS.md"
_OWN_PROCESS: Final = "benchmarks.own_process"
_KIBIBYTE: Final = 1_024
_READ_BYTES: Final = 1_048_576
_MAXRSS_UNIT_BYTES: Final = 1 if sys.platform == "darwin" else _KIBIBYTE  # getrusage(2) of each system


@dataclass(frozen=True, slots=True, kw_only=True)
class Contestant:
    """One way of doing the job: a module of this folder, its arguments, and what it may use.

    `is_ours` gives it a process like that of our commands. `cores` bounds the processors (None: all); `package` is what
    it imports besides ours. `environment` is added to that of the caller, whose AUDIENCEKIT_* never pass.
    """

    name: str
    module: str
    arguments: tuple[str, ...] = ()
    is_ours: bool = False
    cores: int | None = None
    package: str | None = None
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def command(self) -> list[str]:
        """The command line of one trial."""
        modules = [_OWN_PROCESS, self.module] if self.is_ours else [self.module]
        return [sys.executable, "-m", *modules, *self.arguments]

    def hindrance(self) -> str | None:
        """Why it cannot take part here; None when it can. Looks for its package without importing it."""
        if self.package is not None and importlib.util.find_spec(self.package) is None:
            return f"the package {self.package} is not installed"
        if self.cores is not None and not hasattr(os, "sched_setaffinity"):
            return "the system does not bind processes to cores"
        return None


def run_trial(contestant: Contestant) -> Figures:
    """Run the contestant; return the figures printed, and of the process with its start: seconds, speeds, `peak_bytes`.

    The peak is the largest resident size of the process or of one of its children, not of all together. The files that
    it is given are read once before, so that none waits for the disk after a long trial of another. Raises
    RuntimeError when the contestant fails.
    """
    for argument in contestant.arguments:
        _read_ahead(Path(argument))
    cores = None if contestant.cores is None else core_numbers()[: contestant.cores]
    ended = run_to_end(contestant.name, contestant.command, environment=contestant.environment, cores=cores)
    told = {**json.loads(ended.printed), "process_seconds": ended.seconds}
    return {**told, **_speeds(told), "cpu_seconds": ended.processor_seconds, "peak_bytes": ended.peak_bytes}


@dataclass(frozen=True, slots=True)
class EndedProcess:
    """A process with its start: seconds by the clock and of processor time, bytes at its peak, and its output."""

    seconds: float
    processor_seconds: float
    peak_bytes: int
    printed: bytes

    @property
    def document(self) -> Any:
        """The output as JSON."""
        return json.loads(self.printed)


def run_to_end(
    name: str, command: list[str], *, environment: Mapping[str, str] | None = None, cores: Collection[int] | None = None
) -> EndedProcess:
    """Run a command as `start` does. Raises RuntimeError, with its `name`, when it fails."""
    started = time.perf_counter()
    process = start(command, environment=environment, cores=cores)
    assert process.stdout is not None
    with process.stdout:
        printed = process.stdout.read()
    # `wait4` tells of this one child; getrusage(RUSAGE_CHILDREN) knows only the largest of all there ever were.
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{name} ended with {process.returncode}")
    return EndedProcess(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * _MAXRSS_UNIT_BYTES, printed)


def run_command(*words: str, environment: Mapping[str, str]) -> EndedProcess:
    """Run a command of ours with --json. Raises as `run_to_end`."""
    command = [sys.executable, "-m", "audiencekit", *words, "--json"]
    return run_to_end(f"`{words[0]}`", command, environment=environment)


def _speeds(told: Figures) -> Figures:
    """Rows and megabytes of bodies a second, of the whole process, as far as it told of them."""
    seconds = told["process_seconds"]
    speeds = {"process_rows_per_second": told["rows"] / seconds} if "rows" in told else {}
    if "body_bytes" in told:
        speeds["process_megabytes_per_second"] = told["body_bytes"] / seconds / 1e6
    return speeds


def _read_ahead(path: Path) -> None:
    if path.is_file():
        with path.open("rb", buffering=0) as file:
            while file.read(_READ_BYTES):
                pass


def start(
    command: list[str],
    *,
    environment: Mapping[str, str] | None = None,
    cores: Collection[int] | None = None,
    stdin: IO[bytes] | None = None,
) -> subprocess.Popen[bytes]:
    """The process, with its stdout as a pipe, started in the checkout; on the cores of these numbers alone.

    It keeps the bytecode of what it imports, as an installation has it: only the first compiles.
    """
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("AUDIENCEKIT_") and name != "PYTHONDONTWRITEBYTECODE"
    }
    return subprocess.Popen(
        command,
        stdin=stdin,
        stdout=subprocess.PIPE,
        cwd=ROOT,
        env={**inherited, **(environment or {})},
        preexec_fn=None if cores is None else lambda: os.sched_setaffinity(0, cores),
    )


def core_numbers() -> list[int]:
    """The cores that this process may use, ascending."""
    return sorted(os.sched_getaffinity(0))


def trial_arguments(run: Callable[..., Figures], **switches: str) -> None:
    """The other side: run on the path that the command line names, and print the figures.

    Each of `switches` {keyword: help} is an option that hands True to that keyword of `run`.
    """
    parser = argparse.ArgumentParser(description="One trial; prints one JSON line.")
    parser.add_argument("path", type=lambda text: text if "://" in text else Path(text), help="a path or an address")
    for keyword, meaning in switches.items():
        parser.add_argument("--" + keyword.replace("_", "-"), action="store_true", help=meaning)
    given = vars(parser.parse_args())
    print(json.dumps(run(given.pop("path"), **given)))
