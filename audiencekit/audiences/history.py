"""The history of this machine, as one list: the runs, and the erasures, which are kept apart from them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from audiencekit.audiences.erasure.erasurestore import PREFIX, ErasureStore, is_erasure
from audiencekit.errors import UsageError
from audiencekit.machine.keys import StateKey
from audiencekit.runs.runorder import Place, Succession
from audiencekit.runs.store import LAST, RunStore, place_of, time_of
from audiencekit.runs.storedreports import list_runs


def list_history(state_dir: Path, key: StateKey | None = None) -> list[dict[str, Any]]:
    """Every run and every erasure, newest first, each with `run_id`, `state`, `resumable` and `running`.

    The `operation` of an erasure is `forget`, and `audiences` counts those that it has settled of those that it knows.
    With `key` the journals of runs are checked.
    """
    found = {str(one["run_id"]): one for one in list_runs(state_dir, key) + ErasureStore(state_dir).summaries()}
    return [found[run_id] for run_id in _newest_first(state_dir, found)]


def _newest_first(state_dir: Path, ids: Iterable[str]) -> list[str]:
    places = RunStore(state_dir).places()
    known = {run_id: places.get(run_id) or _place_of_erasure(run_id) for run_id in ids}
    return Succession(state_dir).ordered(known)[::-1]


def _place_of_erasure(erasure_id: str) -> Place:
    made = erasure_id.removeprefix(PREFIX)
    return place_of(made) or (time_of(made) or "", 0.0)


def find_in_history(state_dir: Path, run: str) -> tuple[str, bool]:
    """The id of the run or erasure meant by `run`, and whether it is an erasure.

    `run` is an id, the beginning of just one, or `last`. Raises UsageError for anything else.
    """
    erasures = ErasureStore(state_dir).ids()
    ids = [*RunStore(state_dir).ids(), *erasures]
    if run == LAST:
        found = _newest_first(state_dir, ids)[:1]
    else:
        found = [run] if run in ids else [one for one in ids if run and one.startswith(run)]
    if len(found) == 1:
        return found[0], found[0] in erasures
    noun = "erasure" if is_erasure(run) else "run"
    what = f"{len(found)} {noun}s begin like this" if found else f"there is no such {noun}"
    raise UsageError(what, hint="`audiencekit runs` lists them")
