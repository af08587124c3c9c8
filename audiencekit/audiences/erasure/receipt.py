"""The receipt of an erasure, and the store of erasures."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

import orjson

from audiencekit.audiences.erasure.forms import count_by_kind, keys_fingerprint
from audiencekit.audiences.erasure.people import Asked
from audiencekit.errors import InputOutputFailed
from audiencekit.personal import HashedRecords, guarded
from audiencekit.process.crash_points import pass_point
from audiencekit.records.chunks import RecordChunk, from_chunk, to_chunk
from audiencekit.records.plan_times import format_time, pin_list_times
from audiencekit.runs.purge import ERASURE_FILES, ERASURES, LEFT, RECEIPTS, Expired, PurgeCandidates, leftovers
from audiencekit.runs.store import ERASURE_HOME, UNREADABLE, Store, at_work, erasure_lock, time_of
from audiencekit.runs.watched import watch
from audiencekit.selection.erased_people import ERASURES as HOME, RECEIPT
from audiencekit.settings import Settings, Watch
from audiencekit.state.files import explained, sync_directory, write_json
from audiencekit.state.keys import SPOOL, StateKey, SubKey
from audiencekit.state.signing import open_note, sign_note
from audiencekit.state.spool import KeptSpool, destroy_spool
from audiencekit.text import shown

# --- The result of an erasure by audience: ids and names of audiences, counts and times, no identifiers ---

ReceiptState: TypeAlias = Literal["complete", "incomplete"]
TargetState: TypeAlias = Literal["pending", "confirmed", "busy", "refused", "gone"]

_SETTLED: Final = frozenset({"confirmed", "gone"})
_NOT_SHOWN: Final = frozenset({"fingerprint", "address"})  # they are for the next call alone

_NOTE_TITLE: Final = "audiencekit erasure receipt 1\n"
_NOTE: Final = "signed_note"
_LATER: Final = frozenset({_NOTE, "sealed_rejections"})  # which receipts of earlier versions lack

NO_READ_BACK: Final = "the service confirms a Delete even if the person was never in the audience"
SHARED_KEYS: Final = "a Delete by a key takes out all people who hold that key"
NO_AUDIENCE: Final = "the account has no audience that people can be taken out of"
NOT_NOTED: Final = (
    "this user's data directory cannot be written: a state directory that is put back from a backup is not noticed"
)
NOT_LISTED: Final = "no one is on the do-not-reach list: it takes emails and phone numbers only"


@dataclass(slots=True, kw_only=True)
class TargetReceipt:
    """One audience, or the do-not-reach list. `requests` and `records` are those that the service confirmed.

    The state is `pending` (not tried or not confirmed yet), `busy` (another run is at work on it), `refused` (by the
    service) or `gone` (deleted meanwhile); `why` says more. `refused_records` are forms that the service did not take.
    """

    id: str
    name: str
    state: TargetState = "pending"
    requests: int = 0
    records: int = 0
    success_count: int = 0
    refused_records: int = 0
    confirmed_at: str | None = None
    why: str = ""

    @property
    def is_settled(self) -> bool:
        """Whether nothing is left to do."""
        return self.state in _SETTLED


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """An audience from which people cannot be taken out, and why."""

    id: str
    name: str
    why: str


@dataclass(slots=True, kw_only=True)
class Receipt:
    """The state of an erasure. It is written to disk after every audience.

    `asked` counts the lines or rows that named a person; `identifiers` and `forms` count, by kind, their identifiers
    and the forms that were tried. `remembered` is true when later uploads leave these people out. `memory` describes
    the state of the memory that holds them: its `serial`, `keys` and `digest`, and whether it is `noted_outside`.
    `sealed_rejections` counts the files of sealed rejections that were removed, since they may hold these people.
    `do_not_reach_until` is None unless they are put on the do-not-reach list, too. `fingerprint` recognises a second
    call with the same people, and is stored only until the erasure is complete. `address` is that of the service.
    `signed_note` says what was done, signed by this state directory, once the erasure is complete.
    """

    erasure_id: str
    account_id: str
    profile: str
    started_at: str
    asked: int
    identifiers: dict[str, int]
    forms: dict[str, int]
    rejected: dict[str, int]
    do_not_reach_until: str | None = None
    remembered: bool = False
    memory: dict[str, Any] | None = None
    state: ReceiptState = "incomplete"
    finished_at: str | None = None
    audiences: list[TargetReceipt] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    do_not_reach: TargetReceipt | None = None
    sealed_rejections: int = 0
    fingerprint: str = field(default="", repr=False)
    address: str = ""
    signed_note: str = ""

    @classmethod
    def begun(
        cls, asked: Asked, records: HashedRecords, key: StateKey, settings: Settings, *, do_not_reach: bool
    ) -> Receipt:
        """Return the receipt of an erasure that begins now, with all that is known before the first request."""
        now = datetime.now(UTC)
        until = format_time(pin_list_times(now, now).end) if do_not_reach else None
        return cls(
            erasure_id=ERASURE_HOME.new_id(now.timestamp()),
            account_id=settings.require_account(),
            profile=settings.profile.name,
            started_at=format_time(now),
            asked=asked.rows,
            identifiers=dict(asked.identifiers),
            forms=count_by_kind(records),
            rejected=asked.reasons(),
            do_not_reach_until=until,
            fingerprint=keys_fingerprint(records, key),
            address=settings.address,
        )

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Receipt:
        """Read what `to_kept` or `to_json` wrote. Raises KeyError, TypeError or ValueError for anything else."""
        names = {one.name for one in fields(cls)} - ((_NOT_SHOWN | _LATER) - document.keys())
        known = {name: document[name] for name in names}
        known["audiences"] = [TargetReceipt(**one) for one in known["audiences"]]
        known["skipped"] = [Skipped(**one) for one in known["skipped"]]
        known["do_not_reach"] = known["do_not_reach"] and TargetReceipt(**known["do_not_reach"])
        return cls(**known)

    def sign(self, key: StateKey) -> None:
        """Put the note on a complete erasure."""
        self.signed_note = sign_note(self._note_text(), key)

    def is_as_signed(self, key: StateKey) -> bool:
        """Whether the note fits, and `key`, or one before it, has signed it; False without a note."""
        return open_note(self.signed_note.encode(), key) == self._note_text()

    def _note_text(self) -> str:
        """Return the text of the note: what a person may be shown, and the hash of all the rest."""
        document = {name: value for name, value in self.to_kept().items() if name != _NOTE}
        digest = base64.b64encode(hashlib.sha256(write_json(document, orjson.OPT_SORT_KEYS)).digest()).decode()
        lines = {
            "erasure": self.erasure_id,
            "account": self.account_id,
            "state": self.state,
            "started": self.started_at,
            "finished": self.finished_at or "",
            "identifiers": sum(self.identifiers.values()),
            "audiences": f"{self.settled} of {len(self.audiences)}",
            "remembered": "yes" if self.remembered else "no",
            "receipt": digest,
        }
        return _NOTE_TITLE + "".join(f"{name} {value}\n" for name, value in lines.items())

    def to_kept(self) -> dict[str, Any]:
        """Return the document that is kept on disk: signed receipts of earlier versions count no sealed rejections."""
        document = asdict(self)
        if not self.sealed_rejections:
            del document["sealed_rejections"]
        return document

    def to_json(self) -> dict[str, Any]:
        """Return the document that `forget --json` prints: all but fingerprint and address, with `notes`."""
        document = {name: value for name, value in self.to_kept().items() if name not in _NOT_SHOWN}
        return {**document, "sealed_rejections": self.sealed_rejections, "notes": list(self.notes)}

    @property
    def notes(self) -> tuple[str, ...]:
        """Return notes for a reader."""
        found = [NO_READ_BACK, SHARED_KEYS] if self.audiences else [NO_AUDIENCE] if self.state == "complete" else []
        if self.memory is not None and not self.memory.get("noted_outside"):
            found.append(NOT_NOTED)
        if self.do_not_reach_until is not None and self.do_not_reach is None:
            found.append(NOT_LISTED)
        return tuple(found)

    def find(self, audience_id: str) -> TargetReceipt | None:
        """Return the audience of this id, or None."""
        return next((one for one in self.audiences if one.id == audience_id), None)

    @property
    def targets(self) -> Iterator[TargetReceipt]:
        """Every audience, then the do-not-reach list if it was asked for."""
        yield from self.audiences
        if self.do_not_reach is not None:
            yield self.do_not_reach

    @property
    def settled(self) -> int:
        """The number of settled audiences."""
        return sum(one.is_settled for one in self.audiences)

    def left(self) -> list[TargetReceipt]:
        """The audiences that are not settled."""
        return [one for one in self.targets if not one.is_settled]

    def __str__(self) -> str:
        return self.to_text()

    def to_text(self, *, details: bool = False) -> str:
        """Return the text that `forget` prints; with `details` each audience, the kinds, and all notes, too."""
        return "\n".join(_detailed(self) if details else _lines(self))


def counted(count: int, what: str) -> str:
    """Return `1 audience`, `2 audiences`."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _lines(receipt: Receipt) -> Iterator[str]:
    identifiers = counted(sum(receipt.identifiers.values()), "identifier")
    forms = counted(sum(receipt.forms.values()), "hashed form")
    yield f"erasure {receipt.erasure_id}: {receipt.state}"
    yield f"{identifiers} ({forms}) deleted from {receipt.settled:,} of {counted(len(receipt.audiences), 'audience')}"
    if receipt.rejected:
        yield f"left out: {_by_kind(receipt.rejected)}"
    yield from (_target_line(one) for one in receipt.left())
    yield from (f"{shown(one.id)}  skipped    {one.name!r}: {shown(one.why)}" for one in receipt.skipped)
    if receipt.remembered:
        yield "later uploads from this state directory leave these people out"
    if receipt.sealed_rejections:
        yield f"{counted(receipt.sealed_rejections, 'file')} of sealed rejections removed: they might hold these people"
    if receipt.notes:
        yield f"notes: {len(receipt.notes):,}; `details=True` shows them, and each audience"


def _detailed(receipt: Receipt) -> Iterator[str]:
    yield f"erasure {receipt.erasure_id}: {receipt.state}"
    yield f"  asked       {counted(sum(receipt.identifiers.values()), 'identifier')}: {_by_kind(receipt.identifiers)}"
    yield f"  hashed      {counted(sum(receipt.forms.values()), 'form')}: {_by_kind(receipt.forms)}"
    if receipt.rejected:
        yield f"  left out    {_by_kind(receipt.rejected)}"
    yield f"  audiences   {receipt.settled:,} of {len(receipt.audiences):,} done"
    yield from (f"    {_target_line(one)}" for one in receipt.audiences)
    yield from (f"    {shown(one.id)}  skipped    {one.name!r}: {shown(one.why)}" for one in receipt.skipped)
    if receipt.do_not_reach is not None:
        yield f"  do not reach until {receipt.do_not_reach_until}"
        yield f"    {_target_line(receipt.do_not_reach)}"
    if receipt.signed_note:
        yield "  signed      by this state directory: `signed_note` in the JSON of the receipt"
    if receipt.remembered:
        yield "  remembered  later uploads from this state directory leave these people out"
    if receipt.sealed_rejections:
        files = counted(receipt.sealed_rejections, "file")
        yield f"  removed     {files} of sealed rejections: they might hold these people"
    yield from (f"  note: {shown(note)}" for note in receipt.notes)


def _target_line(target: TargetReceipt) -> str:
    line = f"{shown(target.id or '-')}  {target.state:<9}  {target.name!r}"
    if target.state == "confirmed":
        confirmed = f"{counted(target.records, 'record')} in {counted(target.requests, 'request')}"
        return f"{line}: {confirmed}, {target.confirmed_at}"
    return f"{line}: {shown(target.why)}" if target.why else line


def _by_kind(counts: Mapping[str, int] | Iterable[tuple[str, int]]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in dict(counts).items())


# --- The erasures of a state directory, each with its receipt, and the keys of its people until it is complete ---
#
# erasures/<id>/keys.sealed they go when every audience has confirmed

SEALED: Final = "keys.sealed"


class ErasureStore(Store):
    """The erasures, in `erasures/<id>/`."""

    def __init__(self, state_dir: Path) -> None:
        super().__init__(state_dir, ERASURE_HOME)

    def locked(self) -> AbstractContextManager[Callable[[str], None]]:
        """Return the lock of erasures, as `erasure_lock`."""
        return erasure_lock(self.state_dir)

    def moments(self) -> dict[str, float]:
        """Return when every erasure was begun; without a receipt it was not begun."""
        return {erasure_id: moment for erasure_id, moment in super().moments().items() if self.has_document(erasure_id)}

    def begin(self, receipt: Receipt, records: HashedRecords, key: StateKey, *, watched: Watch | None = None) -> None:
        """Store a new erasure: its keys, sealed, then its receipt; `watched` when its command notifies.

        Remains of erasures that were never begun are removed.
        """
        with explained("remains of an erasure cannot be removed", self.state_dir / self.home.name):
            for erasure_id in self.last_changes():
                if not self.has_document(erasure_id):
                    destroy_spool(self._sealed(erasure_id))
                    shutil.rmtree(self.directory(erasure_id))
        directory = self.create(receipt.erasure_id)
        if watched is not None:
            watch(directory, watched)
        pass_point("before begin")
        _seal(self._sealed(receipt.erasure_id), to_chunk(records), _spool_key(key, receipt.erasure_id))
        self.store(receipt)
        self.note_begun(receipt.erasure_id)
        pass_point("after begin")

    def store(self, receipt: Receipt) -> None:
        """Store the receipt as it is now."""
        self.write(receipt.erasure_id, receipt.to_kept())

    def complete(self, receipt: Receipt, now: datetime) -> None:
        """Destroy the keys, then store the receipt as complete: a complete one has no sealed keys beside it."""
        pass_point("before finish")
        destroy_spool(self._sealed(receipt.erasure_id))
        receipt.state, receipt.fingerprint = "complete", ""
        receipt.finished_at = format_time(now)
        self.store(receipt)
        pass_point("after finish")

    def sign(self, receipt: Receipt, key: StateKey) -> None:
        """Sign the receipt of a complete erasure, unless it is signed, and store it."""
        if not receipt.signed_note:
            receipt.sign(key)
            self.store(receipt)

    def has_keys(self, erasure_id: str) -> bool:
        """Whether its keys still exist: without them it had confirmed everything."""
        return os.path.lexists(self._sealed(erasure_id))

    def records(self, erasure_id: str, key: StateKey) -> HashedRecords:
        """Return the sealed keys. Raises InputOutputFailed when they are missing, damaged, or of another state key."""
        hint = "forget the same people again: a repeated Delete changes nothing"
        try:
            with KeptSpool.open(self._sealed(erasure_id), _spool_key(key, erasure_id)) as spool:
                return from_chunk(RecordChunk(spool.read(0)))
        except InputOutputFailed as error:
            raise InputOutputFailed(f"the keys of the erasure cannot be read: {error}", hint=hint) from None

    def receipt(self, erasure_id: str) -> Receipt:
        """Return the receipt of `erasure_id`. Raises InputOutputFailed for an invalid one."""
        document = self.read(erasure_id)
        with contextlib.suppress(ValueError, KeyError, TypeError, AttributeError):
            return Receipt.from_json(document)
        raise InputOutputFailed(f"the receipt of {erasure_id} is damaged", hint="restore it")

    def summaries(self) -> list[dict[str, Any]]:
        """Return a summary of every erasure, newest first, with `resumable`, and `running` for the one at work now.

        An erasure whose receipt cannot be read is `unreadable`, and does not hide the others.
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
        """Return the unfinished erasure of the same people, at the same account and address."""
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


# --- Files of erasures that last changed before a time: left by a kill, and receipts on request ---
#
# An erasure that is not finished is never among them. The receipt that tells of the latest memory of erased people
# stays always: without it one could go missing unnoticed.


def find_erasures(state_dir: Path, before: float, *, receipts: bool) -> PurgeCandidates:
    """Return the files of finished erasures, and of ones never begun, from before `before`.

    With `receipts` also their receipts. Raises InputOutputFailed when the erasures cannot be listed.
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
    """Return the sort key of a receipt among those that describe a memory: its serial."""
    return (receipt.memory["serial"] if receipt.memory else -1), receipt.started_at
