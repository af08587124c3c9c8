"""`sync`, its preview, `renew` and `expiry`."""

from __future__ import annotations

import functools
import math
from contextlib import ExitStack, closing
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final, Unpack

from audiencekit.api.calls import check_identifier
from audiencekit.audiences.sync.planner import SyncPlanner, allowed_share, plan_renewal
from audiencekit.audiences.sync.run import HeldSnapshot, run_on_snapshot
from audiencekit.delivery.limiter import RateLimiter
from audiencekit.destinations.known_audiences import KnownAudiences
from audiencekit.destinations.target import Target
from audiencekit.durations import parse_duration
from audiencekit.errors import PlanRefused
from audiencekit.limits import DEFAULT_ALLOWED_SHRINK, RENEW_BEFORE_DAYS
from audiencekit.planning.options import Keywords, SyncKeywords, Time, plain_keywords, read_keywords, with_keywords
from audiencekit.planning.plan import to_plan
from audiencekit.planning.plan_inputs import PlanResources, PlanTerms
from audiencekit.process.cancellation import cancellable
from audiencekit.process.event_loop import blocking
from audiencekit.reporting.progress import Progress
from audiencekit.reporting.report import Plan, Report
from audiencekit.reporting.sealed_rejections import recipient_of
from audiencekit.runs.beginning import hold_target
from audiencekit.runs.journal.facts import RENEW, SYNC
from audiencekit.runs.keywords import RUN_DEFAULTS, RunOptions, SyncPlanKeywords, SyncRunKeywords
from audiencekit.runs.run import RunArguments, RunClock
from audiencekit.runs.start import audience_id_of, check_settings, look_at_target
from audiencekit.settings import Settings, load_settings
from audiencekit.snapshots.members import DOUBTFUL, date_of, day_of
from audiencekit.snapshots.store import SNAPSHOTS, SnapshotStore
from audiencekit.sources.files import AnySource, items_of
from audiencekit.state.keys import find_state_key

# --- `sync`: make an audience equal to a source by sending only the changes since the last time ---


@cancellable
@with_keywords(SyncRunKeywords, RUN_DEFAULTS)
async def sync_async(
    source: AnySource,
    *,
    audience: str,
    replace: bool = False,
    rebuild: bool = False,
    allow_shrink: float = DEFAULT_ALLOWED_SHRINK,
    **keywords: Unpack[SyncRunKeywords],
) -> Report:
    """Make the audience equal to the source; return the report of the complete run.

    Only the differences from the snapshot of the last sync are sent. All additions and renewals are confirmed before
    the first removal. The audience may shrink by the share `allow_shrink`, or with `replace` by any share; it is never
    left empty. `rebuild` sends all members, without regard to the snapshot. To finish a sync that ended early, call it
    again: it continues from the confirmed requests. `seal_rejections` is as in `upload_async`. Raises the errors of
    `upload_async`, and SnapshotRefused when the snapshot cannot be trusted.
    """
    source = items_of(source)
    options, about_source = RunOptions.split(keywords)
    allowed = check_sync(about_source, options.settings, allow_shrink, replace=replace)
    if options.seal_rejections is not None:
        recipient_of(options.seal_rejections, options.settings)
    check_settings(options.settings)
    plain = plain_keywords(about_source, few_people=options.settings.few_people)
    target = Target.audience(await audience_id_of(audience, options.settings))
    await look_at_target(target.connect(options.settings), options.progress, RunClock().retry_policy(options.settings))
    arguments = RunArguments(source=source, target=target, keywords=plain, options=options, operation=SYNC)
    planner = functools.partial(SyncPlanner, allowed_shrink=allowed, all_members=rebuild)
    return await run_on_snapshot(arguments, planner, rebuild=rebuild)


sync = blocking(sync_async)


def check_sync(keywords: SyncKeywords, settings: Settings, allow_shrink: float, *, replace: bool) -> float:
    """Return the share by which the audience may shrink. Raises UsageError for keywords that can never work."""
    allowed = allowed_share(allow_shrink, replace=replace)
    read_keywords(keywords, settings.profile)
    return allowed


# --- `renew`: send the members of the snapshot again whose entries expire soon ---

DEFAULT_BEFORE: Final = f"{RENEW_BEFORE_DAYS}d"


@cancellable
async def renew_async(
    *,
    audience: str,
    before: str = DEFAULT_BEFORE,
    expires_at: Time | None = None,
    ttl_days: int | None = None,
    settings: Settings | None = None,
    progress: Progress | None = None,
    limiter: RateLimiter | None = None,
) -> Report:
    """Extend the entries of an audience under sync that expire within `before`, such as 30d; return the report.

    The rows of the report are the members of the snapshot. Raises the errors of `sync_async`, and PlanRefused for an
    audience that is not under sync.
    """
    options = RunOptions.of(settings=settings, progress=progress, limiter=limiter)
    days = math.ceil(parse_duration(before, "`before=`") / timedelta(days=1))
    check_settings(options.settings)
    target = Target.audience(await audience_id_of(audience, options.settings))
    keywords = plain_keywords(Keywords(expires_at=expires_at, ttl_days=ttl_days))
    arguments = RunArguments(source=None, target=target, keywords=keywords, options=options, operation=RENEW)
    return await run_on_snapshot(arguments, lambda snapshot: functools.partial(plan_renewal, snapshot, days))


renew = blocking(renew_async)


# --- The plan of a sync, for people: no request is sent, and nothing is changed ---


@with_keywords(SyncPlanKeywords, RUN_DEFAULTS)
def plan_sync(
    source: AnySource,
    *,
    audience: str,
    replace: bool = False,
    rebuild: bool = False,
    allow_shrink: float = DEFAULT_ALLOWED_SHRINK,
    **keywords: Unpack[SyncPlanKeywords],
) -> Plan:
    """Make the plan of `sync`, whose `changes` count people. Sends nothing, and needs no credentials.

    An audience that is given by its name must have been used on this machine before. Raises the errors of `check`,
    SnapshotRefused, and AudienceBusy while a run works on the audience.
    """
    source = items_of(source)
    options, about_source = RunOptions.split(keywords)
    settings = options.settings
    allowed = check_sync(about_source, settings, allow_shrink, replace=replace)
    now, audience_id = datetime.now(UTC), KnownAudiences(settings.state_dir, settings.account_id).find(audience)
    target = Target.audience(audience_id)
    with ExitStack() as stack:
        hold_target(target, settings, stack, now)
        snapshot = HeldSnapshot(settings, audience_id, stack, rebuild=rebuild)
        terms = PlanTerms.of(about_source, settings, now=now)
        resources = PlanResources(stack=stack, progress=options.progress, rejections=options.rejections)
        planner = SyncPlanner(snapshot, allowed_shrink=allowed, all_members=rebuild)
        return to_plan(planner(source, terms, resources))


# --- `expiry`: when the members of an audience under sync expire, unless they are renewed ---

WITHIN_DAYS: Final = (7, 30, 90)  # what people ask for


@dataclass(frozen=True, slots=True, kw_only=True)
class Expiry:
    """The members of an audience by the day on which their entries expire, in UTC.

    `doubtful` members may be in the audience or not. `within` counts those that expire in so many days. With
    `unsettled`, a run is at work or was interrupted, and its changes are not counted yet.
    """

    audience_id: str
    members: int
    doubtful: int
    lapsed: int
    within: dict[int, int]
    days: dict[date, int]
    unsettled: bool

    def to_json(self) -> dict[str, Any]:
        """Return the document that `expiry --json` prints."""
        return {
            "audience_id": self.audience_id,
            "members": self.members,
            "doubtful": self.doubtful,
            "lapsed": self.lapsed,
            "within_days": {str(days): count for days, count in self.within.items()},
            "days": [{"date": day.isoformat(), "members": count} for day, count in self.days.items()],
            "unsettled": self.unsettled,
        }


def is_under_sync(audience_id: str, settings: Settings) -> bool:
    """Whether this state directory has a snapshot of the audience. Without any snapshot, no state key is made."""
    return (settings.state_dir / SNAPSHOTS).exists() and snapshot_store(audience_id, settings).exists()


def snapshot_store(audience_id: str, settings: Settings) -> SnapshotStore:
    """Return the place of the snapshot of an audience, which may have none. Raises UsageError for an invalid id."""
    check_identifier("audience", audience_id)
    key = find_state_key(settings.state_dir, settings.key)
    return SnapshotStore(settings.state_dir, settings.require_account(), audience_id, key)


def expiry(*, audience: str, settings: Settings | None = None, now: datetime | None = None) -> Expiry:
    """Count the members of the snapshot by the day on which they expire. Sends nothing, and needs no credentials.

    A name must have been used on this machine before. Raises UsageError when it was not, PlanRefused for an audience
    that is not under sync, SnapshotRefused for a snapshot that cannot be trusted.
    """
    settings = settings or load_settings()
    audience_id = KnownAudiences(settings.state_dir, settings.account_id).find(audience)
    store = snapshot_store(audience_id, settings)
    if not store.exists():
        raise PlanRefused("the audience is not under sync", hint="`audiencekit sync SOURCE --audience ID` begins it")
    with closing(store.open()) as snapshot:
        days = {int(day): count for day, count in snapshot.facts.days.items()}
        members, doubtful = snapshot.facts.members, days.pop(DOUBTFUL, 0)
    today = day_of(now or datetime.now(UTC))
    return Expiry(
        audience_id=audience_id,
        members=members,
        doubtful=doubtful,
        lapsed=sum(count for day, count in days.items() if day < today),
        within={
            within: sum(count for day, count in days.items() if today <= day <= today + within)
            for within in WITHIN_DAYS
        },
        days={date_of(day): count for day, count in days.items()},
        unsettled=store.changes_path.exists(),
    )
