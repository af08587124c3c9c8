"""The keywords of a run that are not about its source: their types and defaults, and the value that they become."""

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
        return cls(settings=settings or load_settings(), progress=progress_or_default(progress), **own)

    @classmethod
    def split(cls, given: UploadKeywords | SyncRunKeywords | SyncPlanKeywords) -> tuple[Self, Keywords]:
        """The options of the run among all that was `given`, and the keywords about its source."""
        own = {name: value for name, value in given.items() if name in RUN_DEFAULTS}
        about_source = {name: value for name, value in given.items() if name not in RUN_DEFAULTS}
        return cls.of(**cast("RunKeywords", own)), cast("Keywords", about_source)
