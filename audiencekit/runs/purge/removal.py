"""How one thing goes for good: out of sight in one step, then what opens its files, then the files.

After a kill it is whole, or no command sees it any more; the next purge removes what was left. Once the salts are
overwritten, no key opens what is sealed, and no digest in the journal can be compared with anything.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from audiencekit.errors import InputOutputFailed, ResumeRefused
from audiencekit.machine.crashpoints import pass_point
from audiencekit.machine.keptspool import destroy_spool
from audiencekit.machine.privatefiles import explained, overwrite_file, sync_directory
from audiencekit.runs.journal.facts import RunFacts
from audiencekit.runs.journal.schema import JOURNAL
from audiencekit.runs.locks import TargetLock, nothing_at_work
from audiencekit.runs.storedreports import opened_journal

ASIDE: Final = ".purged-"  # which no id of a run or erasure begins with
_SEALED: Final = "*.sealed"
_HINT: Final = "make the directory and its files writable; `audiencekit purge` goes on from there"


def leftovers(home: Path) -> list[Path]:
    """The directories in `home` that a killed purge has put out of sight."""
    return sorted(home.glob(f"{ASIDE}*"))


def name_of(aside: Path) -> str:
    """The id of the run or erasure whose directory was put out of sight as `aside`."""
    return aside.name.removeprefix(ASIDE)


def remove(path: Path, forget: Callable[[str], None]) -> int:
    """The bytes of the files that went: of a directory, or one; 0 when it was gone. Raises InputOutputFailed.

    The name of a directory is given to `forget` once it is out of sight, and before anything in it goes.
    """
    with explained("this cannot be purged", path, hint=_HINT):
        if not os.path.lexists(path):
            return 0
        if not path.is_dir():
            return _remove_file(path)
        aside = path if path.name.startswith(ASIDE) else _put_aside(path)
        forget(name_of(aside))
        return _remove_directory(aside)


@contextmanager
def run_alone(state_dir: Path, directory: Path) -> Iterator[None]:
    """No process goes on with the run in `directory` meanwhile. Raises AudienceBusy when one is at work on its target.

    Of a journal that does not say its target, no process can go on.
    """
    with ExitStack() as stack:
        if (facts := _facts_of(directory)) is not None:
            with suppress(InputOutputFailed):  # of a damaged journal that says what no id is
                stack.enter_context(_lock_of(state_dir, facts, directory.name))
        yield


def _lock_of(state_dir: Path, facts: RunFacts, run_id: str) -> AbstractContextManager[Any]:
    """The lock of its target; all of them for a destination that is not installed, whose lock may have any name."""
    if not facts.target.is_known:
        return nothing_at_work(state_dir)
    return TargetLock(state_dir, facts.account_id, facts.target, run_id)


def _facts_of(directory: Path) -> RunFacts | None:
    try:
        with opened_journal(directory) as journal:
            return journal.facts()
    except (ResumeRefused, InputOutputFailed):
        return None


def _put_aside(directory: Path) -> Path:
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
    """Leave nothing by which a sealed file could be opened, or a digest compared."""
    if path.match(_SEALED):
        destroy_spool(path)
    elif path.name.startswith(JOURNAL):  # it holds the salt of its digests; what SQLite wrote beside it may, too
        overwrite_file(path)
