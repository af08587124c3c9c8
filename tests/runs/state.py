"""Runs of every kind on the disk, as old as a test wants them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from audiencekit.runs.journal.facts import Ending
from audiencekit.runs.journal.file import JOURNAL, JournalFile
from audiencekit.runs.store import RunStore
from tests.runs.journal.conftest import FACTS, PLAN, STATE_KEY
from tests.runs.test_reports import PLANNED

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
SALT = "5a17" * 8
KINDS = ("complete", "refused", "not_begun", "not_resumable", "resumable", "damaged")


def make_run(state_dir: Path, kind: str, *, age: timedelta = timedelta(days=40), name: str = "") -> Path:
    """The directory of a run of this kind, which last changed `age` before NOW."""
    run_id = name or f"a-{kind.replace('_', '-')}-run"
    store = RunStore(state_dir)
    directory = store.create(run_id)
    if kind != "not_begun":
        store.note_begun(run_id)
        _fill(store, directory, kind)
    set_age(directory, age)
    return directory


def _fill(store: RunStore, directory: Path, kind: str) -> None:
    operation = "sync" if kind == "not_resumable" else "update"
    facts = replace(FACTS, run_id=directory.name, operation=operation, salt=SALT)
    key = facts.key(STATE_KEY)
    journal = JournalFile.begin(directory / JOURNAL, facts, key)
    journal.store_plan(PLAN, key)
    if kind in ("complete", "refused"):
        journal.finish(Ending(state=kind, exit_code=0), key)
    journal.close()
    state = kind if kind in ("complete", "refused") else "incomplete"
    store.write(directory.name, {**PLANNED, "run_id": directory.name, "state": state})
    if kind == "damaged":
        (directory / JOURNAL).write_bytes(b"x" * 4_000)


def set_age(path: Path, age: timedelta) -> None:
    """Have `path` say that it last changed `age` before NOW."""
    moment = (NOW - age).timestamp()
    os.utime(path, (moment, moment))


def names(paths: Iterable[Path]) -> list[str]:
    return [path.name for path in paths]
