"""The purge: which runs and erasures are old enough, how they are removed, and the receipt."""

from __future__ import annotations

import os
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, Literal

from audiencekit.errors import AudienceBusy, AudiencekitError, InputOutputFailed, ResumeRefused
from audiencekit.process.crash_points import pass_point
from audiencekit.records.plan_times import format_time
from audiencekit.reporting.sealed_rejections import KEPT_FOR, SEALED_FILES, sealed_files
from audiencekit.runs.journal.facts import RunFacts
from audiencekit.runs.journal.file import JOURNAL, NOTHING_SENT
from audiencekit.runs.reports import opened_journal, summary_of
from audiencekit.runs.store import RUNS, RunOrder, RunStore, TargetLock, at_work, new_run_id, nothing_at_work
from audiencekit.state.directory import make_directory
from audiencekit.state.files import encode_checked, explained, overwrite_file, replace_file, sync_directory
from audiencekit.state.keys import StateKey
from audiencekit.state.locks import taken
from audiencekit.state.spool import destroy_spool

# --- The runs that last changed before a time, and the kind of each: it decides whether they are purged ---

COMPLETE, REFUSED, NOT_BEGUN, NOT_RESUMABLE = "complete", "refused", "not_begun", "not_resumable"
RESUMABLE, DAMAGED, RUNNING, LEFT = "resumable", "damaged", "running", "leftovers"
# Nothing can go on with these; with those a resumption could, once a damaged journal was restored.
ENDED: Final = (COMPLETE, REFUSED, NOT_BEGUN, NOT_RESUMABLE)
UNFINISHED: Final = (RESUMABLE, DAMAGED)


@dataclass(frozen=True, slots=True)
class Expired:
    """A directory or file to remove, its kind, and when it last changed, in epoch seconds (0 if unknown)."""

    path: Path
    kind: str
    changed_at: float


@dataclass(frozen=True, slots=True)
class PurgeCandidates:
    """The things to remove, oldest first, and how many as old are kept, by kind."""

    expired: list[Expired] = field(default_factory=list)
    kept: Counter[str] = field(default_factory=Counter)


def find_runs(
    state_dir: Path,
    before: float,
    key: StateKey | None = None,
    *,
    unfinished: bool = False,
    is_over: Callable[[], bool] = lambda: False,
) -> PurgeCandidates:
    """Return the runs that last changed before `before` (epoch seconds), and the remains of a killed purge.

    With `key` the journals of unfinished ones are checked. The search ends early when `is_over`. Raises
    InputOutputFailed when the runs cannot be listed.
    """
    runs = state_dir / RUNS
    found = PurgeCandidates([Expired(path, LEFT, 0.0) for path in leftovers(runs)])
    changes = RunStore(state_dir).last_changes()
    aged = sorted((changed_at, run_id) for run_id, changed_at in changes.items() if changed_at < before)
    busy = at_work(state_dir, {run_id for _, run_id in aged})
    for changed_at, run_id in aged:
        if is_over():
            break
        kind = RUNNING if run_id in busy else kind_of(summary_of(state_dir, run_id, key))
        if kind in ENDED or (unfinished and kind in UNFINISHED):
            found.expired.append(Expired(runs / run_id, kind, changed_at))
        else:
            found.kept[kind] += 1
    return found


def find_sealed_rejections(state_dir: Path, receipt: PurgeReceipt) -> PurgeCandidates:
    """Return the files of sealed rejections that the purge of `receipt` removes: none is kept for more than 30 days.

    Raises InputOutputFailed when they cannot be listed.
    """
    before = max(receipt.before, receipt.started_at.timestamp() - KEPT_FOR.total_seconds())
    found = PurgeCandidates()
    for path in sealed_files(state_dir):
        with suppress(FileNotFoundError):  # an erasure has removed it meanwhile
            if (changed_at := path.lstat().st_mtime) < before:
                found.expired.append(Expired(path, SEALED_REJECTIONS, changed_at))
    found.expired.sort(key=lambda each: each.changed_at)
    return found


def kind_of(run: Mapping[str, Any]) -> str:
    """The kind of a run, from its entry in the list of runs."""
    if run["running"]:
        return RUNNING
    if run["state"] in (COMPLETE, REFUSED):
        return str(run["state"])
    if "journal" in run:
        return NOT_BEGUN if run["journal"] in NOTHING_SENT else DAMAGED
    return RESUMABLE if run["resumable"] or "unknown_destination" in run else NOT_RESUMABLE


def kept_until(state_dir: Path, run: Mapping[str, Any], retention: timedelta) -> str | None:
    """Return when `run`, an entry in the list of runs, passes the retention; None if it is not purged then."""
    directory = state_dir / RUNS / str(run["run_id"])
    if run.get("operation") == "forget" or kind_of(run) not in ENDED:
        return None
    try:
        changed_at = datetime.fromtimestamp(directory.stat().st_mtime, UTC)
        return format_time(changed_at + retention)
    except (OSError, OverflowError):  # it was purged meanwhile; or never
        return None


# --- The receipt of a purge: counts by kind, and ages. It names no run, no audience and no person ---
#
# purges/<id>.json kept before the first thing goes, and once more at the end; for good

PURGES: Final = "purges"
PREFIX: Final = "purge-"
FORM: Final = "audiencekit-purge/1"
ERASURES, ERASURE_FILES, RECEIPTS, ENTRIES = "erasures", "erasure_files", "receipts", "audit_entries"
SEALED_REJECTIONS: Final = "sealed_rejections"
WORDS: Final = {
    COMPLETE: "complete runs",
    REFUSED: "refused runs",
    NOT_BEGUN: "runs never begun",
    NOT_RESUMABLE: "runs that ended early and cannot be resumed",
    RESUMABLE: "runs that can be resumed",
    DAMAGED: "runs whose journal is damaged",
    RUNNING: "at work, or their audience is",
    LEFT: "left by a purge that was killed",
    ERASURES: "erasures that are not finished",
    ERASURE_FILES: "files that erasures have left",
    RECEIPTS: "receipts of erasures",
    ENTRIES: "entries of the audit log",
    SEALED_REJECTIONS: "files of sealed rejections",
}
REMOVABLE: Final = (*ENDED, *UNFINISHED, LEFT, ERASURE_FILES, RECEIPTS, ENTRIES, SEALED_REJECTIONS)
KEEPABLE: Final = (*UNFINISHED, RUNNING, ERASURES, RECEIPTS)

State = Literal["planned", "begun", "complete", "incomplete"]


@dataclass(slots=True, kw_only=True)
class PurgeReceipt:
    """The counts of one purge, by kind. `by` is the command or the retention.

    `expired` was old enough and is to be removed, `removed` was, with so many `bytes`; `kept` was old enough and stays.
    `changes` are the last changes of all that is to be removed, in epoch seconds.
    """

    purge_id: str
    by: Literal["command", "retention"]
    started_at: datetime
    older_than: timedelta
    state: State = "planned"
    finished_at: datetime | None = None
    expired: Counter[str] = field(default_factory=Counter)
    removed: Counter[str] = field(default_factory=Counter)
    kept: Counter[str] = field(default_factory=Counter)
    changes: list[float] = field(default_factory=list)
    bytes: int = 0

    @classmethod
    def of(cls, older_than: timedelta, now: datetime, by: Literal["command", "retention"]) -> PurgeReceipt:
        """Return the receipt of a purge at `now`, still without counts."""
        return cls(purge_id=PREFIX + new_run_id(now.timestamp()), by=by, started_at=now, older_than=older_than)

    @property
    def before(self) -> float:
        """The time, in epoch seconds, before which something must have last changed to be removed."""
        return max(0.0, self.started_at.timestamp() - self.older_than.total_seconds())

    @property
    def before_text(self) -> str:
        """The same as reports write times."""
        return _time(self.before)

    def count(self, found: PurgeCandidates) -> None:
        """Add the counts of `found`."""
        self.expired.update(each.kind for each in found.expired)
        self.changes += [each.changed_at for each in found.expired if each.kind != LEFT]
        self.kept += found.kept

    def to_json(self) -> dict[str, Any]:
        """Return everything, with times as in reports, and each kind, also those with none."""
        return {
            "purge_id": self.purge_id,
            "state": self.state,
            "by": self.by,
            "started_at": format_time(self.started_at),
            "finished_at": self.finished_at and format_time(self.finished_at),
            "older_than_seconds": int(self.older_than.total_seconds()),
            "before": _time(self.before),
            "expired": {kind: self.expired[kind] for kind in REMOVABLE},
            "removed": {kind: self.removed[kind] for kind in REMOVABLE},
            "kept": {kind: self.kept[kind] for kind in KEEPABLE},
            "oldest": _time(min(self.changes)) if self.changes else None,
            "newest": _time(max(self.changes)) if self.changes else None,
            "bytes": self.bytes,
        }

    def to_text(self) -> str:
        """Return some lines for people."""
        is_plan = self.state == "planned"
        lines = _table("to be purged" if is_plan else "purged", self.expired if is_plan else self.removed)
        return "\n".join([f"last changed before {_time(self.before)}:", *lines, *_table("kept", self.kept)])


def _table(title: str, counts: Counter[str]) -> list[str]:
    rows = [f"  {title:<12}  {number:>7,}  {WORDS[kind]}" for kind, number in counts.items() if number]
    return rows or [f"  {title:<12}  {'none':>7}"]


def _time(moment: float) -> str:
    return format_time(datetime.fromtimestamp(moment, UTC))


def write_receipt(state_dir: Path, receipt: PurgeReceipt) -> None:
    """Store the present receipt; the file is complete at every moment. Raises InputOutputFailed."""
    path = state_dir / PURGES / f"{receipt.purge_id}.json"
    with explained("the receipt of the purge cannot be written", path):
        replace_file(path, encode_checked(receipt.to_json(), FORM))


# --- One purge: the candidates are removed, oldest first, between two writes of its receipt ---


@contextmanager
def only_purge(state_dir: Path) -> Iterator[None]:
    """Keep other purges of this state directory out meanwhile. Raises AudienceBusy, and InputOutputFailed."""
    directory = make_directory(state_dir, PURGES)
    message = "another purge is at work in this state directory: nothing was purged"
    hint = "wait until it has ended; one that was killed holds nothing"
    what = "the directory of purges cannot be locked"
    with taken(directory, what, lambda: AudienceBusy(message, hint=hint), is_directory=True):
        with explained(what, directory):
            for left in directory.glob(f".{PREFIX}*"):  # by a kill, in the middle of a receipt
                left.unlink()
        yield


@contextmanager
def receipted(state_dir: Path, receipt: PurgeReceipt) -> Iterator[list[InputOutputFailed]]:
    """Yield the list of failures, to be added to; store the receipt before and after. Raises the first failure."""
    failures: list[InputOutputFailed] = []
    receipt.state = "begun"
    pass_point("before order")
    write_receipt(state_dir, receipt)
    pass_point("after order")
    yield failures
    receipt.state = "incomplete" if receipt.removed != receipt.expired else "complete"
    receipt.finished_at = max(receipt.started_at, datetime.now(UTC))
    pass_point("before end")
    write_receipt(state_dir, receipt)
    pass_point("after end")
    if failures:
        raise _error_of(failures, receipt)


def remove_all(
    state_dir: Path, receipt: PurgeReceipt, expired: Iterable[Expired], is_over: Callable[[], bool] = lambda: False
) -> list[InputOutputFailed]:
    """Return the failures; after one the others are still removed. The first is removed, however soon it `is_over`."""
    failures, succession = list[InputOutputFailed](), RunOrder(state_dir)
    for number, each in enumerate(expired):
        if number and is_over():
            break
        try:
            with ExitStack() as stack:
                if each.kind in UNFINISHED:
                    stack.enter_context(hold_run(state_dir, each.path))
                receipt.bytes += remove(each.path, succession.forget)
            receipt.removed[each.kind] += 1
        except AudienceBusy:
            receipt.kept[RUNNING] += 1
        except InputOutputFailed as failure:
            failures.append(failure)
    return failures


def _error_of(failures: list[InputOutputFailed], receipt: PurgeReceipt) -> InputOutputFailed:
    first = failures[0]
    first.document = receipt.to_json()
    if more := len(failures) - 1:
        first.hint += f"; {more:,} more could not be purged"
    return first.bare()


# --- The removal of one directory: it is renamed, then its keys are destroyed, then its files ---
#
# After a kill it is whole, or no command sees it any more; the next purge removes what was left. Once the salts are
# overwritten, no key opens what is sealed, and no digest in the journal can be compared with anything.

ASIDE: Final = ".purged-"  # which no id of a run or erasure begins with
_SEALED: Final = "*.sealed"
_HINT: Final = "make the directory and its files writable; `audiencekit purge` goes on from there"


def leftovers(home: Path) -> list[Path]:
    """Return the directories in `home` that a killed purge has renamed."""
    return sorted(home.glob(f"{ASIDE}*"))


def name_of(aside: Path) -> str:
    """Return the id of the run or erasure whose directory was renamed to `aside`."""
    return aside.name.removeprefix(ASIDE)


def remove(path: Path, forget: Callable[[str], None]) -> int:
    """Remove a directory or a file; return its bytes, 0 when it was gone. Raises InputOutputFailed.

    The name of a directory is given to `forget` after it was renamed, and before its files are removed.
    """
    with explained("this cannot be purged", path, hint=_HINT):
        if not os.path.lexists(path):
            return 0
        if not path.is_dir():
            return _remove_file(path)
        aside = path if path.name.startswith(ASIDE) else _hide(path)
        forget(name_of(aside))
        return _remove_directory(aside)


@contextmanager
def hold_run(state_dir: Path, directory: Path) -> Iterator[None]:
    """Keep processes from continuing the run in `directory` meanwhile. Raises AudienceBusy during work on its target.

    A run whose journal does not say its target cannot continue.
    """
    with ExitStack() as stack:
        if (facts := _facts_of(directory)) is not None:
            with suppress(InputOutputFailed):  # of a damaged journal that says what no id is
                stack.enter_context(_lock_of(state_dir, facts, directory.name))
        yield


def _lock_of(state_dir: Path, facts: RunFacts, run_id: str) -> AbstractContextManager[Any]:
    """Return the lock of its target; all locks if its destination is not installed: the name is not known then."""
    if not facts.target.is_known:
        return nothing_at_work(state_dir)
    return TargetLock(state_dir, facts.account_id, facts.target, run_id)


def _facts_of(directory: Path) -> RunFacts | None:
    try:
        with opened_journal(directory) as journal:
            return journal.facts()
    except (ResumeRefused, InputOutputFailed):
        return None


def _hide(directory: Path) -> Path:
    aside = directory.with_name(f"{ASIDE}{directory.name}")
    pass_point("before aside")
    os.rename(directory, aside)
    sync_directory(directory.parent)
    pass_point("after aside")
    return aside


def _remove_directory(directory: Path) -> int:
    files = [path for path in directory.rglob("*") if path.is_file() and not path.is_symlink()]
    size = sum(path.stat().st_size for path in files)
    pass_point("before keys")
    for path in files:
        _destroy(path)
    pass_point("after keys")
    pass_point("before files")
    shutil.rmtree(directory)
    pass_point("after files")
    return size


def _remove_file(path: Path) -> int:
    size = path.lstat().st_size
    if not path.is_symlink():
        _destroy(path)
    path.unlink(missing_ok=True)
    return size


def _destroy(path: Path) -> None:
    """Remove everything by which a sealed file could be opened, or a digest compared."""
    if path.match(_SEALED):
        destroy_spool(path)
    elif path.name.startswith(JOURNAL) or path.match(SEALED_FILES):
        # A journal holds the salt of its digests; what SQLite wrote beside it may, too. Sealed rejections begin with
        # their key, sealed for their owner.
        overwrite_file(path)


# --- The setting `retention`: old runs and sealed rejections are removed at the start of the next run ---

_MOST_SECONDS: Final = 1.0  # for all that goes at one start; the rest goes at the next


def purge_expired(
    state_dir: Path,
    retention: timedelta | None,
    *,
    now: datetime,
    clock: Callable[[], float] = time.monotonic,
) -> str:
    """Return a line on what was removed, empty if nothing was. It never fails the run: obstacles are in the line.

    Without a `retention` runs stay, and sealed rejections go after their 30 days all the same.
    """
    until = clock() + _MOST_SECONDS
    receipt = PurgeReceipt.of(KEPT_FOR if retention is None else retention, now, "retention")
    try:
        return _purged(state_dir, receipt, lambda: clock() > until, with_runs=retention is not None)
    except AudienceBusy:
        return ""
    except AudiencekitError as error:
        return f"older runs were not purged: {error}; `audiencekit purge` says what to do"


def _purged(state_dir: Path, receipt: PurgeReceipt, is_over: Callable[[], bool], *, with_runs: bool) -> str:
    if not with_runs and not find_sealed_rejections(state_dir, receipt).expired:
        return ""
    with only_purge(state_dir):
        found = find_runs(state_dir, receipt.before, is_over=is_over) if with_runs else PurgeCandidates()
        sealed = find_sealed_rejections(state_dir, receipt)
        expired = [*sealed.expired, *found.expired]
        if not expired:
            return ""
        receipt.count(found)
        receipt.count(sealed)
        with receipted(state_dir, receipt) as failures:
            failures += remove_all(state_dir, receipt, expired, is_over)
    rejections, number = receipt.removed[SEALED_REJECTIONS], receipt.removed.total()
    return _in_words(number - rejections, rejections)


def _in_words(runs: int, rejections: int) -> str:
    told = f"AUDIENCEKIT_RETENTION: {runs:,} older run{'' if runs == 1 else 's'} purged" if runs else ""
    files = f"{rejections:,} file{'' if rejections == 1 else 's'} of sealed rejections purged" if rejections else ""
    return "; ".join(filter(None, (told, files)))
