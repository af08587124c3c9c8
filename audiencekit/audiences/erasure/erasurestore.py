"""The erasures of a state directory, each with its receipt, and the keys of its people until it is complete.

erasures/<id>/keys.sealed       they go when every audience has confirmed
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from audiencekit.audiences.erasure.receipt import Receipt
from audiencekit.errors import InputOutputFailed
from audiencekit.machine.crashpoints import pass_point
from audiencekit.machine.keptspool import KeptSpool, destroy_spool
from audiencekit.machine.keys import SPOOL, StateKey, SubKey
from audiencekit.machine.privatefiles import explained, sync_directory
from audiencekit.personal import HashedRecords, guarded
from audiencekit.preparation.chunks import RecordChunk, from_chunk, to_chunk
from audiencekit.preparation.plantimes import format_time
from audiencekit.runs.locks import at_work, erasure_lock
from audiencekit.runs.store import ERASURE_HOME, UNREADABLE, Store, time_of

SEALED: Final = "keys.sealed"


class ErasureStore(Store):
    """The erasures, in `erasures/<id>/`."""

    def __init__(self, state_dir: Path) -> None:
        super().__init__(state_dir, ERASURE_HOME)

    def locked(self) -> AbstractContextManager[Callable[[str], None]]:
        """The lock of erasures, as `erasure_lock`."""
        return erasure_lock(self.state_dir)

    def moments(self) -> dict[str, float]:
        """Of every erasure that was begun: one without a receipt never was."""
        return {erasure_id: moment for erasure_id, moment in super().moments().items() if self.has_document(erasure_id)}

    def begin(self, receipt: Receipt, records: HashedRecords, key: StateKey) -> None:
        """Keep a new erasure: its keys, sealed, then its receipt. Remains of those that were never begun go."""
        with explained("remains of an erasure cannot be removed", self.state_dir / self.home.name):
            for erasure_id in self.last_changes():
                if not self.has_document(erasure_id):
                    destroy_spool(self._sealed(erasure_id))
                    shutil.rmtree(self.directory(erasure_id))
        self.create(receipt.erasure_id)
        pass_point("before begin")
        _seal(self._sealed(receipt.erasure_id), to_chunk(records), _spool_key(key, receipt.erasure_id))
        self.keep(receipt)
        self.note_begun(receipt.erasure_id)
        pass_point("after begin")

    def keep(self, receipt: Receipt) -> None:
        """Keep the receipt as it stands."""
        self.write(receipt.erasure_id, receipt.to_kept())

    def complete(self, receipt: Receipt, now: datetime) -> None:
        """Destroy the keys, then keep the receipt as complete: one that says so has nothing sealed beside it."""
        pass_point("before finish")
        destroy_spool(self._sealed(receipt.erasure_id))
        receipt.state, receipt.fingerprint = "complete", ""
        receipt.finished_at = format_time(now)
        self.keep(receipt)
        pass_point("after finish")

    def has_keys(self, erasure_id: str) -> bool:
        """Whether its keys are still there: without them it had confirmed everything."""
        return os.path.lexists(self._sealed(erasure_id))

    def records(self, erasure_id: str, key: StateKey) -> HashedRecords:
        """The keys that were sealed. Raises InputOutputFailed when they are gone, damaged, or of another state key."""
        hint = "forget the same people again: a repeated Delete changes nothing"
        try:
            with KeptSpool.open(self._sealed(erasure_id), _spool_key(key, erasure_id)) as spool:
                return from_chunk(RecordChunk(spool.read(0)))
        except InputOutputFailed as error:
            raise InputOutputFailed(f"the keys of the erasure cannot be read: {error}", hint=hint) from None

    def receipt(self, erasure_id: str) -> Receipt:
        """The receipt of `erasure_id`. Raises InputOutputFailed for what is none."""
        document = self.read(erasure_id)
        with contextlib.suppress(ValueError, KeyError, TypeError, AttributeError):
            return Receipt.from_json(document)
        raise InputOutputFailed(f"the receipt of {erasure_id} is damaged", hint="restore it")

    def summaries(self) -> list[dict[str, Any]]:
        """Every erasure, newest first: what sums it up, `resumable`, and `running` for the one that is at work now.

        One whose receipt cannot be read is `unreadable`, and hides no other.
        """
        ids = self.ids()
        busy = at_work(self.state_dir, ids)
        return [self._summary(erasure_id, is_running=erasure_id in busy) for erasure_id in ids]

    def _summary(self, erasure_id: str, *, is_running: bool) -> dict[str, Any]:
        facts = {"run_id": erasure_id, "operation": "forget", "resumable": False, "running": is_running}
        try:
            receipt = self.receipt(erasure_id)
        except InputOutputFailed:
            return {**facts, "state": UNREADABLE, "started_at": time_of(erasure_id)}
        return {
            **facts,
            "state": receipt.state,
            "account_id": receipt.account_id,
            "started_at": receipt.started_at,
            "finished_at": receipt.finished_at,
            "audiences": {"known": len(receipt.audiences), "settled": receipt.settled},
            "resumable": receipt.state == "incomplete" and not is_running,
        }

    def unfinished(self, fingerprint: str, account_id: str, address: str, *, do_not_reach: bool) -> Receipt | None:
        """The erasure of the same people, at the same account and address, that has not come to its end."""
        for erasure_id in self.ids():
            try:
                receipt = self.receipt(erasure_id)
            except InputOutputFailed:  # it can be of any people; to begin anew does no harm
                continue
            same = (receipt.fingerprint, receipt.account_id, receipt.address) == (fingerprint, account_id, address)
            if same and receipt.state == "incomplete" and bool(receipt.do_not_reach_until) == do_not_reach:
                return receipt
        return None

    def _sealed(self, erasure_id: str) -> Path:
        return self.directory(erasure_id) / SEALED


def _spool_key(key: StateKey, erasure_id: str) -> SubKey:
    return key.derive(SPOOL, erasure_id)


@guarded
def _seal(path: Path, chunk: RecordChunk, key: SubKey) -> None:
    with KeptSpool.create(path, key) as spool:
        spool.append(chunk.unwrap())
        spool.finish()
    sync_directory(path.parent)
