"""Work that stands in the way of a change of the whole state directory: at work now, or unfinished."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from audiencekit.audiences.erasure.erasurestore import LOCK, ErasureStore
from audiencekit.errors import AudienceBusy, PlanRefused
from audiencekit.machine.filelocks import locked
from audiencekit.runs.locks import LOCKS
from audiencekit.runs.resumption import KEPT
from audiencekit.runs.store import RUNS
from audiencekit.selection.forgotten.notes import ERASURES
from audiencekit.snapshots.store import CHANGES, SNAPSHOTS


@contextmanager
def nothing_at_work(state_dir: Path) -> Iterator[None]:
    """Every lock of a target and of erasures is held. Raises AudienceBusy."""
    paths = [*sorted((state_dir / LOCKS).glob("*.lock")), *(state_dir / ERASURES).glob(LOCK)]
    with ExitStack() as stack:
        for path in paths:
            try:
                stack.enter_context(locked(path, wait=False))
            except BlockingIOError:
                told = "a run or an erasure is at work: nothing was changed"
                raise AudienceBusy(told, run_id=None, process_id=None, hint="try again when it has ended") from None
        yield


def refuse_unfinished(state_dir: Path) -> None:
    """Return when there is nothing that only the state key of now can finish. Raises PlanRefused, which counts it."""
    erasures = ErasureStore(state_dir)
    found = {
        "erasures": sum(map(erasures.has_keys, erasures.ids())),
        "runs with a kept spool": len(list((state_dir / RUNS).glob(f"*/{KEPT}"))),
        "syncs": len(list((state_dir / SNAPSHOTS).glob(f"*/{CHANGES}"))),
    }
    if any(found.values()):
        told = ", ".join(f"{count:,} {what}" for what, count in found.items() if count)
        hint = "`audiencekit resume` and the next sync finish them; `audiencekit purge --unfinished` removes runs"
        raise PlanRefused(f"not finished, and only the key of now opens them: {told}: nothing was changed", hint=hint)
