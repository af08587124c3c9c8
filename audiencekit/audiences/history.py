"""What this machine has done, as one list: the runs, and the erasures, which are kept apart from them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from audiencekit.audiences.erasure.kept import PREFIX, ErasureStore, is_erasure
from audiencekit.delivery.runs import LAST, RunStore, place_of
from audiencekit.errors import UsageError
from audiencekit.runs.kept import list_runs


def list_history(state_dir: Path) -> list[dict[str, Any]]:
    """Every run and every erasure, newest first, each with `run_id`, `state`, `resumable` and `running`.

    The `operation` of an erasure is `forget`, and `audiences` counts those that it has settled of those that it knows.
    """
    found = list_runs(state_dir) + ErasureStore(state_dir).summaries()
    places = RunStore(state_dir).places()

    def place(one: dict[str, Any]) -> tuple[str, float, str]:
        """When it was begun, to the second, then the moment, which no report tells."""
        run_id = str(one["run_id"]).removeprefix(PREFIX)
        second, moment = places.get(run_id) or place_of(run_id) or ("", 0.0)
        return str(one.get("started_at") or second), moment, run_id

    return sorted(found, key=place, reverse=True)


def find_in_history(state_dir: Path, run: str) -> tuple[str, bool]:
    """The id of the run or erasure meant by `run`, and whether it is an erasure.

    `run` is an id, the beginning of just one, or `last`. Raises UsageError for anything else.
    """
    erasures = ErasureStore(state_dir).ids()
    if run == LAST:
        newest = list_history(state_dir)[:1]
        found = [str(one["run_id"]) for one in newest]
    else:
        ids = [*RunStore(state_dir).ids(), *erasures]
        found = [run] if run in ids else [one for one in ids if run and one.startswith(run)]
    if len(found) == 1:
        return found[0], found[0] in erasures
    noun = "erasure" if is_erasure(run) else "run"
    what = f"{len(found)} {noun}s begin like this" if found else f"there is no such {noun}"
    raise UsageError(what, hint="`audiencekit runs` lists them")
