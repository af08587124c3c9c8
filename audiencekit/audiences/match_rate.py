"""The sizes of audiences over time: match rate, history, and whether an audience is ready."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, Literal, Protocol, Self, TypeAlias

from audiencekit.api.answers import Answer
from audiencekit.audiences.erasure.receipt import ErasureStore
from audiencekit.audiences.sync.sync import expiry, is_under_sync
from audiencekit.delivery.retry import Clock
from audiencekit.destinations.audience_sizes import AudienceSizes
from audiencekit.errors import (
    AudiencekitError,
    NotFinished,
    RateLimited,
    Refused,
    SnapshotRefused,
    TemporarilyUnavailable,
    TransportFailed,
)
from audiencekit.limits import MIN_SHOWN_PEOPLE, MIN_TARGETABLE_PEOPLE, READINESS_FAILURES
from audiencekit.records.plan_times import format_time
from audiencekit.runs.journal.facts import SYNC
from audiencekit.runs.reports import find_resumable_run, list_runs
from audiencekit.runs.store import ERASURE_HOME, LAST, RunOrder, RunStore, find_id
from audiencekit.settings import Settings
from audiencekit.state.keys import StateKey
from audiencekit.text import shown

# --- The match rate as the service defines it: users active in the last 90 days over users provided ---
#
# The service tells the first number. The second it does not: under sync the snapshot knows who is in the audience now;
# else the runs of this machine bound it, since people who were sent twice are one, and others may have sent, too.

Runs: TypeAlias = Iterable[Mapping[str, Any]]
_DELETE: Final = "delete"
_DELETING: Final = frozenset({_DELETE, "update and delete"})  # how many records of the second are Deletes is not known


@dataclass(frozen=True, slots=True, kw_only=True)
class Provided:
    """The records in the audience now: from `least` to `most`, by the snapshot or the runs."""

    least: int
    most: int
    source: Literal["snapshot", "runs"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """An audience at one moment: its state at the service, and how many records were provided; None if unknown."""

    readiness: Readiness
    provided: Provided | None

    @classmethod
    def of(cls, readiness: Readiness, settings: Settings) -> Self:
        """Return the health with the facts of this state directory, without an untrusted snapshot.

        The size is stored.
        """
        now = format_time(datetime.now(UTC))
        AudienceSizes(settings.state_dir, settings.account_id).note(readiness.audience_id, readiness.size, now)
        provided = None
        with contextlib.suppress(SnapshotRefused):
            provided = count_provided(readiness.audience_id, settings)
        return cls(readiness=readiness, provided=provided)

    @property
    def rate(self) -> tuple[float, float] | None:
        """The least and the greatest match rate; None if one of the two numbers is not known, or zero."""
        size, provided = self.readiness.size, self.provided
        if size is None or provided is None or not provided.most:
            return None
        return min(size / provided.most, 1.0), min(size / max(provided.least, 1), 1.0)

    def to_json(self) -> dict[str, Any]:
        """audience_id, targetable, reasons_not_targetable, audience_size, provided, match_rate."""
        document = self.readiness.to_json()
        provided, rate = self.provided, self.rate
        document["provided"] = provided and {"least": provided.least, "most": provided.most, "source": provided.source}
        document["match_rate"] = rate and {"least": rate[0], "most": rate[1]}
        return document

    def to_text(self) -> str:
        """Return some lines for people."""
        state = "can be targeted" if self.readiness.is_targetable else "cannot be targeted yet"
        lines = [f"audience {shown(self.readiness.audience_id)} {state}", f"  active in 90 days   {self._size()}"]
        lines.append(f"  provided            {self._provided()}")
        lines.append(f"  match rate          {self._rate()}")
        return "\n".join(lines + self._floors())

    def _size(self) -> str:
        return "the service does not say" if self.readiness.size is None else f"{self.readiness.size:,}"

    def _provided(self) -> str:
        if self.provided is None:
            return "not known: no run of this machine tells"
        by_source = {"snapshot": "by the snapshot of the last sync", "runs": "by the runs of this machine"}
        return f"{_span(f'{self.provided.least:,}', f'{self.provided.most:,}')}, {by_source[self.provided.source]}"

    def _rate(self) -> str:
        if self.rate is None:
            return "not known"
        least, most = (f"{100 * share:.0f} %" for share in self.rate)
        return f"{_span(least, most)}: users active in 90 days over users provided"

    def _floors(self) -> list[str]:
        size = self.readiness.size
        if size is None:
            return []
        found = []
        if size < MIN_TARGETABLE_PEOPLE:
            found.append(f"note: {MIN_TARGETABLE_PEOPLE} are needed before the audience can be targeted")
        if size < MIN_SHOWN_PEOPLE:
            found.append(f"note: the service's own pages show a size from {MIN_SHOWN_PEOPLE} on")
        return found


def _span(least: str, most: str) -> str:
    return least if least == most else f"{least} to {most}"


def count_provided(
    audience_id: str, settings: Settings, now: datetime | None = None, *, runs: Runs | None = None
) -> Provided | None:
    """Return the records in the audience now; None if not known. Raises SnapshotRefused for a damaged snapshot.

    `runs` are those of this machine, if the caller has listed them.
    """
    now = now or datetime.now(UTC)
    if is_under_sync(audience_id, settings):
        found = expiry(audience=audience_id, settings=settings, now=now)
        live = found.members - found.lapsed
        return Provided(least=live - found.doubtful, most=live, source="snapshot")
    put_in, largest, taken_out = [], 0, 0
    for run in RunStore(settings.state_dir).list_runs() if runs is None else runs:
        if run.get("audience_id") != audience_id or "rows" not in run:
            continue
        sent, operation = int(run["rows"].get("sent", 0)), run.get("operation")
        if operation in _DELETING:
            taken_out += sent
        if operation != _DELETE and (run.get("expires_at") or format_time(now)) >= format_time(now):
            put_in.append(sent)
            largest = max(largest, 0 if operation in _DELETING else sent)
    if not any(put_in):
        return None
    return Provided(least=max(0, largest - taken_out), most=sum(put_in), source="runs")


def size_history(audience_id: str, settings: Settings, *, runs: Runs | None = None) -> list[dict[str, Any]]:
    """Return the sizes that the service gave this machine, oldest first: `seen_at`, `audience_size`, `members`.

    `members` are the members after the last complete sync before that time, and `match_rate` is the size divided by
    them; both are None without a sync on this machine. `runs` are those of this machine, if the caller has listed them.
    """
    left, found = _members_after_syncs(audience_id, settings, runs), []
    for seen_at, size in AudienceSizes(settings.state_dir, settings.account_id).of(audience_id).items():
        members = next((count for finished_at, count in reversed(left) if finished_at <= seen_at), None)
        rate = round(min(size / members, 1.0), 4) if members else None
        found.append({"seen_at": seen_at, "audience_size": size, "members": members, "match_rate": rate})
    return found


def _members_after_syncs(audience_id: str, settings: Settings, runs: Runs | None) -> list[tuple[str, int]]:
    """Return when each complete sync of the audience ended, and the members after it, oldest first."""
    store, found = RunStore(settings.state_dir), []
    for run in store.list_runs() if runs is None else runs:
        if run.get("audience_id") == audience_id and run["state"] == "complete" and run.get("finished_at"):
            with contextlib.suppress(AudiencekitError, OSError):
                members = store.read(run["run_id"]).get("changes", {}).get("members_after")
                found += [(str(run["finished_at"]), int(members))] if members is not None else []
    return sorted(found)


# --- The history of this machine: its runs and its erasures, in one order ---


def list_history(state_dir: Path, key: StateKey | None = None) -> list[dict[str, Any]]:
    """Return every run and every erasure, newest first, each with `run_id`, `state`, `resumable` and `running`.

    The `operation` of an erasure is `forget`, and `audiences` counts its settled and known audiences. With `key` the
    journals of runs are checked.
    """
    found = {str(one["run_id"]): one for one in list_runs(state_dir, key) + ErasureStore(state_dir).summaries()}
    return [found[run_id] for run_id in _newest_first(state_dir) if run_id in found]


def failed_runs(found: Runs) -> list[dict[str, Any]]:
    """Return those of `found`, newest first, that are neither complete nor at work.

    A sync that was cut short has not failed once a later one of its audience is complete: that one made it equal.
    """
    failed, made_equal = list[dict[str, Any]](), list[Any]()
    for run in found:
        target = run.get("target")
        is_sync = run.get("operation") == SYNC
        if run["state"] == "complete":
            made_equal += [target] if is_sync else []
        elif not run["running"] and not (is_sync and target in made_equal):
            failed.append(dict(run))
    return failed


def find_in_history(state_dir: Path, run: str) -> tuple[str, bool]:
    """Return the id of the run or erasure `run`, and whether it is an erasure.

    `run` is an id, the unique beginning of one, or `last`. Raises UsageError for anything else.
    """
    run_id = find_id(run, _newest_first(state_dir), "erasure" if run.startswith(ERASURE_HOME.prefix) else "run")
    return run_id, run_id in ErasureStore(state_dir).ids()


def find_resumable(state_dir: Path, run: str, key: StateKey | None = None) -> tuple[str, bool]:
    """Return the same for a run or erasure to resume: `last` is the one that `find_resumable_run` returns.

    Raises UsageError and AudienceBusy. With `key` the journals of runs are checked.
    """
    return find_in_history(state_dir, find_resumable_run(list_history(state_dir, key)) if run == LAST else run)


def _newest_first(state_dir: Path) -> list[str]:
    moments = RunStore(state_dir).moments() | ErasureStore(state_dir).moments()
    return RunOrder(state_dir).ordered(moments)[::-1]


# --- Whether an audience can be targeted, the reasons if not, and the number of its active users ---
#
# The service works on uploads for hours (public documentation, "custom audiences"); until then the answer is polled.

DEFAULT_TIMEOUT: Final = timedelta(hours=48)
DEFAULT_INTERVAL: Final = timedelta(minutes=5)

_IN_WORDS: Final[Mapping[str, str]] = {
    "PROCESSING": "the service is still working on what was uploaded, which takes hours",
    "TOO_SMALL": f"fewer than {MIN_TARGETABLE_PEOPLE} people were found so far",
}


class AudienceReader(Protocol):
    """The one method of AdsClient that is needed here."""

    async def get_custom_audience(self, audience_id: str, *, with_deleted: bool | None = None) -> Answer:
        """One audience."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Readiness:
    """An audience at one moment, by the service.

    `size` counts its active users, None if the service does not give it.
    """

    audience_id: str
    is_targetable: bool
    reasons: tuple[str, ...]
    size: int | None

    def to_json(self) -> dict[str, Any]:
        """audience_id, targetable, reasons_not_targetable, audience_size."""
        return {
            "audience_id": self.audience_id,
            "targetable": self.is_targetable,
            "reasons_not_targetable": list(self.reasons),
            "audience_size": self.size,
        }

    def to_text(self) -> str:
        """Return one line for people."""
        state = "targetable" if self.is_targetable else "not targetable yet"
        because = "; ".join(explain(reason) for reason in self.reasons)
        state_text = f"{state}: {because}" if because else state
        return f"audience {shown(self.audience_id)} is {state_text}; {self._size_in_words()}"

    def _size_in_words(self) -> str:
        if self.size is None:
            return "the service does not say how many users are active"
        return f"{self.size:,} users active in 90 days"


def explain(reason: str) -> str:
    """Return a reason of the service in words; an unknown reason is shown as it is."""
    return _IN_WORDS.get(reason, f"the service says {shown(reason)}")


async def read_readiness(client: AudienceReader, audience_id: str) -> Readiness:
    """Return the present state. Raises Refused for a deleted audience, NotFound for one that never existed."""
    audience = dict((await client.get_custom_audience(audience_id, with_deleted=True)).data)
    if audience.get("deleted"):
        raise Refused(f"audience {audience_id} is deleted")
    size = audience.get("audience_size")
    return Readiness(
        audience_id=audience_id,
        is_targetable=audience.get("targetable") is True,
        reasons=tuple(str(reason) for reason in audience.get("reasons_not_targetable") or ()),
        size=size if type(size) is int else None,
    )


async def wait_until_targetable(
    client: AudienceReader,
    audience_id: str,
    *,
    clock: Clock,
    timeout: timedelta = DEFAULT_TIMEOUT,
    interval: timedelta = DEFAULT_INTERVAL,
    on_state: Callable[[Readiness], None] = lambda readiness: None,
) -> Readiness:
    """Return the first answer that says targetable; `on_state` gets every answer.

    Raises NotFinished after `timeout`. A service that is away is asked again, at most READINESS_FAILURES times in a
    row; every other error is raised at once.
    """
    deadline = clock.monotonic() + timeout.total_seconds()
    failures = 0
    while True:
        try:
            readiness = await read_readiness(client, audience_id)
        except (TransportFailed, TemporarilyUnavailable, RateLimited):
            failures += 1
            if failures > READINESS_FAILURES:
                raise
        else:
            failures = 0
            on_state(readiness)
            if readiness.is_targetable:
                return readiness
        left = deadline - clock.monotonic()
        if left <= 0:
            raise NotFinished(
                f"audience {audience_id} is not targetable after {timeout}", hint="wait longer with `timeout=`"
            )
        await clock.sleep(min(interval.total_seconds(), left))
