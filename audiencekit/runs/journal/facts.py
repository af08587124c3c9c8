"""The facts of a run in its journal: its input, its plan, its progress, its times. Counts and names only."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, fields
from hashlib import sha256
from typing import Any, Final

from audiencekit.delivery.results import Delivered, Miscount, RefusedRow
from audiencekit.destinations.target import Target
from audiencekit.errors import Outcome
from audiencekit.limits import EXCHANGE_TIMEOUT_SECONDS
from audiencekit.process.boot import UNKNOWN_BOOT, boot_id, boot_seconds
from audiencekit.state.keys import DIGESTS, StateKey, SubKey

# --- The facts of a run in its journal: its input, its plan, its progress. Counts and names only ---

SYNC, RENEW = "sync", "renew"
UPDATES, DELETES = "U", "D"  # what a request holds
_KEY_DIGITS: Final = 16
_RESUME: Final = "`audiencekit resume {run_id}`"
_RESUME_FOR: Final = "`audiencekit resume {run_id} --account {account_id}`"
_AGAIN: Final = {
    SYNC: "`audiencekit sync SOURCE --audience {audience}`",
    RENEW: "`audiencekit renew --audience {audience}`",
}


def repeat_command(operation: str, audience_id: str) -> str:
    """Return the command that continues a sync or a renewal; empty for other operations, which are resumed."""
    return _AGAIN.get(operation, "").format(audience=audience_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """The input of a run: enough to read its source again in the same way.

    `sources` are absolute paths; `-` is standard input. `rejections` is a path relative to the directory of the run, or
    absolute. `keywords` are those of `upload`, as JSON has them; without a plan time it is `started_at`. `keep_spool`
    says that the records are kept, sealed, in the directory of the run until it has ended, `seal_rejections` for which
    recipient of age its rejected rows are sealed, and `only_rejected` which run had rejected the rows that it sends.
    `address` is that of the service in the settings, empty without one. `salt` is random, for the key of the journal: a
    second run with the same id has another key.
    """

    run_id: str
    account_id: str
    target: Target
    operation: str
    profile: str
    sources: list[str]
    rejections: str
    keywords: dict[str, Any]
    started_at: str
    audiencekit: str
    keep_spool: bool = False
    seal_rejections: str | None = None
    only_rejected: str | None = None
    salt: str
    address: str = ""

    def to_json(self) -> dict[str, Any]:
        """All fields, as the journal holds them."""
        own = {each.name: getattr(self, each.name) for each in fields(self)}
        return own | {"target": self.target.to_json()}

    def key(self, state_key: StateKey) -> SubKey:
        """Return the key of the journal with these facts."""
        return state_key.derive(DIGESTS, f"{self.run_id} {self.salt}")

    @property
    def idempotency_key(self) -> str:
        """The id, with a part that no other run under the same id has; it does not reveal the salt."""
        return f"{self.run_id}-{sha256(f'{self.run_id} {self.salt}'.encode()).hexdigest()[:_KEY_DIGITS]}"

    @property
    def repeat_command(self) -> str:
        """The command to repeat for a run that is not resumed, but compared with an earlier one; else empty."""
        return repeat_command(self.operation, self.target.id)

    def continue_command(self, *, names_account: bool = False) -> str:
        """Return the command that continues the run when it has ended early, between backquotes.

        SOURCE is the list of a sync. A resumption names the account if the environment may name another one.
        """
        command = _RESUME_FOR if names_account else _RESUME
        return self.repeat_command or command.format(run_id=self.run_id, account_id=self.account_id)


@dataclass(frozen=True, slots=True)
class PlannedBody:
    """One request of the plan, as far as it is known before its body is made."""

    number: int
    wave: int
    records: int
    body_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestFacts:
    """One request of the plan, and how far it has come. An attempt under way is one of the `attempts`.

    `state` is planned, intended, confirmed, refused or unknown. The counts of the service are None until it gave them;
    `refused` are single rows that were sent alone, and not taken.
    """

    number: int
    wave: int
    records: int
    body_bytes: int
    state: str
    attempts: int
    rate_limited: int
    success_count: int | None
    total_count: int | None
    refused: tuple[RefusedRow, ...] = ()

    @classmethod
    def from_json(cls, event: Mapping[str, Any]) -> RequestFacts:
        """Return the facts of the `event` of a request."""
        names = (each.name for each in fields(cls) if each.name not in ("body_bytes", "refused"))
        refused = tuple(RefusedRow(each["row"], tuple(each["codes"])) for each in event["refused"])
        return cls(**{name: event[name] for name in names}, body_bytes=event["bytes"], refused=refused)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanFacts:
    """The plan of a run. Two plans without a `difference` have the same bytes.

    `mapping` says which columns carry what, `rules` how values are judged and entries written, `found` the recognised
    form of the source; `fingerprint` is over all records in order, `suppression` over those of suppression sources;
    both are over none for a run that is not resumed. `verbs` says for each request in order whether it has Updates,
    Deletes or both.
    """

    mapping: dict[str, Any]
    rules: dict[str, Any]
    found: dict[str, Any]
    rows_read: int
    rows_rejected: int
    records: int
    fingerprint: str
    suppression: str
    requests: tuple[PlannedBody, ...] = field(repr=False)
    verbs: tuple[str, ...] = field(repr=False)

    def verbs_of(self, number: int) -> str:
        """Return the verbs of request `number`; both if a damaged plan does not say them."""
        return self.verbs[number - 1] if 0 < number <= len(self.verbs) else UPDATES + DELETES

    def sends(self, verb: str) -> bool:
        """Whether a request of the plan has that verb."""
        return any(verb in self.verbs_of(request.number) for request in self.requests)

    def difference(self, now: PlanFacts) -> tuple[str, str] | None:
        """Return the first difference from the plan `now`, as (code, sentence); None without any."""
        if self.mapping != now.mapping:
            return "mapping", "the columns with identifiers are not those that the run began with"
        if self.rules != now.rules:
            changed = sorted(name for name in self.rules | now.rules if self.rules.get(name) != now.rules.get(name))
            return "options", f"the options are not those that the run began with: {', '.join(changed)}"
        if (self.rows_read, self.rows_rejected) != (now.rows_read, now.rows_rejected):
            was, is_now = (
                f"{self.rows_read:,} rows, {self.rows_rejected:,}",
                f"{now.rows_read:,}, {now.rows_rejected:,}",
            )
            return "source", f"the source has changed: it had {was} of them rejected, and now has {is_now} of them"
        if self.fingerprint != now.fingerprint:
            return "source", "the source has changed: it has as many rows as before, but they are not the same"
        if (self.suppression, self.records) != (now.suppression, now.records):
            return "suppression", "the people to suppress are not those that the run began with"
        if self.requests != now.requests:
            return "requests", "this version would cut the records into other requests"
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How a run ended for good: `complete`, or `refused` with the reason. `exit_code` is that of the process."""

    state: str
    exit_code: int
    message: str = ""
    hint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sums:
    """The sums over the requests of a journal.

    `attempts` includes those cut short by a crash; `unknown` ones may be applied. The counts of records and bytes are
    over confirmed requests, `success_count` and `total_count` as the service gave them; `refused` are single rows of
    those, in row order. `miscounted` are requests that are not confirmed because the service counted other records than
    were sent.
    """

    confirmed: int = 0
    unknown: int = 0
    records_confirmed: int = 0
    body_bytes: int = 0
    success_count: int = 0
    total_count: int = 0
    attempts: int = 0
    rate_limited: int = 0
    refused: tuple[RefusedRow, ...] = ()
    miscounted: tuple[Miscount, ...] = ()

    def plus(self, delivered: Delivered) -> Sums:
        """Return these sums plus those of a later delivery, when the journal does not show what is in doubt by now."""
        doubtful = sum(result.outcome is Outcome.UNKNOWN for result in delivered.pending)
        return Sums(
            confirmed=self.confirmed + delivered.confirmed,
            unknown=self.unknown + doubtful,
            records_confirmed=self.records_confirmed + delivered.records_confirmed,
            body_bytes=self.body_bytes + delivered.body_bytes,
            success_count=self.success_count + delivered.success_count,
            total_count=self.total_count + delivered.total_count,
            attempts=self.attempts + delivered.attempts,
            rate_limited=self.rate_limited + delivered.rate_limited,
            refused=tuple(sorted(self.refused + delivered.refused, key=lambda each: each.row)),
            miscounted=tuple(result.miscount for result in delivered.pending if result.miscount),
        )

    @property
    def is_reconciled(self) -> bool:
        """Whether the service counted the same as was sent."""
        return self.records_confirmed == self.success_count == self.total_count

    @property
    def is_touched(self) -> bool:
        """Whether anything may have reached the audience."""
        return bool(self.confirmed or self.unknown)


def sums_of(requests: Collection[RequestFacts]) -> Sums:
    """Return the sums over `requests`, as `JournalFile.sums` does over all of the plan."""
    confirmed = [each for each in requests if each.state == Outcome.CONFIRMED]
    refused = sorted((row for each in requests for row in each.refused), key=lambda row: row.row)
    return Sums(
        confirmed=len(confirmed),
        unknown=sum(each.state in ("intended", Outcome.UNKNOWN) for each in requests),
        records_confirmed=sum(each.records for each in confirmed) - len(refused),
        body_bytes=sum(each.body_bytes for each in confirmed),
        success_count=sum(each.success_count or 0 for each in confirmed),
        total_count=sum(each.total_count or 0 for each in confirmed),
        attempts=sum(each.attempts for each in requests),
        rate_limited=sum(each.rate_limited for each in requests),
        refused=tuple(refused),
        miscounted=tuple(
            Miscount(each.number, each.records, each.success_count, each.total_count or 0)
            for each in sorted(requests, key=lambda each: each.number)
            if each.state != Outcome.CONFIRMED and each.success_count is not None
        ),
    )


# --- When bytes left, readable after the process: seconds since the start of the machine, and which start ---


@dataclass(frozen=True, slots=True)
class Moment:
    """A moment: `seconds` after the start of the machine that `boot` names.

    Changes of the wall clock do not move it.
    """

    boot: str
    seconds: float

    def seconds_since(self, earlier: Moment) -> float:
        """Return how long ago `earlier` was; 0 if unknown: after another start, or on another machine."""
        if UNKNOWN_BOOT in (self.boot, earlier.boot) or self.boot != earlier.boot:
            return 0.0
        return max(0.0, self.seconds - earlier.seconds)


def this_moment() -> Moment:
    """Return the present moment on this machine."""
    return Moment(boot_id(), boot_seconds())


def seconds_in_the_past(departures: Iterable[Moment], now: Moment) -> float:
    """Return the least seconds since the end of the last attempt whose bytes were sent at one of `departures`.

    Infinite without any. An attempt may take as long as its timeout.
    """
    elapsed = min((now.seconds_since(departure) for departure in departures), default=math.inf)
    return max(0.0, elapsed - EXCHANGE_TIMEOUT_SECONDS)
