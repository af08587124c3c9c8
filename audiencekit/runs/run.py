"""One run: its arguments, its clock, and the facts in its journal."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, cast

from audiencekit import __version__
from audiencekit.delivery.retry import Clock, RetryPolicy, SystemClock
from audiencekit.destinations.target import Target
from audiencekit.planning.options import Keywords, read_keywords
from audiencekit.profile import find_profile
from audiencekit.records.plan_times import format_time, parse_time
from audiencekit.reporting.sealed_rejections import Sealing, recipient_of
from audiencekit.runs.audited import RunAudit
from audiencekit.runs.events import RunEvents
from audiencekit.runs.journal.facts import Moment, PlanFacts, RunFacts, Sums, this_moment
from audiencekit.runs.journal.file import JournalFile
from audiencekit.runs.keywords import RunOptions
from audiencekit.runs.store import RunStore
from audiencekit.selection.row_tags import RowProofs
from audiencekit.settings import Settings
from audiencekit.sources.files import AnySource, FilePath, Item, absolute_path, items_of, stored_path
from audiencekit.sources.frames import Frame
from audiencekit.state.keys import SubKey

# --- The arguments of a run, and their facts in its journal ---

REJECTIONS: Final = "rejections.csv"
_SALT_BYTES: Final = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class RunArguments:
    """The arguments of a run. Without `operation` its keywords decide it.

    `source` is None for a run that reads none. Rejections are listed in the directory of the run unless
    `options.rejections` names a file.
    """

    source: AnySource | None
    target: Target
    keywords: Keywords
    options: RunOptions
    operation: str | None = None

    @property
    def items(self) -> tuple[Item, ...]:
        """Return the sources, files by their absolute paths."""
        given = () if self.source is None else items_of(self.source)
        return tuple(item if isinstance(item, Frame) else absolute_path(item) for item in given)

    def facts(self, run_id: str, now: datetime) -> RunFacts:
        """Return the facts of the run `run_id` that begins `now`, with a new salt."""
        settings, rejections = self.options.settings, self.options.rejections
        return RunFacts(
            run_id=run_id,
            account_id=settings.require_account(),
            target=self.target,
            operation=self.operation or read_keywords(self.keywords, settings.profile).operation,
            profile=settings.profile.name,
            sources=[item.mark if isinstance(item, Frame) else stored_path(item) for item in self.items],
            rejections=absolute_path(rejections) if rejections else REJECTIONS,
            keywords=dict(self.keywords),
            started_at=format_time(now),
            audiencekit=__version__,
            keep_spool=self.options.keep_spool,
            seal_rejections=self.options.seal_rejections,
            only_rejected=self.options.only_rejected,
            address=settings.address,
            salt=secrets.token_hex(_SALT_BYTES),
        )


def settings_of(facts: RunFacts, settings: Settings) -> Settings:
    """Return `settings`, with the service and the account of the run's beginning."""
    return replace(settings, profile=find_profile(facts.profile), account_id=facts.account_id)


# --- The time of a run: the clock of its waits, and the moments in its journal, which other processes read ---


@dataclass(frozen=True, slots=True)
class RunClock:
    """The clock of waits, and the clock of departures, which outlives a process. By default those of this machine."""

    clock: Clock = field(default_factory=SystemClock)
    moment: Callable[[], Moment] = this_moment

    def now(self) -> datetime:
        """The time by the clock of waits."""
        return datetime.fromtimestamp(self.clock.now(), UTC)

    def retry_policy(self, settings: Settings) -> RetryPolicy:
        """A policy that waits by this clock, as long as `settings` allow."""
        return RetryPolicy.seeded(self.clock, longest_wait_seconds=settings.longest_wait_seconds)


# --- One run, as it was begun or opened again: its id, directory, journal, keys and sources ---


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One execution of a plan. It is in its journal before anything is read, and holds the lock of its target.

    `items` are its sources. `earlier` and `plan` are the content of the journal when the run was resumed: sums, and the
    plan if there was one; `earlier_paces` are those of the earlier parts, from its report. `settings` are those of this
    process, with the account and the profile of the run's beginning. `note` is a line for people on other effects of
    its start, empty without any. `events` are written where the settings say, and `audit` into the audit log; it is
    None for a run that has ended.
    """

    facts: RunFacts
    store: RunStore
    directory: Path
    journal: JournalFile
    key: SubKey = field(repr=False)
    spool_key: SubKey = field(repr=False)
    settings: Settings = field(repr=False)
    items: tuple[Item, ...] = ()
    earlier: Sums = field(default_factory=Sums)
    plan: PlanFacts | None = None
    earlier_paces: tuple[dict[str, Any], ...] = ()
    note: str = ""
    events: RunEvents = field(default_factory=RunEvents, repr=False)
    audit: RunAudit | None = field(default=None, repr=False)

    def is_as_asked(
        self,
        paths: tuple[FilePath, ...],
        target: Target,
        keywords: Keywords,
        settings: Settings,
        only_rejected: str | None = None,
    ) -> bool:
        """Whether it was begun with these arguments, for this account. The content of the source is not compared."""
        return (
            self.facts.sources == [stored_path(path) for path in paths]
            and self.facts.target == target
            and self.facts.keywords == keywords
            and self.facts.only_rejected == only_rejected
            and (self.facts.account_id, self.facts.profile) == (settings.account_id, settings.profile.name)
            and self.facts.address == settings.address
        )

    @property
    def started_at(self) -> datetime:
        """When it was begun, in whole seconds."""
        return parse_time(self.facts.started_at, "the start of the run")

    @property
    def rejections(self) -> Path:
        """The file of rejections: in the present directory of the run, unless another file was named."""
        return self.directory / self.facts.rejections

    @property
    def sealing(self) -> Sealing | None:
        """The sealing of its rejected rows, if one was asked for, until its plan is in the journal."""
        if self.facts.seal_rejections is None or self.plan is not None:
            return None
        prove = None if self.facts.repeat_command or self.facts.only_rejected else RowProofs(self.key).of
        recipient = recipient_of(self.facts.seal_rejections, self.settings)
        return Sealing(self.store.state_dir, self.facts.run_id, recipient, prove)

    @property
    def keywords(self) -> Keywords:
        """The keywords of `upload`, as `read_keywords` takes them."""
        return cast("Keywords", self.facts.keywords)
