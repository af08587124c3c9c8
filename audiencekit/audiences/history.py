"""The history of this machine: its runs and its erasures, in one order."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from audiencekit.audiences.erasure.erasurestore import ErasureStore
from audiencekit.machine.keys import StateKey
from audiencekit.runs.runorder import Succession
from audiencekit.runs.store import ERASURE_HOME, LAST, RunStore, find_id
from audiencekit.runs.storedreports import list_runs, the_resumable


def list_history(state_dir: Path, key: StateKey | None = None) -> list[dict[str, Any]]:
    """Every run and every erasure, newest first, each with `run_id`, `state`, `resumable` and `running`.

    The `operation` of an erasure is `forget`, and `audiences` counts those that it has settled of those that it knows.
    With `key` the journals of runs are checked.
    """
    found = {str(one["run_id"]): one for one in list_runs(state_dir, key) + ErasureStore(state_dir).summaries()}
    return [found[run_id] for run_id in _newest_first(state_dir) if run_id in found]


def find_in_history(state_dir: Path, run: str) -> tuple[str, bool]:
    """The id of the run or erasure meant by `run`, and whether it is an erasure.

    `run` is an id, the beginning of just one, or `last`. Raises UsageError for anything else.
    """
    run_id = find_id(run, _newest_first(state_dir), "erasure" if run.startswith(ERASURE_HOME.prefix) else "run")
    return run_id, run_id in ErasureStore(state_dir).ids()


def find_resumable(state_dir: Path, run: str, key: StateKey | None = None) -> tuple[str, bool]:
    """The same for a run or erasure that is to be resumed: `last` is the one that can be, as `the_resumable` says.

    Raises UsageError and AudienceBusy. With `key` the journals of runs are checked.
    """
    return find_in_history(state_dir, the_resumable(list_history(state_dir, key)) if run == LAST else run)


def _newest_first(state_dir: Path) -> list[str]:
    moments = RunStore(state_dir).moments() | ErasureStore(state_dir).moments()
    return Succession(state_dir).ordered(moments)[::-1]
