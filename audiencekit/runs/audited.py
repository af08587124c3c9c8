"""The entries of one run in the audit log: before its first request, and at its end in each process."""

from __future__ import annotations

import hashlib
import hmac
import os
from collections.abc import Mapping, Sequence
from typing import Any, Final

from audiencekit.audit.log import AuditLog, Step
from audiencekit.errors import AudiencekitError
from audiencekit.planning.plan import PlannedRun
from audiencekit.runs.journal.digests import LISTS, KeyedDigest, RecordsFingerprint
from audiencekit.runs.journal.facts import RENEW, SYNC, RunFacts
from audiencekit.settings import REQUIRABLE, Settings
from audiencekit.sources.bytes.files import STANDARD_INPUT
from audiencekit.sources.files import FilePath, Item, parts_of
from audiencekit.sources.frames import Frame
from audiencekit.sources.remote.addresses import is_address
from audiencekit.state.keys import SubKey

UPLOAD: Final = "upload"
_AT_ONCE: Final = 1 << 17  # bytes: what fits into the cache of a core
_SIZE_BYTES: Final = 8
_DIGEST_DIGITS: Final = 32


class RunAudit:
    """The entries of a run with these facts and settings, whose source is `items`. Its list has a digest.

    The digest is keyed for this log, and the same for the same list. Of files it is over their bytes, as they lie; of
    standard input, frames, queries and addresses over the records that were read of them.
    """

    def __init__(self, settings: Settings, facts: RunFacts, items: Sequence[Item], *, is_resumed: bool = False) -> None:
        self._log, self._facts, self._items = AuditLog.of(settings), facts, items
        self._purpose = {name: value for name in REQUIRABLE if (value := getattr(settings, name))}
        self._step: Step = "resumed" if is_resumed else "begun"
        self._is_begun = False
        self._files = _files_among(items)
        self._states = None if self._files is None else list(map(_state_of, self._files))
        self._records: RecordsFingerprint | None = None

    def know_by(self, records: RecordsFingerprint) -> None:
        """Know a list that is not of files by the fingerprint of its records, to which none was added yet."""
        records.add_key(LISTS, self._log.list_keys()[0])
        self._records = records

    @property
    def wants_records(self) -> bool:
        """Whether the list is known by its records."""
        return bool(self._items) and self._files is None

    def begin(self, planned: PlannedRun) -> None:
        """Log that the requests of a plan will be sent. Raises as `AuditLog.append`: then none may be."""
        times = planned.times.to_json()
        self._log.append(
            self._command,
            self._step,
            **self._of,
            **self._purpose,
            operation=self._facts.operation,
            service=self._facts.address,
            account=self._facts.account_id,
            target=self._facts.target.to_json(),
            kinds=sorted({column.kind.value for column in planned.mapping.columns}),
            list=self._list(),
            planned={
                "rows": planned.tally.rows_read,
                "records": planned.records,
                "requests": len(planned.requests),
                "updates": sum(each.updates for each in planned.requests),
                "deletes": sum(each.deletes for each in planned.requests),
            },
            expires_at=times["expires_at"],
            effective_at=times["effective_at"],
        )
        self._is_begun = True

    def end(self, report: Mapping[str, Any]) -> None:
        """Log how the run ended in this process, by its report; nothing for one that ended before it began to send.

        Raises as `AuditLog.append`.
        """
        if self._is_begun:
            requests = report["requests"]
            self._log.append(
                self._command,
                "ended",
                **self._of,
                state=report["state"],
                rows=report["rows"],
                requests={name: requests[name] for name in ("planned", "confirmed")},
                **report["reconciliation"],
            )
            self._is_begun = False

    @property
    def _command(self) -> str:
        return self._facts.operation if self._facts.operation in (SYNC, RENEW) else UPLOAD

    @property
    def _of(self) -> dict[str, Any]:
        return {"of": self._facts.run_id}

    def _list(self) -> dict[str, Any] | None:
        """Return the digest, and what it is over; None for a run without a list, or of files that have gone."""
        if not self._items:
            return None
        if self._files is None:
            if self._records is None:
                return None
            return {"over": "records", "digest": _hmac(self._log.list_keys()[1], self._records.finish(LISTS).encode())}
        try:
            digest = list_digest(self._files, self._log)
        except OSError:
            return None
        is_same = self._states == list(map(_state_of, self._files))
        return {"over": "bytes", "files": len(self._files), "digest": digest if is_same else None}


def list_digest(files: Sequence[FilePath], log: AuditLog) -> str:
    """Return the digest of a list of files, in their order, as entries of `log` have it. Raises OSError.

    It is HMAC-SHA-256 of a GMAC over the length and the bytes of each: that takes a quarter of the time of HMAC over
    them (`runs/journal/digests.py` has the figures), and a GMAC that is never shown tells nothing of its key.
    """
    first, last = log.list_keys()
    whole = KeyedDigest(first, LISTS, 0)
    room = bytearray(_AT_ONCE)
    view = memoryview(room)
    for path in files:
        with open(path, "rb", buffering=0) as stream:
            left = os.fstat(stream.fileno()).st_size
            whole.update(left.to_bytes(_SIZE_BYTES, "big"))
            while left and (count := stream.readinto(view[: min(left, _AT_ONCE)])):
                whole.update(view[:count])
                left -= count
    return _hmac(last, whole.finish())


def _hmac(key: SubKey, content: bytes) -> str:
    return hmac.digest(key.unwrap(), content, hashlib.sha256).hex()[:_DIGEST_DIGITS]


def _files_among(items: Sequence[Item]) -> list[FilePath] | None:
    """Return the regular files that the items are or name; None when one of them is none."""
    files: list[FilePath] = []
    try:
        for item in items:
            if isinstance(item, Frame) or os.fspath(item) == STANDARD_INPUT or is_address(item):
                return None
            files += [part.path for part in parts_of(item)]
    except AudiencekitError:  # of a directory that cannot be listed, which the run says itself
        return None
    return files if all(os.path.isfile(path) for path in files) else None


def _state_of(path: FilePath) -> tuple[int, int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns
