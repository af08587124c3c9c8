"""The keywords of a run that are not about its source: their types and defaults, and their checked form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Self, TypedDict, Unpack, cast

from audiencekit.delivery.rate_limiter import RateLimiter
from audiencekit.planning.options import Keywords, SyncKeywords
from audiencekit.reporting.progress import Progress, progress_or_default
from audiencekit.settings import Settings, load_settings
from audiencekit.sources.files import FilePath


class PlanKeywords(TypedDict, total=False):
    """Keywords of a plan, whether it is sent or not."""

    settings: Settings | None
    rejections: FilePath | None
    progress: Progress | None


class SendKeywords(PlanKeywords, total=False):
    """Keywords of a run."""

    limiter: RateLimiter | None


class RunKeywords(SendKeywords, total=False):
    """Keywords of a run with an id of the caller, of a kept spool, of sealed rejections, and of repaired rows."""

    run_id: str | None
    keep_spool: bool
    seal_rejections: str | None
    only_rejected: str | None


class SyncPlanKeywords(PlanKeywords, SyncKeywords, total=False):
    """Keywords of the plan of a sync, with those of its source."""


class SyncRunKeywords(SendKeywords, SyncKeywords, total=False):
    """Keywords of a sync, with those of its source, and of sealed rejections."""

    seal_rejections: str | None


class UploadKeywords(RunKeywords, Keywords, total=False):
    """Keywords of an upload, with those of its source."""


RUN_DEFAULTS: Final[Mapping[str, object]] = MappingProxyType(
    {
        "settings": None,
        "rejections": None,
        "progress": None,
        "limiter": None,
        "run_id": None,
        "keep_spool": False,
        "seal_rejections": None,
        "only_rejected": None,
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """The checked RunKeywords, with the settings of the environment and a progress where none were given."""

    settings: Settings
    progress: Progress
    rejections: FilePath | None = None
    limiter: RateLimiter | None = None
    run_id: str | None = None
    keep_spool: bool = False
    seal_rejections: str | None = None
    only_rejected: str | None = None

    @classmethod
    def of(cls, **given: Unpack[RunKeywords]) -> Self:
        """Return the `given` options, with defaults from the class and the environment."""
        settings, progress = given.pop("settings", None), given.pop("progress", None)
        own: dict[str, Any] = {**given}
        return cls(settings=settings or load_settings(), progress=progress_or_default(progress), **own)

    @classmethod
    def split(cls, given: UploadKeywords | SyncRunKeywords | SyncPlanKeywords) -> tuple[Self, Keywords]:
        """Return the options of the run among all that was `given`, and the keywords about its source."""
        own = {name: value for name, value in given.items() if name in RUN_DEFAULTS}
        about_source = {name: value for name, value in given.items() if name not in RUN_DEFAULTS}
        return cls.of(**cast("RunKeywords", own)), cast("Keywords", about_source)
