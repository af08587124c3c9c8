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
from audiencekit.runs.runkeywords import RunOptions
from audiencekit.settings import Settings
from audiencekit.sources.files import AnySource, Item, absolute_path, items_of, stored_path
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
