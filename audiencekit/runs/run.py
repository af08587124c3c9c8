"""The arguments of a run, and what its journal keeps of them."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Self, TypedDict, Unpack, cast

from audiencekit import __version__
from audiencekit.delivery.rate_limiter import RateLimiter
from audiencekit.delivery.retry import Clock, RetryPolicy, SystemClock
from audiencekit.destinations.target import Target
from audiencekit.machine.keys import SubKey
from audiencekit.planning.options import Keywords, SyncKeywords, read_keywords
from audiencekit.preparation.plantimes import format_time, parse_time
from audiencekit.profile import find_profile
from audiencekit.reporting.progress import Progress, heard_by
from audiencekit.runs.journal.facts import Moment, PlanFacts, RunFacts, Sums, this_moment
from audiencekit.runs.journal.file import JournalFile
from audiencekit.runs.store import RunStore
from audiencekit.settings import Settings, load_settings
from audiencekit.sources.files import AnySource, FilePath, Item, absolute_path, items_of, stored_path
from audiencekit.sources.frames.frames import Frame

REJECTIONS: Final = "rejections.csv"
_SALT_BYTES: Final = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class RunArguments:
    """The arguments of a run. Without `operation` it has that of its keywords.

    A `source` is None for a run that reads none. Rejections are listed in the directory of the run unless
    `options.rejections` names a file.
    """

    source: AnySource | None
    target: Target
    keywords: Keywords
    options: RunOptions
    operation: str | None = None

    @property
    def items(self) -> tuple[Item, ...]:
        """The sources, files by their absolute paths."""
        given = () if self.source is None else items_of(self.source)
        return tuple(item if isinstance(item, Frame) else absolute_path(item) for item in given)

    def facts(self, run_id: str, now: datetime) -> RunFacts:
        """The facts of the run `run_id` that begins `now`, with a new salt."""
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
            address=settings.address,
            salt=secrets.token_hex(_SALT_BYTES),
        )


def settings_of(facts: RunFacts, settings: Settings) -> Settings:
    """`settings`, with the service and the account that the run was begun with."""
    return replace(settings, profile=find_profile(facts.profile), account_id=facts.account_id)


@dataclass(frozen=True, slots=True)
class RunClock:
    """The clock of waits, and the one of departures, which outlives a process. By default those of this machine."""

    clock: Clock = field(default_factory=SystemClock)
    moment: Callable[[], Moment] = this_moment

    def now(self) -> datetime:
        """The time by the clock of waits."""
        return datetime.fromtimestamp(self.clock.now(), UTC)

    def retry_policy(self) -> RetryPolicy:
        """A policy that waits by this clock."""
        return RetryPolicy.seeded(self.clock)


class PlanKeywords(TypedDict, total=False):
    """How a plan is made, which is sent or not."""

    settings: Settings | None
    rejections: FilePath | None
    progress: Progress | None


class SendKeywords(PlanKeywords, total=False):
    """How a run is made."""

    limiter: RateLimiter | None


class RunKeywords(SendKeywords, total=False):
    """How a run is made that its caller may name, and whose records may be kept."""

    run_id: str | None
    keep_spool: bool


class SyncPlanKeywords(PlanKeywords, SyncKeywords, total=False):
    """How the plan of a sync is made, and of what."""


class SyncRunKeywords(SendKeywords, SyncKeywords, total=False):
    """How a sync is made, and of what."""


class UploadKeywords(RunKeywords, Keywords, total=False):
    """How an upload is made, and of what."""


RUN_DEFAULTS: Final[Mapping[str, object]] = MappingProxyType(
    {"settings": None, "rejections": None, "progress": None, "limiter": None, "run_id": None, "keep_spool": False}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """The checked form of RunKeywords: with the settings of the environment and a listener where none were given."""

    settings: Settings
    progress: Progress
    rejections: FilePath | None = None
    limiter: RateLimiter | None = None
    run_id: str | None = None
    keep_spool: bool = False

    @classmethod
    def of(cls, **given: Unpack[RunKeywords]) -> Self:
        """The options that are `given`, with those of the class and of the environment for the others."""
        settings, progress = given.pop("settings", None), given.pop("progress", None)
        own: dict[str, Any] = {**given}
        return cls(settings=settings or load_settings(), progress=heard_by(progress), **own)

    @classmethod
    def split(cls, given: UploadKeywords | SyncRunKeywords | SyncPlanKeywords) -> tuple[Self, Keywords]:
        """The options of the run among all that was `given`, and the keywords about its source."""
        own = {name: value for name, value in given.items() if name in RUN_DEFAULTS}
        about_source = {name: value for name, value in given.items() if name not in RUN_DEFAULTS}
        return cls.of(**cast("RunKeywords", own)), cast("Keywords", about_source)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One execution of a plan. It is in its journal before anything is read, and holds the lock of its target.

    `items` are its sources. `earlier` and `plan` are what the journal said when the run was resumed: sums, and the plan
    if there was one; `earlier_paces` are those of the parts before, as its report kept them. `settings` are those of
    this process, with the account and the profile that the run was begun with. `note` is a line for people on what its
    start did, empty when that is nothing.
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

    def is_as_asked(self, paths: tuple[FilePath, ...], target: Target, keywords: Keywords, settings: Settings) -> bool:
        """Whether it was begun with these arguments, for this account there. What the source holds is not looked at."""
        return (
            self.facts.sources == [stored_path(path) for path in paths]
            and self.facts.target == target
            and self.facts.keywords == keywords
            and (self.facts.account_id, self.facts.profile) == (settings.account_id, settings.profile.name)
            and self.facts.address == settings.address
        )

    @property
    def started_at(self) -> datetime:
        """When it was begun, in whole seconds."""
        return parse_time(self.facts.started_at, "the start of the run")

    @property
    def rejections(self) -> Path:
        """Where they are listed: in the directory of the run, wherever that is now, unless another file was named."""
        return self.directory / self.facts.rejections

    @property
    def keywords(self) -> Keywords:
        """The keywords of `upload`, as `read_keywords` takes them."""
        return cast("Keywords", self.facts.keywords)
