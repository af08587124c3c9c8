"""The arguments of a run, and what its journal keeps of them."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from audiencekit import __version__
from audiencekit.destinations.target import Target
from audiencekit.planning.options import Keywords, read_keywords
from audiencekit.preparation.plantimes import format_time
from audiencekit.profile import find_profile
from audiencekit.runs.journal.facts import RunFacts
from audiencekit.settings import Settings
from audiencekit.sources.files import AnySource, FilePath, Item, absolute_path, items_of, kept_path
from audiencekit.sources.frames.frames import Frame

REJECTIONS: Final = "rejections.csv"
_SALT_BYTES: Final = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class RunArguments:
    """The arguments of a run. Without `run_id` it gets a new one, without `operation` that of its keywords.

    A `source` is None for a run that reads none. `rejections` is the file that they are listed in; by itself one in the
    directory of the run.
    """

    source: AnySource | None
    target: Target
    keywords: Keywords
    rejections: FilePath | None = None
    run_id: str | None = None
    operation: str | None = None
    keep_spool: bool = False

    @property
    def items(self) -> tuple[Item, ...]:
        """The sources, files by their absolute paths."""
        given = () if self.source is None else items_of(self.source)
        return tuple(item if isinstance(item, Frame) else absolute_path(item) for item in given)

    def facts(self, run_id: str, now: datetime, settings: Settings) -> RunFacts:
        """The facts of the run `run_id` that begins `now`, with a new salt."""
        return RunFacts(
            run_id=run_id,
            account_id=settings.require_account(),
            target=self.target,
            operation=self.operation or read_keywords(self.keywords, settings.profile).operation,
            profile=settings.profile.name,
            sources=[item.mark if isinstance(item, Frame) else kept_path(item) for item in self.items],
            rejections=absolute_path(self.rejections) if self.rejections else REJECTIONS,
            keywords=dict(self.keywords),
            started_at=format_time(now),
            audiencekit=__version__,
            keep_spool=self.keep_spool,
            salt=secrets.token_hex(_SALT_BYTES),
        )


def settings_of(facts: RunFacts, settings: Settings) -> Settings:
    """`settings`, with the service and the account that the run was begun with."""
    return replace(settings, profile=find_profile(facts.profile), account_id=facts.account_id)
