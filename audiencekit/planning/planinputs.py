"""What a plan is made from besides its source: the terms that decide it, and the means that it is made with."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Self

from audiencekit.machine.keptspool import KeptSpool
from audiencekit.planning.options import Options
from audiencekit.planning.reading import OnRecords
from audiencekit.preparation.chunks import RecordChunk
from audiencekit.preparation.times import PlanTimes, parse_time, pin_list_times, pin_times
from audiencekit.profile import Profile
from audiencekit.reporting.progress import NoProgress, Progress
from audiencekit.selection.suppression import KeyMemory
from audiencekit.sources.files import FilePath
from audiencekit.target import TargetKind

_SILENT: Final = NoProgress()


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What decides a plan: the same terms and the same rows make the same requests. Make it with `pinned`.

    `now` is when the run began, `target` what the plan is for. Nobody whose key one of `memories` holds is put into an
    audience.
    """

    options: Options
    profile: Profile
    now: datetime
    times: PlanTimes
    target: TargetKind
    memories: tuple[KeyMemory, ...]

    @classmethod
    def pinned(
        cls,
        options: Options,
        profile: Profile,
        *,
        now: datetime,
        target: TargetKind = TargetKind.AUDIENCE,
        memories: tuple[KeyMemory, ...] = (),
    ) -> Self:
        """Terms with all times written out. Raises UsageError for times that cannot be."""
        times = _pin(options, now, target)
        return cls(options=options, profile=profile, now=now, times=times, target=target, memories=memories)


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """What a plan is made with. What it opens is closed with `stack`; records lie in `spool_dir`, sealed.

    `rejections` is where these are written. `on_records` is called with the records of every batch, in the order of
    the source, and with who of them refuses; `on_suppressed` with those of suppression sources. `keep`, an empty spool,
    is to hold all that `plan_kept` needs of the source.
    """

    stack: ExitStack
    progress: Progress = _SILENT
    spool_dir: Path = field(default_factory=lambda: Path(tempfile.gettempdir()))
    rejections: FilePath | None = None
    on_records: OnRecords | None = None
    on_suppressed: Callable[[RecordChunk], None] = lambda chunk: None
    keep: KeptSpool | None = None


def _pin(options: Options, now: datetime, target: TargetKind) -> PlanTimes:
    plan_time = parse_time(options.plan_time, "--plan-time") if options.plan_time else now.astimezone(UTC)
    wishes = {"expires_at": options.expires_at, "effective_at": options.effective_at}
    if target.is_audience:
        return pin_times(plan_time, ttl_days=options.ttl_days, **wishes)
    return pin_list_times(plan_time, now, ttl_days=options.ttl_days, **wishes)
