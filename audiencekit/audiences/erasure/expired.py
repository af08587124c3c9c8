"""Files of erasures that last changed before a time: files that a kill has left, and receipts when they are asked for.

An erasure that is not finished is never among them. The receipt that tells of the latest memory of erased people stays
always: without it one could go missing unnoticed.
"""

from __future__ import annotations

from pathlib import Path

from audiencekit.audiences.erasure.erasurestore import ErasureStore
from audiencekit.audiences.erasure.receipt import Receipt
from audiencekit.errors import InputOutputFailed
from audiencekit.machine.privatefiles import explained
from audiencekit.runs.purge.expired import LEFT, Expired, PurgeCandidates
from audiencekit.runs.purge.receipt import ERASURE_FILES, ERASURES, RECEIPTS
from audiencekit.runs.purge.removal import leftovers
from audiencekit.selection.forgotten.notes import ERASURES as HOME, RECEIPT


def find_erasures(state_dir: Path, before: float, *, receipts: bool) -> PurgeCandidates:
    """The files of finished erasures, and of ones never begun, from before `before`; their receipts with `receipts`.

    Raises InputOutputFailed when the erasures cannot be listed.
    """
    home, store = state_dir / HOME, ErasureStore(state_dir)
    found = PurgeCandidates([Expired(path, LEFT, 0.0) for path in leftovers(home)])
    finished: dict[str, Receipt] = {}
    with explained("the erasures cannot be listed", home):
        for directory in map(store.directory, sorted(store.last_changes())):
            if not store.has_document(directory.name):  # never begun: its people are named again
                _add(found, directory, ERASURE_FILES, before)
            elif (receipt := _read(store, directory.name)) is None or receipt.state != "complete":
                found.kept[ERASURES] += _changed_at(directory / RECEIPT) < before
            else:
                finished[directory.name] = receipt
        last = max(finished, key=lambda erasure_id: _rank(finished[erasure_id]), default="")
        for erasure_id in finished:
            _add_finished(found, home / erasure_id, before, goes=receipts and erasure_id != last)
    found.expired.sort(key=lambda each: each.changed_at)
    return found


def _add_finished(found: PurgeCandidates, directory: Path, before: float, *, goes: bool) -> None:
    is_old = _changed_at(directory / RECEIPT) < before
    if goes and is_old:
        found.expired.append(Expired(directory, RECEIPTS, _changed_at(directory / RECEIPT)))
        return
    found.kept[RECEIPTS] += is_old
    for path in directory.iterdir():
        if path.name != RECEIPT:
            _add(found, path, ERASURE_FILES, before)


def _add(found: PurgeCandidates, path: Path, kind: str, before: float) -> None:
    if (changed_at := _changed_at(path)) < before:
        found.expired.append(Expired(path, kind, changed_at))


def _changed_at(path: Path) -> float:
    return path.lstat().st_mtime


def _read(store: ErasureStore, erasure_id: str) -> Receipt | None:
    try:
        return store.receipt(erasure_id)
    except InputOutputFailed:
        return None


def _rank(receipt: Receipt) -> tuple[int, str]:
    """The place of a receipt among those that tell of a memory: by its serial."""
    return (receipt.memory["serial"] if receipt.memory else -1), receipt.started_at
