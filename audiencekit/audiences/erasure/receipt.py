"""The result of an erasure, per audience: ids and names of audiences, counts and times, and no identifier."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from typing import Any, Final, Literal, TypeAlias

from audiencekit.audiences.erasure.keys import count_by_kind, keys_fingerprint
from audiencekit.audiences.erasure.subjects import Asked
from audiencekit.machine.keys import StateKey
from audiencekit.personal import HashedRecords
from audiencekit.preparation.plantimes import format_time, pin_list_times
from audiencekit.runs.store import ERASURE_HOME
from audiencekit.settings import Settings
from audiencekit.shown import shown

ReceiptState: TypeAlias = Literal["complete", "incomplete"]
TargetState: TypeAlias = Literal["pending", "confirmed", "busy", "refused", "gone"]

_SETTLED: Final = frozenset({"confirmed", "gone"})
_NOT_SHOWN: Final = frozenset({"fingerprint", "address"})  # they are for the next call alone

NO_READ_BACK: Final = (
    "the service does not say who is in an audience: a Delete of a person who was never sent is confirmed as well"
)
SHARED_KEYS: Final = "a Delete by a key takes out all people who hold that key"
NO_AUDIENCE: Final = "the account has no audience that people can be taken out of"
NOT_NOTED: Final = (
    "this user's data directory cannot be written: a state directory that is put back from a backup is not noticed"
)
NOT_LISTED: Final = "no one is on the do-not-reach list: it takes emails and phone numbers only"


@dataclass(slots=True, kw_only=True)
class TargetReceipt:
    """One audience, or the do-not-reach list. `requests` and `records` are those that the service confirmed.

    `pending` is not tried or not confirmed yet, `busy` has another run at work on it, `refused` was refused by the
    service, `gone` was deleted meanwhile; `why` says more. `refused_records` are forms that the service did not take.
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
    """An audience that no one can be taken out of, and why."""

    id: str
    name: str
    why: str


@dataclass(slots=True, kw_only=True)
class Receipt:
    """The state of an erasure. It is written to disk after every audience.

    `asked` counts the lines or rows that named a person; `identifiers` and `forms` count, by kind, their identifiers
    and the forms that were tried. `remembered` is true when later uploads leave these people out. `memory` describes
    the state of the memory that holds them: its `serial`, `keys` and `digest`, and whether it is `noted_outside`.
    `do_not_reach_until` is None unless they go on the do-not-reach list, too. `fingerprint` recognises a second call
    with the same people, and is kept only until the erasure is complete. `address` is that of the service.
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
    fingerprint: str = field(default="", repr=False)
    address: str = ""

    @classmethod
    def begun(
        cls, asked: Asked, records: HashedRecords, key: StateKey, settings: Settings, *, do_not_reach: bool
    ) -> Receipt:
        """That of an erasure which begins now, with all that is known before the first request."""
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
        """The receipt that `to_kept` or `to_json` wrote. Raises KeyError, TypeError or ValueError for what is none."""
        names = {one.name for one in fields(cls)} - (_NOT_SHOWN - document.keys())
        known = {name: document[name] for name in names}
        known["audiences"] = [TargetReceipt(**one) for one in known["audiences"]]
        known["skipped"] = [Skipped(**one) for one in known["skipped"]]
        known["do_not_reach"] = known["do_not_reach"] and TargetReceipt(**known["do_not_reach"])
        return cls(**known)

    def to_kept(self) -> dict[str, Any]:
        """Return the document that is kept on disk."""
        return asdict(self)

    def to_json(self) -> dict[str, Any]:
        """Return the document that `forget --json` prints: all but fingerprint and address, with `notes`."""
        document = {name: value for name, value in self.to_kept().items() if name not in _NOT_SHOWN}
        return {**document, "notes": list(self.notes)}

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes for a reader, in words."""
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

    def to_text(self) -> str:
        """Return the text that `forget` prints."""
        return "\n".join(_lines(self))


def counted(count: int, what: str) -> str:
    """`1 audience`, `2 audiences`."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _lines(receipt: Receipt) -> Iterator[str]:
    yield f"erasure {receipt.erasure_id}: {receipt.state}"
    yield f"  asked       {counted(sum(receipt.identifiers.values()), 'identifier')}: {_by_kind(receipt.identifiers)}"
    yield f"  forms       {counted(sum(receipt.forms.values()), 'form')} tried: {_by_kind(receipt.forms)}"
    if receipt.rejected:
        yield f"  left out    {_by_kind(receipt.rejected)}"
    yield f"  audiences   {receipt.settled:,} of {len(receipt.audiences):,} settled"
    yield from (f"    {_target_line(one)}" for one in receipt.audiences)
    yield from (f"    {shown(one.id)}  skipped    {one.name!r}: {shown(one.why)}" for one in receipt.skipped)
    if receipt.do_not_reach is not None:
        yield f"  do not reach until {receipt.do_not_reach_until}"
        yield f"    {_target_line(receipt.do_not_reach)}"
    if receipt.remembered:
        yield "  remembered  later uploads from this state directory leave these people out"
    yield from (f"  note: {shown(note)}" for note in receipt.notes)


def _target_line(target: TargetReceipt) -> str:
    told = f"{shown(target.id or '-')}  {target.state:<9}  {target.name!r}"
    if target.state == "confirmed":
        confirmed = f"{counted(target.records, 'record')} in {counted(target.requests, 'request')}"
        return f"{told}: {confirmed}, {target.confirmed_at}"
    return f"{told}: {shown(target.why)}" if target.why else told


def _by_kind(counts: Mapping[str, int] | Iterable[tuple[str, int]]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in dict(counts).items())
