"""The store of runs in a state directory: their directories, locks and order."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import orjson

from audiencekit.destinations.target import Target
from audiencekit.errors import AudienceBusy, Bug, InputOutputFailed, UsageError
from audiencekit.process.crash_points import pass_point
from audiencekit.records.plan_times import format_time
from audiencekit.runs.watched import says_of_run
from audiencekit.selection.erased_people import ERASURES, RECEIPT
from audiencekit.state.directory import check_root, make_directory, safe_child
from audiencekit.state.files import (
    MOST_DOCUMENT_BYTES,
    decode_checked,
    encode_checked,
    explained,
    read_file,
    replace_file,
    sync_directory,
)
from audiencekit.state.locks import holder_of, locked, read_holder, taken, write_holder

# --- The runs and erasures of this machine: one directory each under the state directory, with a document ---
#
# runs/<id>/report.json the report of a run; beside it its journal, and its spool when that is kept
# erasures/<id>/receipt.json the receipt of an erasure; beside it the keys of its people until it is complete

RUNS: Final = "runs"
REPORT: Final = "report.json"
LAST: Final = "last"
RUN_ID: Final = re.compile(r"[0-9a-z-]{8,40}")
RUN_ID_TIME: Final = "%Y%m%d-%H%M%S"
_OWN_ID: Final = re.compile(r"(?:forget-)?(?P<second>[0-9]{8}-[0-9]{6})-(?P<fraction>[0-9a-f]{4})[0-9a-f]{4}")
_FRACTIONS: Final = 0x10000  # of a second, in an id
CHOSEN_RUN_ID: Final = re.compile(r"(?!.*--)[0-9a-z][0-9a-z-]{6,34}[0-9a-z]")  # leaves room for what `successor` adds
SUCCESSOR: Final = "--"
UNREADABLE: Final = "unreadable"
SUMMARY_KEYS: Final = (
    *("state", "operation", "target", "audience_id", "audience_name", "source_names", "started_at", "finished_at"),
    *("expires_at", "rows", "requests", "repair_of"),
)


def new_run_id(now: float, randomness: Callable[[int], str] = secrets.token_hex) -> str:
    """Return an id such as `20261121-013000-80001f3a`, which sorts by `now` (epoch seconds, in UTC) to 15 microseconds.

    The first four of the last digits are the fraction of the second: without it `last` could be either of two runs.
    """
    fraction = int(now % 1 * _FRACTIONS)
    return f"{datetime.fromtimestamp(int(now), UTC).strftime(RUN_ID_TIME)}-{fraction:04x}{randomness(2)}"


def check_chosen_run_id(run_id: str) -> None:
    """Raise UsageError for an id that a caller may not give to a run."""
    if not CHOSEN_RUN_ID.fullmatch(run_id):
        hint = "8 to 36 of the characters a to z, 0 to 9 and -, no two - in a row and none at an end"
        raise UsageError("this is not a valid run id", hint=hint)


@dataclass(frozen=True, slots=True, kw_only=True)
class Home:
    """A directory in the state directory with a directory for each id, which has a document.

    Its ids begin with `prefix`; `id_name` is the key of the id in the document, which is called `title` and has the
    format `form`.
    """

    name: str
    noun: str
    prefix: str
    ids: re.Pattern[str]
    id_name: str
    title: str
    document: str
    form: str

    def new_id(self, now: float) -> str:
        """Return an id for something that begins now, in epoch seconds."""
        return self.prefix + new_run_id(now)

    def read(self, directory: Path) -> dict[str, Any]:
        """Return the document in the `directory` of an id, without its format and checksum.

        Raises InputOutputFailed for a document that is missing, damaged, or of another id or format.
        """
        path = directory / self.document
        with explained(f"the {self.title} cannot be read", path):
            content = read_file(path, MOST_DOCUMENT_BYTES)
        document, is_as_written = decode_checked(content, self.form, path)
        if document is None:
            raise InputOutputFailed(f"{str(path)!r} is not a {self.title}", hint="restore it")
        if not is_as_written:
            message = f"{str(path)!r} is not a {self.title} that was written so: it was damaged, or edited"
            raise InputOutputFailed(message, hint="restore it")
        if document.get(self.id_name, directory.name) != directory.name:
            message = f"{str(path)!r} is the {self.title} of another {self.noun}"
            raise InputOutputFailed(message, hint="restore the one that was there")
        return document


RUN_HOME: Final = Home(
    name=RUNS, noun="run", prefix="", ids=RUN_ID, id_name="run_id", title="report", document=REPORT,
    form="audiencekit-report/1",
)  # fmt: skip
ERASURE_HOME: Final = Home(
    name=ERASURES, noun="erasure", prefix="forget-", ids=re.compile(r"forget-[0-9a-z-]{8,33}"), id_name="erasure_id",
    title="receipt", document=RECEIPT, form="audiencekit-receipt/1",
)  # fmt: skip


class Store:
    """The directories of one home under the state directory, for their owner only.

    Raises InputOutputFailed when a file or directory cannot be made, written or read.
    """

    def __init__(self, state_dir: Path, home: Home) -> None:
        self.state_dir, self.home = state_dir, home
        self._succession = RunOrder(state_dir)

    def create(self, run_id: str) -> Path:
        """Make and return the directory of `run_id`. Fails if it exists already."""
        directory = self.directory(run_id)
        with explained(f"the directory of the {self.home.noun} cannot be made", directory):
            make_directory(self.state_dir, self.home.name)
            if os.path.lexists(directory):
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
            directory.mkdir(mode=0o700)
            sync_directory(directory.parent)
        return directory

    def note_begun(self, run_id: str) -> None:
        """Append `run_id` to the list of begun runs, after the run itself says so: so the list is a proof.

        Raises InputOutputFailed.
        """
        self._succession.begin(run_id, {name: moment for name, moment in self.moments().items() if name != run_id})

    def note_resumed(self, run_id: str) -> None:
        """Insert `run_id` into that list, if it is missing because of a kill. Raises InputOutputFailed."""
        if not self._succession.knows(run_id):
            self._succession.insert(run_id, self.moments())

    def directory(self, run_id: str) -> Path:
        """Return the directory of `run_id`, which may not exist. Raises UsageError for an invalid id."""
        if not self.home.ids.fullmatch(run_id):
            raise UsageError(f"no {self.home.noun} has an id like this", hint="`audiencekit runs` lists them")
        return self.state_dir / self.home.name / run_id

    def has_document(self, run_id: str) -> bool:
        """Whether it has a document, readable or not."""
        return os.path.lexists(self.directory(run_id) / self.home.document)

    def write(self, run_id: str, document: dict[str, Any]) -> Path:
        """Write the document and return its path. The file is complete at every moment."""
        path = self.directory(run_id) / self.home.document
        with explained(f"the {self.home.title} cannot be written", path):
            pass_point("before report")
            replace_file(path, _encoded(document, self.home))
            pass_point("after report")
        return path

    def read(self, run_id: str) -> dict[str, Any]:
        """Return the document of `run_id`. Raises as `Home.read`."""
        return self.home.read(self.directory(run_id))

    def find(self, given: str) -> str:
        """Return the id that `given` means, as in `find_id`."""
        return find_id(given, self.ids(), self.home.noun)

    def ids(self) -> list[str]:
        """Return all ids, the last begun first; clocks do not matter."""
        return self._succession.ordered(self.moments())[::-1]

    def moments(self) -> dict[str, float]:
        """Return when each was begun, by the clock of then, in epoch seconds.

        The time in an id that a caller chose is that of its purpose. Then the last change in the directory counts: of
        two runs one after the other the second is later, whatever their names.
        """
        moments = {run_id: (_moment_of(run_id), changed_at) for run_id, changed_at in self.last_changes().items()}
        return {run_id: changed_at if moment is None else moment for run_id, (moment, changed_at) in moments.items()}

    def last_changes(self) -> dict[str, float]:
        """Return when each directory last changed, in epoch seconds; that of a finished one does not change."""
        check_root(self.state_dir)
        directory = self.state_dir / self.home.name
        with explained(f"the {self.home.noun}s cannot be listed", directory):
            try:
                entries = list(os.scandir(directory))
            except FileNotFoundError:
                return {}
            found = {}
            for entry in entries:
                with contextlib.suppress(FileNotFoundError):  # purged meanwhile
                    if self.home.ids.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False):
                        found[entry.name] = entry.stat(follow_symlinks=False).st_mtime
            return found


class RunStore(Store):
    """The runs, in `runs/<run_id>/`."""

    def __init__(self, state_dir: Path) -> None:
        super().__init__(state_dir, RUN_HOME)

    def list_runs(self) -> list[dict[str, Any]]:
        """Return a summary of every run, newest first: `run_id`, `state`, and other keys of its report.

        A run without a report is `incomplete`: it is at work, or was killed. A run whose report cannot be read is
        `unreadable`, and does not hide the others.
        """
        return [self.summary(run_id) for run_id in self.ids()]

    def successors(self, run_id: str) -> list[str]:
        """Return the runs under an id that a caller chose, newest first: ID, then ID--2, ID--3 … for those after it."""
        found = [each for each in self.ids() if each == run_id or each.startswith(run_id + SUCCESSOR)]
        return sorted(found, key=_successor_number, reverse=True)

    def next_successor_id(self, run_id: str) -> str:
        """Return the id of the next run under an id that a caller chose."""
        line = self.successors(run_id)
        return f"{run_id}{SUCCESSOR}{_successor_number(line[0]) + 1}" if line else run_id

    def summary(self, run_id: str) -> dict[str, Any]:
        """Return the entry of `list_runs` for `run_id`."""
        summary = {"run_id": run_id, "state": "incomplete", "started_at": time_of(run_id)}
        if not self.has_document(run_id):
            return summary
        try:
            report = self.read(run_id)
        except InputOutputFailed:
            report = {}
        return summary | {"state": UNREADABLE} | {key: report[key] for key in SUMMARY_KEYS if key in report}


def find_id(given: str, newest_first: Sequence[str], noun: str) -> str:
    """Return the id that `given` means: an id, the unique beginning of one, or `last`. Raises UsageError."""
    if given in newest_first:
        return given
    found = newest_first[:1] if given == LAST else [each for each in newest_first if each.startswith(given or "/")]
    if len(found) == 1:
        return found[0]
    message = f"{len(found)} {noun}s begin like this" if found else f"there is no such {noun}"
    raise UsageError(message, hint="`audiencekit runs` lists them")


def _successor_number(run_id: str) -> int:
    place = run_id.partition(SUCCESSOR)[2]
    return int(place) if place.isdecimal() else 1


def time_of(run_id: str) -> str | None:
    """Return when `run_id` was made, as reports write times; None for an id without a time."""
    moment = _moment_of(run_id)
    return None if moment is None else format_time(datetime.fromtimestamp(int(moment), UTC))


def _moment_of(run_id: str) -> float | None:
    """Return when an id of `new_run_id` was made, in epoch seconds; None for any other id."""
    found = _OWN_ID.fullmatch(run_id)
    if found is None:
        return None
    try:
        second = datetime.strptime(found["second"], RUN_ID_TIME).replace(tzinfo=UTC)
    except ValueError:
        return None
    return second.timestamp() + int(found["fraction"], 16) / _FRACTIONS


def _encoded(document: dict[str, Any], home: Home) -> bytes:
    try:
        return encode_checked(document, home.form)
    except TypeError:
        raise Bug(f"the {home.title} holds something that is not JSON") from None


# --- The order in which runs and erasures were begun: clocks can be wrong, so no clock decides it ---
#
# The file `begun` of the state directory has an id on each line. It is written anew, whole, under a lock that the
# kernel gives back, when a run has its journal or an erasure its receipt, and before anything is sent. What is not in
# it, as after a kill or with its line damaged, has its place by its time, behind the last of those with an earlier one.

BEGUN: Final = "begun"
UNSURE: Final = "?"  # behind an id that may never have begun
MAX_BYTES: Final = 64_000_000


class RunOrder:
    """The order in which runs and erasures were begun in one state directory."""

    def __init__(self, state_dir: Path) -> None:
        self._directory, self._path = state_dir, state_dir / BEGUN
        self._homes = [state_dir / home for home in ("runs", "erasures")]

    def ordered(self, moments: Mapping[str, float]) -> list[str]:
        """Return the ids of `moments`, the last begun at the end.

        `moments` are the times of their beginnings, in epoch seconds. They decide if the list cannot be read.
        """
        listed: list[str] = []
        with contextlib.suppress(InputOutputFailed):
            listed = list(self._read())
        return [each for each in _merged(listed, moments) if each in moments]

    def begin(self, run_id: str, others: Mapping[str, float]) -> None:
        """Append `run_id`, which is not listed yet. Ids of removed runs are dropped.

        Raises InputOutputFailed when the list cannot be read or written.
        """
        with self._alone():
            there = {name for home in self._homes if home.is_dir() for name in os.listdir(home)}
            listed = self._read()
            order = [each for each in _merged(listed, others) if each in there and each != run_id]
            begun = {each: listed.get(each) or self._says_something(each) for each in order}
            self._write({**begun, run_id: True})

    def insert(self, run_id: str, moments: Mapping[str, float]) -> None:
        """Note that `run_id` had begun; if it is not listed, insert it by its time. Raises as `begin`."""
        with self._alone():
            listed = {**self._read()}
            order = [each for each in _merged(listed, moments) if each in listed or each == run_id]
            self._write({each: each == run_id or listed[each] for each in order})

    def knows(self, run_id: str) -> bool:
        """Whether `run_id` had begun; True when the list cannot be read, since it cannot be excluded then."""
        try:
            return self._read().get(run_id, False)
        except InputOutputFailed:
            return True

    def forget(self, run_id: str) -> None:
        """Remove `run_id` from the list. Raises as `begin`."""
        with self._alone():
            listed = self._read()
            if run_id in listed:
                del listed[run_id]
                self._write(listed)

    def _says_something(self, run_id: str) -> bool:
        """Whether an unlisted run has written anything: otherwise it may never have begun."""
        files = (path for home in self._homes for path in (home / run_id).glob("*"))
        return any(path.stat().st_size for path in files if path.is_file() and says_of_run(path.name))

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        with (
            explained("the list of what was begun cannot be written", self._path),
            locked(self._directory, is_directory=True),
        ):
            yield

    def _write(self, begun: Mapping[str, bool]) -> None:
        for left in self._directory.glob(f".{BEGUN}-*"):  # by a kill: no other process writes now
            left.unlink()
        replace_file(
            self._path, "".join(f"{each}{'' if is_sure else UNSURE}\n" for each, is_sure in begun.items()).encode()
        )

    def _read(self) -> dict[str, bool]:
        """Return each id, in order, and whether it has certainly begun."""
        with explained("the list of what was begun cannot be read", self._path):
            try:
                lines = read_file(self._path, MAX_BYTES).decode("ascii", "replace").split()
            except FileNotFoundError:
                return {}
        return {line.removesuffix(UNSURE): not line.endswith(UNSURE) for line in lines}


def _merged(listed: Iterable[str], moments: Mapping[str, float]) -> list[str]:
    """Return all listed ids, in order, with the others of `moments` between them."""
    numbers = {run_id: number for number, run_id in enumerate(listed)}
    timed = [(moments[run_id], number) for run_id, number in numbers.items() if run_id in moments]

    def rank(run_id: str) -> tuple[float, float, str]:
        if run_id in numbers:
            return numbers[run_id], 0.0, run_id
        earlier = (number for moment, number in timed if moment <= moments[run_id])
        return max(earlier, default=-1) + 0.5, moments[run_id], run_id

    return sorted(numbers.keys() | moments.keys(), key=rank)


# --- The locks of a state directory: at most one run for each target, and one erasure, are at work ---
#
# The kernel gives them back when their holder ends, however it ends. The files stay; what they say is for messages
# only.

LOCKS: Final = "locks"
ERASURE_LOCK: Final = ".lock"
_NOTHING_HELD: Final = "wait until it has ended; {} that was killed holds nothing"


class TargetLock:
    """The lock of a target of an account on this host.

    Raises AudienceBusy when another run holds it, InputOutputFailed when the state directory cannot be written.
    """

    def __init__(self, state_dir: Path, account_id: str, target: Target, run_id: str) -> None:
        self._state_dir, self._path = state_dir, _place(state_dir, account_id, target)
        self._target, self._run_id = target, run_id
        self._taken = contextlib.ExitStack()

    def __enter__(self) -> Self:
        make_directory(self._state_dir, LOCKS)
        what = f"the lock of the {self._target.destination.words.noun} cannot be made"
        self._taken.enter_context(taken(self._path, what, self._busy, holder=_words(self._run_id)))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._taken.close()

    def _busy(self) -> AudienceBusy:
        holder = _read(read_holder(self._path))
        run_id, process_id = holder.get("run_id"), holder.get("process_id")
        who = f"run {run_id} (process {process_id})" if isinstance(run_id, str) else "another run"
        return AudienceBusy(
            f"{who} is at work on this {self._target.destination.words.noun}: nothing was sent",
            run_id=run_id if isinstance(run_id, str) else None,
            process_id=process_id if isinstance(process_id, int) else None,
            hint=_NOTHING_HELD.format("a run"),
        )


@contextlib.contextmanager
def erasure_lock(state_dir: Path) -> Iterator[Callable[[str], None]]:
    """Keep other erasures of this state directory out meanwhile; yield a function that notes the id of this one.

    Raises AudienceBusy during another erasure, InputOutputFailed when the state directory cannot be written.
    """
    path = make_directory(state_dir, ERASURES) / ERASURE_LOCK
    message = "another erasure is at work in this state directory: nothing was sent"
    hint = _NOTHING_HELD.format("one")
    what = "the lock of erasures cannot be taken"
    with taken(path, what, lambda: AudienceBusy(message, hint=hint), holder=b"") as file:

        def note(erasure_id: str) -> None:
            with contextlib.suppress(OSError):  # it is for those who look, and nothing hangs on it
                write_holder(file, _words(erasure_id))

        yield note


@contextlib.contextmanager
def nothing_at_work(state_dir: Path) -> Iterator[None]:
    """Hold every lock of targets and of erasures meanwhile. Raises AudienceBusy, and InputOutputFailed."""
    message = "a run or an erasure is at work: nothing was changed"
    hint = "try again when it has ended"
    with contextlib.ExitStack() as stack:
        for path in _files(state_dir):
            stack.enter_context(taken(path, "a lock cannot be taken", lambda: AudienceBusy(message, hint=hint)))
        yield


def at_work(state_dir: Path, run_ids: Collection[str]) -> set[str]:
    """Return those of `run_ids` (runs or erasures) that hold a lock on this host now, whatever their journals say."""
    found = set()
    for path in _files(state_dir):
        # Looking whether a lock is held takes it for a moment: only where it may be one of theirs.
        run_id = _read(read_holder(path)).get("run_id")
        if run_id in run_ids and holder_of(path) is not None:
            found.add(str(run_id))
    return found


def _files(state_dir: Path) -> list[Path]:
    return [*sorted((state_dir / LOCKS).glob("*.lock")), *(state_dir / ERASURES).glob(ERASURE_LOCK)]


def _place(state_dir: Path, account_id: str, target: Target) -> Path:
    return safe_child(state_dir / LOCKS, f"{account_id}-{target.lock_name}").with_suffix(".lock")


def _words(run_id: str) -> bytes:
    return orjson.dumps({"run_id": run_id, "process_id": os.getpid()})


def _read(words: bytes) -> dict[str, Any]:
    """Return the entry of the holder; empty when it is not written yet."""
    try:
        holder = orjson.loads(words)
    except ValueError:
        return {}
    return holder if isinstance(holder, dict) else {}
