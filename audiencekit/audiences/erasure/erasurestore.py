"""The erasures of a state directory: one directory each, with the receipt, and the keys sealed until it is complete.

erasures/<id>/receipt.json      the receipt as it stands, whole at every moment
erasures/<id>/keys.sealed       the keys of the people, sealed; removed when every audience has confirmed
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from audiencekit.audiences.erasure.receipt import Receipt
from audiencekit.errors import InputOutputFailed, UsageError
from audiencekit.machine.checkeddocuments import decode_checked, encode_checked
from audiencekit.machine.crashpoints import pass_point
from audiencekit.machine.keptspool import KeptSpool, destroy_spool
from audiencekit.machine.keys import SPOOL, StateKey, SubKey
from audiencekit.machine.privatefiles import explained, read_file, replace_file, sync_directory
from audiencekit.machine.statedirectory import check_root
from audiencekit.personal import HashedRecords, guarded
from audiencekit.preparation.chunks import RecordChunk, from_chunk, to_chunk
from audiencekit.preparation.times import format_time
from audiencekit.runs.locks import at_work, erasure_lock
from audiencekit.runs.runorder import Succession
from audiencekit.runs.store import new_run_id, time_of
from audiencekit.selection.forgotten.notes import ERASURES, MAX_RECEIPT_BYTES, RECEIPT

SEALED = "keys.sealed"
PREFIX: Final = "forget-"
_MOST_ID_BYTES: Final = 64
ERASURE_ID: Final = re.compile(r"forget-[0-9a-z-]{8,33}")


def is_erasure(run: str) -> bool:
    """Whether `run` means an erasure, not a run."""
    return run.startswith(PREFIX)


class ErasureStore:
    """The erasures of one state directory. Raises InputOutputFailed when it cannot be written or read."""

    def __init__(self, state_dir: Path) -> None:
        self._state_dir, self._directory = state_dir, state_dir / ERASURES
        self._succession = Succession(state_dir)

    def locked(self) -> AbstractContextManager[Callable[[str], None]]:
        """The lock of erasures, as `erasure_lock`."""
        return erasure_lock(self._state_dir)

    @staticmethod
    def new_id(now: float) -> str:
        """The id of an erasure that begins now."""
        return PREFIX + new_run_id(now)

    def begin(self, receipt: Receipt, records: HashedRecords, key: StateKey) -> None:
        """Keep a new erasure: its keys, sealed, then its receipt. One without a receipt was never begun."""
        directory = self.directory(receipt.erasure_id)
        with explained("the directory of the erasure cannot be made", directory):
            self._remove_stillborn()
            self._succession.begin(receipt.erasure_id, {})
            directory.mkdir(mode=0o700)
            sync_directory(self._directory)
        pass_point("before begin")
        _seal(directory / SEALED, to_chunk(records), _spool_key(key, receipt.erasure_id))
        self.write(receipt)
        pass_point("after begin")

    def write(self, receipt: Receipt) -> None:
        """Keep the receipt as it stands."""
        path = self.directory(receipt.erasure_id) / RECEIPT
        with explained("the receipt cannot be written", path):
            replace_file(path, encode_checked(receipt.to_kept()))

    def complete(self, receipt: Receipt, now: datetime) -> None:
        """Destroy the keys, then keep the receipt as complete: one that says so has nothing sealed beside it."""
        directory = self.directory(receipt.erasure_id)
        pass_point("before finish")
        with explained("the sealed keys cannot be removed", directory):
            destroy_spool(directory / SEALED)
        receipt.state, receipt.fingerprint = "complete", ""
        receipt.finished_at = format_time(now)
        self.write(receipt)
        pass_point("after finish")

    def has_keys(self, erasure_id: str) -> bool:
        """Whether its keys are still there: without them it had confirmed everything."""
        return os.path.lexists(self.directory(erasure_id) / SEALED)

    def records(self, erasure_id: str, key: StateKey) -> HashedRecords:
        """The keys that were sealed. Raises InputOutputFailed when they are gone, damaged, or of another state key."""
        hint = "forget the same people again: a repeated Delete changes nothing"
        try:
            with KeptSpool.open(self.directory(erasure_id) / SEALED, _spool_key(key, erasure_id)) as spool:
                return from_chunk(RecordChunk(spool.read(0)))
        except InputOutputFailed as error:
            raise InputOutputFailed(f"the keys of the erasure cannot be read: {error}", hint=hint) from None

    def read(self, erasure_id: str) -> Receipt:
        """The receipt of `erasure_id`. Raises InputOutputFailed for what is none."""
        path = self.directory(erasure_id) / RECEIPT
        with explained("the receipt cannot be read", path):
            content = read_file(path, MAX_RECEIPT_BYTES)
        document, is_as_written = decode_checked(content)
        with contextlib.suppress(ValueError, KeyError, TypeError, AttributeError):
            receipt = Receipt.from_json(document or {})
            if is_as_written and receipt.erasure_id == erasure_id:
                return receipt
        raise InputOutputFailed(f"{str(path)!r} is not a receipt, or was damaged", hint="restore it")

    def directory(self, erasure_id: str) -> Path:
        """Where `erasure_id` lives. Raises UsageError for what is no id."""
        if not ERASURE_ID.fullmatch(erasure_id):
            raise UsageError("this is not the id of an erasure")
        return self._directory / erasure_id

    def find(self, erasure: str) -> str:
        """The id that `erasure` is, or is the beginning of alone. Raises UsageError."""
        found = [erasure_id for erasure_id in self.ids() if is_erasure(erasure) and erasure_id.startswith(erasure)]
        if len(found) == 1:
            return found[0]
        raise UsageError(f"{len(found)} erasures begin like this" if found else "there is no such erasure")

    def ids(self) -> list[str]:
        """Every erasure that was begun, newest first."""
        check_root(self._state_dir)
        with explained("the erasures cannot be listed", self._directory):
            try:
                entries = list(os.scandir(self._directory))
            except FileNotFoundError:
                return []
            begun = [one.name for one in entries if ERASURE_ID.fullmatch(one.name) and _has_receipt(Path(one.path))]
        return sorted(begun, reverse=True)

    def summaries(self) -> list[dict[str, Any]]:
        """Every erasure, newest first: what sums it up, `resumable`, and `running` for the one that is at work now.

        One whose receipt cannot be read is `unreadable`, and hides no other.
        """
        ids = self.ids()
        busy = at_work(self._state_dir, ids)
        return [self._summary(erasure_id, is_running=erasure_id in busy) for erasure_id in ids]

    def _summary(self, erasure_id: str, *, is_running: bool) -> dict[str, Any]:
        facts = {"run_id": erasure_id, "operation": "forget", "resumable": False, "running": is_running}
        try:
            receipt = self.read(erasure_id)
        except InputOutputFailed:
            return {**facts, "state": "unreadable", "started_at": time_of(erasure_id.removeprefix(PREFIX))}
        return {
            **facts,
            "state": receipt.state,
            "account_id": receipt.account_id,
            "started_at": receipt.started_at,
            "finished_at": receipt.finished_at,
            "audiences": {"known": len(receipt.audiences), "settled": receipt.settled},
            "resumable": receipt.state == "incomplete" and not is_running,
        }

    def unfinished(self, fingerprint: str, account_id: str, *, do_not_reach: bool) -> Receipt | None:
        """The erasure of the same people that has not come to its end."""
        for erasure_id in self.ids():
            try:
                receipt = self.read(erasure_id)
            except InputOutputFailed:  # it can be of any people; to begin anew does no harm
                continue
            same = (receipt.fingerprint, receipt.account_id) == (fingerprint, account_id)
            if same and receipt.state == "incomplete" and bool(receipt.do_not_reach_until) == do_not_reach:
                return receipt
        return None

    def _remove_stillborn(self) -> None:
        """Remains of erasures that were never begun."""
        for entry in list(os.scandir(self._directory)):
            if ERASURE_ID.fullmatch(entry.name) and not _has_receipt(Path(entry.path)):
                destroy_spool(Path(entry.path, SEALED))
                shutil.rmtree(entry.path)


def _has_receipt(directory: Path) -> bool:
    return os.path.lexists(directory / RECEIPT)


def _spool_key(key: StateKey, erasure_id: str) -> SubKey:
    return key.derive(SPOOL, erasure_id)


@guarded
def _seal(path: Path, chunk: RecordChunk, key: SubKey) -> None:
    with KeptSpool.create(path, key) as spool:
        spool.append(chunk.unwrap())
        spool.finish()
    sync_directory(path.parent)
