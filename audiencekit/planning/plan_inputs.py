"""The inputs of a plan besides its source: the terms that decide it, and the resources for making it."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from audiencekit.destinations.ads import AUDIENCE
from audiencekit.destinations.destination import Destination, RequestForm
from audiencekit.planning.options import Options, SourceKeywords, read_keywords
from audiencekit.planning.reading import OnRecords
from audiencekit.profile import Profile
from audiencekit.records.chunks import RecordChunk
from audiencekit.records.plan_times import PlanTimes, pin_plan_time
from audiencekit.reporting.progress import NoProgress, Progress, ReadingProgress
from audiencekit.reporting.sealed_rejections import Sealing
from audiencekit.selection.erased_people import memories_of
from audiencekit.selection.key_sets import KeyMemory
from audiencekit.selection.row_tags import RejectedListener
from audiencekit.settings import Settings
from audiencekit.sources.files import FilePath
from audiencekit.sources.source import Source
from audiencekit.state.spool import KeptSpool

if TYPE_CHECKING:
    from audiencekit.snapshots.store import SnapshotStore


_SILENT: Final = NoProgress()


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanTerms:
    """The terms of a plan: the same terms and the same rows give the same requests. Make them with `pinned`.

    `now` is when the run began. Records with a key in one of `memories` are kept out of an audience. Deletes by a value
    that many of the `members` share are refused; None where the members are not known.
    """

    options: Options
    profile: Profile
    now: datetime
    times: PlanTimes
    destination: Destination
    memories: tuple[KeyMemory, ...]
    members: SnapshotStore | None = None

    @classmethod
    def pinned(
        cls,
        options: Options,
        profile: Profile,
        *,
        now: datetime,
        destination: Destination = AUDIENCE,
        memories: tuple[KeyMemory, ...] = (),
    ) -> Self:
        """Return terms with all times fixed. Raises UsageError for invalid times."""
        plan_time = pin_plan_time(options.plan_time, now)
        times = destination.pin(plan_time, now, options)
        memories = memories if destination.suppresses else ()
        return cls(options=options, profile=profile, now=now, times=times, destination=destination, memories=memories)

    @classmethod
    def of(
        cls, keywords: SourceKeywords, settings: Settings, *, now: datetime, destination: Destination = AUDIENCE
    ) -> Self:
        """Return the terms of `keywords` and settings. Raises as `read_keywords`, `memories_of` and `pinned`."""
        options = read_keywords(keywords, settings.profile, few_people=settings.few_people)
        memories = memories_of(settings)
        return cls.pinned(options, settings.profile, now=now, destination=destination, memories=memories)

    @property
    def form(self) -> RequestForm:
        """The form of the requests."""
        return self.destination.form(self.times, self.profile, self.options)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanResources:
    """The resources for making a plan. `stack` closes the files that it opens; records are in `spool_dir`, sealed.

    Rejections are written to `rejections`, their rows are sealed by `sealing`, and `rejected` is told of them.
    `on_records` is called with the records of every batch, in the order of the source, and with the places of those
    without consent; `on_suppressed` with the records of suppression sources.
    `kept_spool`, an empty spool, is filled with all that `plan_kept` needs of the source. Without `keeps_records` the
    plan is only looked at: its records are not stored, nor their hashes where the plan can be made without them.
    """

    stack: ExitStack
    progress: Progress = _SILENT
    spool_dir: Path = field(default_factory=lambda: Path(tempfile.gettempdir()))
    rejections: FilePath | None = None
    sealing: Sealing | None = None
    rejected: RejectedListener | None = None
    on_records: OnRecords | None = None
    on_suppressed: Callable[[RecordChunk], None] = lambda chunk: None
    kept_spool: KeptSpool | None = None
    keeps_records: bool = True

    def reading(self, source: Source) -> ReadingProgress:
        """Return the progress of reading `source`, which begins now."""
        return ReadingProgress(self.progress, source)
