"""The runs that this machine has made: one directory each under the state directory, with its report."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import orjson

from audiencekit.errors import Bug, InputOutputFailed, UsageError
from audiencekit.machine.crashpoints import pass_point
from audiencekit.machine.privatefiles import explained, make_private_directory, read_file, replace_file, sync_directory

RUNS: Final = "runs"
REPORT: Final = "report.json"
LAST: Final = "last"
RUN_ID: Final = re.compile(r"[0-9a-z-]{8,40}")
RUN_ID_TIME: Final = "%Y%m%d-%H%M%S"
MAX_REPORT_BYTES: Final = 64_000_000
SUMMARY_KEYS: Final = ("state", "target", "audience_id", "started_at", "finished_at", "rows", "requests")


def new_run_id(now: float, randomness: Callable[[int], str] = secrets.token_hex) -> str:
    """An id such as `20261121-013000-1f3a9c`: sorts by `now` (epoch seconds, shown in UTC)."""
    return f"{datetime.fromtimestamp(now, UTC).strftime(RUN_ID_TIME)}-{randomness(3)}"


class RunStore:
    """Directories `runs/<run_id>/` under the state directory, for nobody but their owner.

    Raises InputOutputFailed when a file or directory cannot be made, written or read.
    """

    def __init__(self, state_dir: Path) -> None:
        self._runs = state_dir / RUNS

    def create(self, run_id: str) -> Path:
        """The new directory of `run_id`. One that exists already is a failure."""
        directory = self.directory(run_id)
        with explained("the directory of the run cannot be made", directory):
            self._runs.parent.mkdir(parents=True, exist_ok=True)
            make_private_directory(self._runs)
            directory.mkdir(mode=0o700)
            sync_directory(self._runs)
        return directory

    def directory(self, run_id: str) -> Path:
        """Where `run_id` lives, whether it exists or not. Raises UsageError for what is no run id."""
        if not RUN_ID.fullmatch(run_id):
            raise UsageError("this is not the id of a run", hint="`audiencekit runs` lists them")
        return self._runs / run_id

    def write_report(self, run_id: str, document: dict[str, Any]) -> Path:
        """The path of the report, which is whole at every moment: written aside, synced, then renamed."""
        path = self.directory(run_id) / REPORT
        with explained("the report cannot be written", path):
            pass_point("before report")
            replace_file(path, _encoded(document))
            pass_point("after report")
        return path

    def read_report(self, run: str) -> dict[str, Any]:
        """The report of `run`, which may be given as `find` takes it."""
        return self._read(self.find(run))

    def _read(self, run_id: str) -> dict[str, Any]:
        path = self.directory(run_id) / REPORT
        with explained("the report cannot be read", path):
            content = read_file(path, MAX_REPORT_BYTES)
        try:
            document = orjson.loads(content)
        except ValueError:  # its message would quote the file
            document = None
        if not isinstance(document, dict):
            raise InputOutputFailed(f"{str(path)!r} is not a report")
        return document

    def list_runs(self) -> list[dict[str, Any]]:
        """Every run, newest first: `run_id`, `state`, and what else of its report sums it up.

        A run without a report is `incomplete`: it goes on, or was killed. One whose report cannot be read is
        `unreadable`, and hides no other.
        """
        return [self._summary(run_id) for run_id in self._run_ids()]

    def find(self, run: str) -> str:
        """The run id meant by `run`: an id, the beginning of just one, or `last`. Else UsageError."""
        run_ids = self._run_ids()
        if run in run_ids:
            return run
        found = run_ids[:1] if run == LAST else [run_id for run_id in run_ids if run_id.startswith(run or "/")]
        if len(found) == 1:
            return found[0]
        what = f"{len(found)} runs begin like this" if found else "there is no such run"
        raise UsageError(what, hint="`audiencekit runs` lists them")

    def _run_ids(self) -> list[str]:
        with explained("the runs cannot be listed", self._runs):
            try:
                entries = list(os.scandir(self._runs))
            except FileNotFoundError:
                return []
            names = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
        return sorted((name for name in names if RUN_ID.fullmatch(name)), reverse=True)

    def _summary(self, run_id: str) -> dict[str, Any]:
        summary = {"run_id": run_id, "state": "incomplete", "started_at": _time_of(run_id)}
        if not os.path.lexists(self.directory(run_id) / REPORT):
            return summary
        try:
            report = self._read(run_id)
        except InputOutputFailed:
            report = {}
        return summary | {"state": "unreadable"} | {key: report[key] for key in SUMMARY_KEYS if key in report}


def _time_of(run_id: str) -> str | None:
    """When `run_id` was made, as reports write times; None for an id that does not tell."""
    try:
        made = datetime.strptime(run_id[:15], RUN_ID_TIME)  # noqa: DTZ007
    except ValueError:
        return None
    return made.strftime("%Y-%m-%dT%H:%M:%SZ")


def _encoded(document: dict[str, Any]) -> bytes:
    try:
        return orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    except TypeError:
        raise Bug("the report holds something that is not JSON") from None
