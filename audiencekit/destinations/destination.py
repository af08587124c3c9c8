"""The protocol of a destination, and its words. Plan, journal and report use a destination only through it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self

from audiencekit.destinations.requests.packing import BodyForm
from audiencekit.destinations.requests.request_plan import BodyOptions, PlannedRequest, Sizes, SizesOf
from audiencekit.identifiers.kinds import Kind
from audiencekit.personal import HashedRecords
from audiencekit.profile import Profile
from audiencekit.records.plan_times import PlanTimes

if TYPE_CHECKING:
    from audiencekit.delivery.results import Counts, OpenedBody
    from audiencekit.delivery.retry import RetryPolicy
    from audiencekit.packed_request import PackedRequest
    from audiencekit.settings import Settings


# --- The protocol of a destination. Plan, journal, resumption and report use a destination only through it ---


class RequestForm(BodyForm, Protocol):
    """How records are written in requests: sizes that are exact before anything is written, and the bytes."""

    def measure(self, records: HashedRecords) -> Sizes:
        """Return the bytes that each record of a batch (RECORD_SCHEMA) takes in a body.

        Called in several threads at once.
        """

    def plan(self, waves: Iterable[int], sizes_of: SizesOf) -> list[PlannedRequest]:
        """Return the requests for all records, wave by wave, Updates before Deletes in each."""

    def open_body(self, request: PackedRequest) -> OpenedBody | None:
        """Open a body, to send it in parts when records of it are refused; None if it has no parts."""


class Session(Protocol):
    """The calls of one run on one target. The connection is open within the block."""

    async def __aenter__(self) -> Self:
        """Connect."""

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> Any:
        """Disconnect."""

    async def look(self, *, policy: RetryPolicy, notify: Callable[[str], None]) -> None:
        """Check that the target exists and may be written, before the source is read; called outside of the block.

        Raises an AudiencekitError that refuses the run, of which then nothing is stored.
        """

    def identify(self, idempotency_key: str) -> None:
        """Take the key of the run: the same when it is resumed, and of no other run. Called before `begin`.

        With the number of a request it tells whether a request is new or sent again with the same bytes.
        """

    async def begin(self, *, removes: bool, policy: RetryPolicy, notify: Callable[[str], None]) -> None:
        """Announce a run that `removes` people or not, before its first request; called outside of the block.

        Raises an AudiencekitError that ends the run with nothing sent.
        """

    async def send(self, request: PackedRequest) -> Counts:
        """Send one request. Raises an ExchangeError for what is not confirmed, counts that differ included."""

    async def finish(self) -> None:
        """End a run after its last confirmed request, within the block. Raises an AudiencekitError."""


class Destination(Protocol):
    """The rules of a kind of place where people go, such as audiences."""

    @property
    def name(self) -> str:
        """The name in journals and documents."""

    @property
    def words(self) -> DestinationWords:
        """The words for people."""

    @property
    def quota(self) -> str:
        """The name of the quota of its requests, shared by all destinations that the service counts together."""

    @property
    def max_body_bytes(self) -> int | None:
        """The most bytes of a request; None without a limit."""

    @property
    def requests_per_minute(self) -> float | None:
        """The requests that the service takes a minute; None without a limit."""

    @property
    def kinds(self) -> frozenset[Kind]:
        """The kinds of identifiers that it takes."""

    @property
    def suppresses(self) -> bool:
        """Whether suppression sources, consent and the memory of erased people keep records out of it."""

    @property
    def can_sync(self) -> bool:
        """Whether a sync can make it equal to a source; a snapshot then holds its members."""

    def lock_name(self, place_id: str) -> str:
        """The name of the lock of one place, unique in its account."""

    def pin(self, plan_time: datetime, now: datetime, wanted: TimeOptions) -> PlanTimes:
        """The times of a plan made at `plan_time`. Raises UsageError for times that it does not take."""

    def form(self, times: PlanTimes, profile: Profile, wanted: BodyOptions | None = None) -> RequestForm:
        """The form of the requests of a plan with these times, and with the sizes that the options give."""

    def notes(self, *, updates: int, deletes: int, suppressing: bool) -> tuple[str, ...]:
        """Notes on sending so many records, for people."""

    def connect(self, place_id: str, settings: Settings) -> Session:
        """The session of a run. Raises UsageError or CredentialsRefused for settings that lack something."""


class TimeOptions(Protocol):
    """The times that the options give; None where they give none."""

    @property
    def expires_at(self) -> str | None:
        """The end of the entries, ISO 8601."""

    @property
    def ttl_days(self) -> int | None:
        """The number of days for which entries last."""

    @property
    def effective_at(self) -> str | None:
        """The beginning of the entries, ISO 8601."""


# --- The words of a destination for people: in plans, reports, pages and messages ---


@dataclass(frozen=True, slots=True, kw_only=True)
class DestinationWords:
    """The words of a destination. `noun` is one place of it. The defaults of the others fit any destination.

    `not_found` says what to do for a `{place}` that `{account}` does not have, and `few_people` what a change of so few
    `{people}` reveals. `accepted` and `received` name the two counts of the service; `of_counts` is the sentence below
    them in a report, and `of_matches` in its page.
    """

    noun: str
    not_found: str = "there is no {place}: give the id of one that there is"
    few_people: str = "this changes {people}"
    accepted: str = "accepted"
    received: str = "received"
    of_counts: str = ""
    of_matches: str = ""
