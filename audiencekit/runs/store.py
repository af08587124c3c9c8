"""The runs that this machine has made: one directory each under the state directory, with its report."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from audiencekit.errors import Bug, InputOutputFailed, UsageError
from audiencekit.machine.checkeddocuments import decode_checked, encode_checked
from audiencekit.machine.crashpoints import pass_point
from audiencekit.machine.privatefiles import explained, read_file, replace_file, sync_directory
from audiencekit.machine.statedirectory import check_root, make_directory
from audiencekit.preparation.times import format_time
from audiencekit.runs.runorder import Place, Succession

RUNS: Final = "runs"
REPORT: Final = "report.json"
LAST: Final = "last"
RUN_ID: Final = re.compile(r"[0-9a-z-]{8,40}")
RUN_ID_TIME: Final = "%Y%m%d-%H%M%S"
_OWN_ID: Final = re.compile(  # those of older versions tell no fraction
    r"(?P<second>[0-9]{8}-[0-9]{6})-(?:(?P<fraction>[0-9a-f]{4})[0-9a-f]{4}|[0-9a-f]{6})"
)
_FRACTIONS: Final = 0x10000  # of a second, in an id
CHOSEN_RUN_ID: Final = re.compile(r"(?!.*--)[0-9a-z][0-9a-z-]{6,34}[0-9a-z]")  # leaves room for what `successor` adds
SUCCESSOR: Final = "--"
MAX_REPORT_BYTES: Final = 64_000_000
UNREADABLE: Final = "unreadable"
SUMMARY_KEYS: Final = (
    *("state", "operation", "target", "audience_id", "audience_name", "source_names", "started_at", "finished_at"),
    *("expires_at", "rows", "requests"),
)


def new_run_id(now: float, randomness: Callable[[int], str] = secrets.token_hex) -> str:
    """An id such as `20261121-013000-80001f3a`: sorts by `now` (epoch seconds, shown in UTC), to 15 microseconds.

    The first four of the last digits are the fraction of the second: `last` would be either of two runs without it.
    """
    fraction = int(now % 1 * _FRACTIONS)
    return f"{datetime.fromtimestamp(int(now), UTC).strftime(RUN_ID_TIME)}-{fraction:04x}{randomness(2)}"


def check_chosen_run_id(run_id: str) -> None:
    """Raises UsageError for an id that a caller may not give to a run."""
    if not CHOSEN_RUN_ID.fullmatch(run_id):
        hint = "8 to 36 of the characters a to z, 0 to 9 and -, no two - in a row and none at an end"
        raise UsageError("this cannot be the id of a run", hint=hint)


class RunStore:
    """Directories `runs/<run_id>/` under the state directory, for their owner only.

    Raises InputOutputFailed when a file or directory cannot be made, written or read.
    """

    def __init__(self, state_dir: Path) -> None:
        self.state_dir, self._runs, self._succession = state_dir, state_dir / RUNS, Succession(state_dir)

    def create(self, run_id: str) -> Path:
        """The new directory of `run_id`. One that exists already is a failure."""
        directory = self.directory(run_id)
        with explained("the directory of the run cannot be made", directory):
            make_directory(self.state_dir, RUNS)
            if os.path.lexists(directory):
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
            self._succession.begin(run_id, self.places())
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
        return read_kept_report(self.directory(run_id) / REPORT)

    def list_runs(self) -> list[dict[str, Any]]:
        """Every run, newest first: `run_id`, `state`, and what else of its report sums it up.

        A run without a report is `incomplete`: it goes on, or was killed. One whose report cannot be read is
        `unreadable`, and hides no other.
        """
        return [self.summary(run_id) for run_id in self.ids()]

    def find(self, run: str) -> str:
        """The run id meant by `run`: an id, the beginning of just one, or `last`. Else UsageError."""
        run_ids = self.ids()
        if run in run_ids:
            return run
        found = run_ids[:1] if run == LAST else [run_id for run_id in run_ids if run_id.startswith(run or "/")]
        if len(found) == 1:
            return found[0]
        what = f"{len(found)} runs begin like this" if found else "there is no such run"
        raise UsageError(what, hint="`audiencekit runs` lists them")

    def line_of(self, run_id: str) -> list[str]:
        """The runs under an id that a caller chose, newest first: ID, then ID--2, ID--3 … for what followed it."""
        found = [each for each in self.ids() if each == run_id or each.startswith(run_id + SUCCESSOR)]
        return sorted(found, key=_place_in_line, reverse=True)

    def next_in_line(self, run_id: str) -> str:
        """The id of the next run under an id that a caller chose."""
        line = self.line_of(run_id)
        return f"{run_id}{SUCCESSOR}{_place_in_line(line[0]) + 1}" if line else run_id

    def ids(self) -> list[str]:
        """Every run, the one that was begun last first; the clock of then does not matter."""
        return self._succession.ordered(self.places())[::-1]

    def places(self) -> dict[str, Place]:
        """When each run was begun, by the clock of then.

        Ids of older versions tell the second only, and those that callers chose neither: a time in them is what the run
        is for. For them the last change in the directory does: of two runs one after the other the second is the later
        one, however they are called.
        """
        changes = self.last_changes()
        return {run_id: place_of(run_id) or _place_by_change(run_id, changes[run_id]) for run_id in changes}

    def last_changes(self) -> dict[str, float]:
        """When the directory of each run last changed, in epoch seconds; that of one that has ended stays as it is."""
        check_root(self.state_dir)
        with explained("the runs cannot be listed", self._runs):
            try:
                entries = list(os.scandir(self._runs))
            except FileNotFoundError:
                return {}
            found = {}
            for entry in entries:
                with contextlib.suppress(FileNotFoundError):  # purged meanwhile
                    if RUN_ID.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False):
                        found[entry.name] = entry.stat(follow_symlinks=False).st_mtime
            return found

    def summary(self, run_id: str) -> dict[str, Any]:
        """The one of `list_runs` for `run_id`."""
        summary = {"run_id": run_id, "state": "incomplete", "started_at": time_of(run_id)}
        if not os.path.lexists(self.directory(run_id) / REPORT):
            return summary
        try:
            report = self._read(run_id)
        except InputOutputFailed:
            report = {}
        return summary | {"state": UNREADABLE} | {key: report[key] for key in SUMMARY_KEYS if key in report}


def _place_in_line(run_id: str) -> int:
    place = run_id.partition(SUCCESSOR)[2]
    return int(place) if place.isdecimal() else 1


def time_of(run_id: str) -> str | None:
    """When `run_id` was made, as reports write times; None for an id that does not tell."""
    found = _OWN_ID.fullmatch(run_id)
    made = _second_of(found["second"]) if found else None
    return None if made is None else format_time(made)


def place_of(run_id: str) -> Place | None:
    """Where an id that `new_run_id` makes stands in time, as in `RunStore.places`; None for any other."""
    found = _OWN_ID.fullmatch(run_id)
    made = _second_of(found["second"]) if found else None
    if found is None or found["fraction"] is None or made is None:
        return None
    return format_time(made), made.timestamp() + int(found["fraction"], 16) / _FRACTIONS


def _place_by_change(run_id: str, changed_at: float) -> Place:
    return time_of(run_id) or format_time(datetime.fromtimestamp(changed_at, UTC)), changed_at


def _second_of(text: str) -> datetime | None:
    try:
        return datetime.strptime(text, RUN_ID_TIME).replace(tzinfo=UTC)
    except ValueError:
        return None


def read_kept_report(path: Path) -> dict[str, Any]:
    """The report in the file at `path`, in the directory of its run, without its checksum.

    Raises InputOutputFailed for what is none, or damaged, or the report of another run.
    """
    with explained("the report cannot be read", path):
        content = read_file(path, MAX_REPORT_BYTES)
    document, is_as_written = decode_checked(content)
    if document is None:
        raise InputOutputFailed(f"{str(path)!r} is not a report")
    if not is_as_written:
        raise InputOutputFailed(f"{str(path)!r} is not a report that was written so: it was damaged, or edited")
    if document.get("run_id", path.parent.name) != path.parent.name:
        raise InputOutputFailed(f"{str(path)!r} is the report of another run", hint="restore the one that was there")
    return document


def _encoded(document: dict[str, Any]) -> bytes:
    try:
        return encode_checked(document)
    except TypeError:
        raise Bug("the report holds something that is not JSON") from None
